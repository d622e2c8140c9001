"""A judge on this machine that speaks the OpenAI chat protocol and misbehaves on demand. Standard library only.

with JudgeServer(plan=lambda n: "500" if n % 3 == 0 else "ok") as server:
    ...  # server.url, server.counts, server.tokens_in

python tests/scoring/server.py --rps 20 --latency 0.05     prints its address; GET /log tells what it was asked
"""

from __future__ import annotations

import argparse
import asyncio
import json
import socket
import struct
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from hashlib import sha256
from types import TracebackType
from typing import Any, Literal, Self

Act = Literal[
    "ok",
    "429",
    "429_wait",
    "500",
    "503_wait",
    "401",
    "404",
    "no_credit",
    "moved",
    "reset",
    "hang",
    "slow",
    "half_json",
    "cut_off",
    "html",
    "no_choices",
    "no_content",
    "no_usage",
    "wrong_dimensions",
    "out_of_range",
    "prose",
    "raw",
    "raw_401",
    "raw_400",
    "newer_model",
]
BILLED: tuple[Act, ...] = ("ok", "slow", "no_choices", "no_content", "wrong_dimensions", "out_of_range", "prose")
"""Acts whose answer tells the client what it costs."""
SLOW_S = 0.05
START_S = 60.0
"""How long a server may take to start or stop."""
Scores = Callable[[dict[str, Any]], dict[str, Any]]


def steady_scores(body: dict[str, Any]) -> dict[str, Any]:
    """Scores that depend on the dialogue, and a little on the seed."""
    digest = sha256(body["messages"][-1]["content"].encode()).digest()
    wobble = body.get("seed", 0) % 2
    return {
        name: 2 + digest[place] % 7 + wobble
        for place, name in enumerate(("logic", "clarity", "naturalness", "educational"))
    }


def refusal_by_newer_models(body: dict[str, Any]) -> dict[str, Any] | None:
    """The error object of OpenAI's reasoning models, word for word; None if they accept the request."""
    if "max_tokens" in body:
        what = (
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        )
        return {
            "message": what,
            "type": "invalid_request_error",
            "param": "max_tokens",
            "code": "unsupported_parameter",
        }
    if body.get("temperature", 1) != 1:
        what = (
            f"Unsupported value: 'temperature' does not support {body['temperature']} with this model."
            " Only the default (1) value is supported."
        )
        return {"message": what, "type": "invalid_request_error", "param": "temperature", "code": "unsupported_value"}
    return None


