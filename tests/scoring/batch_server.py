"""A judge on this machine that speaks OpenAI's batch protocol and misbehaves on demand. Standard library only.

with BatchServer(fates=lambda n, custom_id: "missing" if n % 3 == 0 else "ok") as server:
    ...  # server.url, server.billed
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Literal, Self
from urllib.parse import parse_qs, urlsplit

from tests.scoring.server import Scores, steady_scores

Fate = Literal["ok", "prose", "500", "400", "expired", "missing", "twice", "no_json", "no_status"]
"""What a request of a batch becomes. `missing`: in no file; `twice`: two lines with different scores."""


class BatchServer:
    """Files and batches of one provider. A batch ends at the look after `open_looks` looks at it."""

    def __init__(
        self,
        fates: Callable[[int, str], Fate] = lambda n, custom_id: "ok",
        *,
        open_looks: int = 1,
        end: Callable[[int], str] = lambda batch: "completed",
        stranger: bool = False,
        scores: Scores = steady_scores,
    ) -> None:
        """`fates(n, custom_id)`: n counts the earlier requests with that id. `stranger`: a line nobody asked for."""
        self.fates, self.open_looks, self.end, self.stranger, self.scores = fates, open_looks, end, stranger, scores
        self.on_request: Callable[[int, str], None] = lambda number, moment: None
        """Called with the number of a request (from 1), `before` it takes effect and `after`, before its answer."""
        self.asked = 0
        self.requests: list[str] = []
        self.refuse: dict[str, tuple[int, str]] = {}
        """Status and text with which requests like `POST /batches` are refused."""
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.bodies: list[dict[str, Any]] = []
        self.created: list[dict[str, Any]] = []
        self.billed: Counter[str] = Counter()
        self.tokens_in = self.tokens_out = 0
        self._looks: Counter[str] = Counter()
        self._lock = threading.Lock()
        handler = type("Handler", (_Handler,), {"batches": self})
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._http.daemon_threads = True

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    def __enter__(self) -> Self:
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._http.shutdown()
        self._http.server_close()

    def answer(self, method: str, path: str, query: dict[str, list[str]], kind: str, body: bytes) -> tuple[int, bytes]:
        with self._lock:
            self.asked += 1
            number, name = self.asked, f"{method} {path.removeprefix('/v1')}"
            self.requests.append(name)
            self.on_request(number, "before")
            if name in self.refuse:
                status, text = self.refuse[name]
                return status, json.dumps({"error": {"message": text}}).encode()
            answer = self._answer(name, query, kind, body)
            self.on_request(number, "after")
        return 200, answer if isinstance(answer, bytes) else json.dumps(answer).encode()

    def _answer(self, name: str, query: dict[str, list[str]], kind: str, body: bytes) -> Any:
        if name == "POST /files":
            file = f"file-{len(self.files)}"
            self.files[file] = _uploaded(kind, body)
            return {"id": file, "object": "file", "purpose": "batch"}
        if name == "POST /batches":
            asked = json.loads(body)
            self.created.append(asked)
            batch = f"batch_{len(self.batches)}"
            self.batches[batch] = {"id": batch, "object": "batch", "status": "validating", **asked}
            return self.batches[batch]
        if name == "GET /batches":
            names = sorted(self.batches, reverse=True)
            after = query.get("after")
            rest = names[names.index(after[0]) + 1 :] if after else names
            page = rest[:2]  # smaller than `limit`, as a server may
            return {"object": "list", "data": [self.batches[one] for one in page], "has_more": len(rest) > len(page)}
        if name.endswith("/content"):
            return self.files[name.split("/")[2]]
        return self._look(name.removeprefix("GET /batches/"))

    def _look(self, batch: str) -> dict[str, Any]:
        found = self.batches[batch]
        self._looks[batch] += 1
        lines = [json.loads(line) for line in self.files[found["input_file_id"]].splitlines()]
        if found["status"] in ("validating", "in_progress"):
            found["request_counts"] = {"total": len(lines), "completed": 0, "failed": 0}
            found["status"] = "in_progress"
            if self._looks[batch] > self.open_looks:
                self._finish(batch, found, lines)
        return found

    def _finish(self, batch: str, found: dict[str, Any], lines: list[dict[str, Any]]) -> None:
        found["status"] = self.end(int(batch.removeprefix("batch_")))
        if found["status"] == "failed":
            found["errors"] = {"object": "list", "data": [{"code": "bad_model", "message": "no such model"}]}
            return
        out, errors = [], []
        for place, line in enumerate(lines):
            self.bodies.append(line["body"])
            fate = self.fates(self.billed[f"tried {line['custom_id']}"], line["custom_id"])
            self.billed[f"tried {line['custom_id']}"] += 1
            if fate in ("500", "400", "no_status"):
                status = None if fate == "no_status" else int(fate)
                response = {"status_code": status, "request_id": "r", "body": {"error": {"message": "no"}}}
                errors.append({"custom_id": line["custom_id"], "response": response, "error": None})
            elif fate == "expired":
                error = {"code": "batch_expired", "message": "This request could not be executed in time."}
                errors.append({"custom_id": line["custom_id"], "response": None, "error": error})
            elif fate == "no_json":
                out.append('{"custom_id": "' + line["custom_id"])
            elif fate != "missing":
                out.append(self._reply(batch, place, line, fate))
                if fate == "twice":
                    out.append(self._reply(batch, place, {**line, "body": {**line["body"], "seed": 2}}, "second"))
        found["request_counts"] |= {"completed": len(lines) - len(errors), "failed": len(errors)}
        if self.stranger:
            out.append({**out[0], "custom_id": "nobody"})
        for name, made in (("output_file_id", out), ("error_file_id", errors)):
            if made:
                found[name] = f"file-{len(self.files)}"
                texts = [one if isinstance(one, str) else json.dumps(one) for one in reversed(made)]
                self.files[found[name]] = "\n".join(texts).encode()

    def _reply(self, batch: str, place: int, line: dict[str, Any], fate: str) -> dict[str, Any]:
        asked = line["body"]
        content = "I would say seven." if fate == "prose" else json.dumps(self.scores(asked))
        usage = {"prompt_tokens": len(json.dumps(asked["messages"])) // 4, "completion_tokens": len(content) // 4}
        if fate != "second":
            self.billed[line["custom_id"]] += 1
            self.tokens_in += usage["prompt_tokens"]
            self.tokens_out += usage["completion_tokens"]
        message = {"role": "assistant", "content": content}
        body = {
            "id": f"chatcmpl-{batch}-{place}",
            "model": asked["model"],
            "choices": [{"message": message}],
            "usage": usage,
        }
        response = {"status_code": 200, "request_id": f"req-{batch}-{place}", "body": body}
        return {"id": f"batch_req_{place}", "custom_id": line["custom_id"], "response": response, "error": None}

    @property
    def paid(self) -> Counter[str]:
        """Replies by custom_id."""
        return Counter({name: count for name, count in self.billed.items() if not name.startswith("tried ")})


def _uploaded(kind: str, body: bytes) -> bytes:
    message = BytesParser(policy=HTTP).parsebytes(b"Content-Type: " + kind.encode() + b"\r\n\r\n" + body)
    parts = {part.get_param("name", header="content-disposition"): part for part in message.iter_parts()}
    assert parts["purpose"].get_payload(decode=True) == b"batch"
    return bytes(parts["file"].get_payload(decode=True))


class _Handler(BaseHTTPRequestHandler):
    batches: BatchServer
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self._handle()

    do_GET = do_POST

    def _handle(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        parts = urlsplit(self.path)
        kind = self.headers.get("content-type", "")
        status, answer = self.batches.answer(self.command, parts.path, parse_qs(parts.query), kind, body)
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def handle(self) -> None:
        with suppress(ConnectionError):  # a client that was killed
            super().handle()

    def log_message(self, *_: object) -> None:
        pass
