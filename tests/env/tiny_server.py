"""`models/tiny` behind the OpenAI chat protocol on loopback: greedy, stop tokens and stream included."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

import torch

from askgate_env.actions import parse
from src.agents.render import TagRenderer
from src.release.gguf_export import load_merged, load_tokenizer

TINY = Path(__file__).resolve().parents[2] / "models/tiny"
MAX_TOKENS = 96


class _Server(ThreadingHTTPServer):
    request_queue_size = 64


class TinyServer:
    """Answers `POST /v1/chat/completions`. The model knows the actions, so it reads no system prompt."""

    def __enter__(self) -> Self:
        self._threads = torch.get_num_threads()
        torch.set_num_threads(1)  # more would wait for each other on a busy machine, for a model of this size
        self._model: Any = load_merged(TINY, None)
        self._renderer = TagRenderer(load_tokenizer(TINY))
        self._lock = threading.Lock()
        reply = self.reply

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                text = reply([message for message in asked["messages"] if message["role"] != "system"])
                choice = {"index": 0, "finish_reason": "stop"}
                if asked.get("stream"):
                    kind = "text/event-stream"
                    said = [{**choice, "delta": {"role": "assistant", "content": text}}]
                    body = b"data: " + completion("chat.completion.chunk", said) + b"\n\ndata: [DONE]\n\n"
                else:
                    kind = "application/json"
                    said = [{**choice, "message": {"role": "assistant", "content": text}}]
                    body = completion("chat.completion", said)
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                return

        self._server = _Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=10)
        torch.set_num_threads(self._threads)

    def reply(self, messages: list[dict[str, str]]) -> str:
        """The next turn of the policy. A user message after a tool call is the tool's result."""
        ids = self._renderer.opening(messages[0]["content"])
        for said, heard in zip(messages[1::2], messages[2::2], strict=True):
            by = "user" if parse(said["content"]).kind == "ask" else "tool"
            ids += self._renderer.policy(said["content"]) + self._renderer.reply(by, heard["content"])
        with self._lock, torch.inference_mode():
            made = self._model.generate(
                torch.tensor([ids]),
                max_new_tokens=MAX_TOKENS,
                do_sample=False,
                eos_token_id=list(self._renderer.stop_ids),
                pad_token_id=self._renderer.pad_id,
            )
        return self._renderer.decode(made[0, len(ids) :].tolist())


def completion(kind: str, choices: list[dict[str, Any]]) -> bytes:
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return json.dumps(
        {"id": "tiny", "object": kind, "created": 1, "model": "tiny", "choices": choices, "usage": usage}
    ).encode()