class JudgeServer:
    """A judge server in its own thread. `plan(n)` decides how request n (from 0) is treated."""

    def __init__(
        self,
        plan: Callable[[int], Act] = lambda n: "ok",
        *,
        latency_s: float = 0.0,
        rps: int | None = None,
        wait: str = "1",
        scores: Scores = steady_scores,
        port: int = 0,
    ) -> None:
        self.plan, self.latency_s, self.rps, self.wait, self.scores = plan, latency_s, rps, wait, scores
        self.counts: Counter[str] = Counter()
        self.tokens_in = self.tokens_out = 0
        self.log: list[tuple[float, bool]] = []
        """When each request came, and whether the rate limit let it through."""
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: set[str] = set()
        self.keep_bodies = True
        self.raw = b""
        """What the acts `raw`, `raw_401` and `raw_400` answer with."""
        self._window: deque[float] = deque()
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._failure: OSError | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.port = port

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def asked(self) -> int:
        return sum(self.counts.values())

    def __enter__(self) -> Self:
        self._thread.start()
        if not self._ready.wait(START_S):
            raise TimeoutError(f"the judge server did not start on port {self.port}")
        if self._failure is not None:
            raise self._failure
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(START_S)
        if self._thread.is_alive():
            raise TimeoutError("the judge server did not stop")

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._serve())
        except OSError as error:  # the port is taken
            self._failure = error
            self._ready.set()
        self._loop.close()

    async def _serve(self) -> None:
        self._stop = asyncio.Event()
        server = await asyncio.start_server(self._connection, "127.0.0.1", self.port, limit=2**20)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._request(reader, writer):
                pass
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _request(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Handles one request. Returns whether the connection stays open."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        if head[0].startswith("GET"):
            return await self._send(writer, 200, json.dumps(self.log).encode())
        asked = json.loads(body)
        if self.keep_bodies:
            self.bodies.append(asked)
            self.headers.append(headers)
            self.paths.add(head[0].split()[1])
        allowed = self._allowed()
        self.log.append((time.monotonic(), allowed))
        act = self.plan(self.asked) if allowed else "429"
        self.counts[act] += 1
        number = self.asked
        if allowed:
            await asyncio.sleep(self.latency_s)
        return await self._act(act, number, asked, headers, writer)

    def _allowed(self) -> bool:
        """Whether the request is within `rps` requests in any second."""
        if self.rps is None:
            return True
        now = time.monotonic()
        while self._window and self._window[0] <= now - 1:
            self._window.popleft()
        if len(self._window) >= self.rps:
            return False
        self._window.append(now)
        return True

    async def _act(
        self, act: Act, number: int, asked: dict[str, Any], headers: dict[str, str], writer: asyncio.StreamWriter
    ) -> bool:
        match act:
            case "429":
                return await self._error(writer, 429, "slow down")
            case "429_wait":
                return await self._error(writer, 429, "slow down", {"Retry-After": self.wait})
            case "503_wait":
                return await self._error(writer, 503, "come back later", {"Retry-After": self.wait})
            case "500":
                return await self._error(writer, 500, "oops")
            case "401":
                return await self._error(writer, 401, f"incorrect key: {headers.get('authorization', '')}")
            case "404":
                return await self._error(writer, 404, f"no model {asked['model']}")
            case "no_credit":
                return await self._error(writer, 429, "insufficient_quota")
            case "moved":
                return await self._send(writer, 307, b"", {"Location": "http://127.0.0.1:9/v1/chat/completions"})
            case "reset":
                raw = writer.get_extra_info("socket")
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                writer.transport.abort()
                return False
            case "hang":
                await asyncio.sleep(3600)
                return False
            case "html":
                page = b"<!DOCTYPE html><html><body><h1>502 Bad Gateway</h1></body></html>"
                return await self._send(writer, 200, page, kind="text/html")
            case "raw":
                return await self._send(writer, 200, self.raw)
            case "raw_401":
                return await self._send(writer, 401, self.raw)
            case "raw_400":
                return await self._send(writer, 400, self.raw)
            case "newer_model":
                if error := refusal_by_newer_models(asked):
                    return await self._send(writer, 400, json.dumps({"error": error}).encode())
                act = "ok"
            case "slow":
                await asyncio.sleep(SLOW_S)
        answer = self._answer(act, number, asked)
        if act == "cut_off":
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n" + answer)
            await writer.drain()
            return False
        if act == "half_json":
            return await self._send(writer, 200, answer[: len(answer) // 2])
        return await self._send(writer, 200, answer, {"x-request-id": f"req-{number}"})

    def _answer(self, act: Act, number: int, asked: dict[str, Any]) -> bytes:
        scores = self.scores(asked)
        if act == "wrong_dimensions":
            scores["beauty"] = scores.pop("logic")
        if act == "out_of_range":
            scores["logic"] = 11
        content = "I would say seven out of ten." if act == "prose" else json.dumps(scores)
        usage = {"prompt_tokens": len(json.dumps(asked["messages"])) // 4, "completion_tokens": len(content) // 4}
        if act in BILLED:
            self.tokens_in += usage["prompt_tokens"]
            self.tokens_out += usage["completion_tokens"]
        choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
        if act == "no_content":
            choice["message"] = {"role": "assistant", "content": None}
        answer: dict[str, Any] = {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": asked["model"],
            "choices": [] if act == "no_choices" else [choice],
            "usage": usage,
        }
        if act == "no_usage":
            del answer["usage"]
        return json.dumps(answer).encode()

    async def _error(
        self, writer: asyncio.StreamWriter, status: int, message: str, more: dict[str, str] | None = None
    ) -> bool:
        return await self._send(writer, status, json.dumps({"error": {"message": message}}).encode(), more)

    async def _send(
        self,
        writer: asyncio.StreamWriter,
        status: int,
        body: bytes,
        more: dict[str, str] | None = None,
        kind: str = "application/json",
    ) -> bool:
        headers = {"Content-Type": kind, "Content-Length": str(len(body)), **(more or {})}
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        writer.write(f"HTTP/1.1 {status} X\r\n{head}\r\n".encode() + body)
        await writer.drain()
        return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rps", type=int)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds")
    wanted = parser.parse_args()
    server = JudgeServer(rps=wanted.rps, latency_s=wanted.latency)
    server.keep_bodies = False
    with server:
        print(server.url, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
