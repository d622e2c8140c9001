"""A chat server on this machine that says given turns, one per request, and records what it was sent."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "secret-key-1"


class Script:
    def __init__(self, turns: Sequence[str | dict[str, str]], models: Sequence[str]) -> None:
        self.turns, self.models, self.sent = list(turns), models, list[dict[str, Any]]()
        self.url = ""


@contextmanager
def scripted(*turns: str | dict[str, str], models: Sequence[str] = ("someone",)) -> Iterator[Script]:
    """`turns`: contents, or whole messages with other fields. Without a turn left, the server refuses."""
    script = Script(turns, models)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._send(200, {"data": [{"id": name} for name in script.models]})

        def do_POST(self) -> None:
            script.sent.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            if not script.turns:
                return self._send(400, {"error": f"no turn left, {self.headers['authorization']}"})
            turn = script.turns.pop(0)
            message = {"content": turn} if isinstance(turn, str) else turn
            return self._send(200, {"choices": [{"message": {"role": "assistant", **message}}]})

        def _send(self, status: int, value: object) -> None:
            data = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        script.url = f"http://127.0.0.1:{server.server_port}/v1"
        yield script
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
