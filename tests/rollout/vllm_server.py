"""A loopback server that speaks the part of vLLM's HTTP protocol that rollouts use, over a small real model.

Paths, fields, status codes and messages are those of vLLM's `entrypoints/serve/lora` and `entrypoints/openai`. `faults`
makes it misbehave.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread
from typing import Any

import torch
from peft import PeftModel
from torch import nn


class VllmServer:
    """Serves copies of a base model with the adapters that it was told to load."""

    def __init__(self, base: nn.Module) -> None:
        self.base = base
        self.adapters: dict[str, Any] = {}
        self.unloaded: list[str] = []
        self.bodies: list[dict[str, Any]] = []
        self.faults: set[str] = set()
        self.dies_after: int | None = None
        """Number of completions after which the server drops all connections."""
        self.lock = Lock()
        self.url = ""

    def load(self, body: dict[str, Any]) -> tuple[int, Any]:
        name = body["lora_name"]
        if "no adapters" in self.faults:  # started without --enable-lora
            return 404, {"detail": "Not Found"}
        if name in self.adapters:
            message = f"The lora adapter '{name}' has already been loaded."
            return 400, {"error": {"message": message, "type": "InvalidUserInput", "code": 400}}
        if not (Path(body["lora_path"]) / "adapter_config.json").exists():
            return 404, {"error": {"message": f"No adapter found for {body['lora_path']}", "code": 404}}
        self.adapters[name] = PeftModel.from_pretrained(self.copy_of_base(), body["lora_path"]).eval()
        return 200, f"Success: LoRA adapter '{name}' added successfully."

    def copy_of_base(self) -> Any:
        copy = type(self.base)(self.base.config)
        copy.load_state_dict(self.base.state_dict())
        copy.set_attn_implementation("eager")
        return copy

    def unload(self, body: dict[str, Any]) -> tuple[int, Any]:
        self.adapters.pop(body["lora_name"], None)
        self.unloaded.append(body["lora_name"])
        return 200, "Success"

    @torch.inference_mode()
    def complete(self, body: dict[str, Any]) -> tuple[int, Any]:
        self.bodies.append(body)
        if body["model"] not in self.adapters:
            message = f"The model `{body['model']}` does not exist."
            return 404, {"error": {"message": message, "type": "NotFoundError", "code": 404}}
        assert body["return_token_ids"]
        model, generator = self.adapters[body["model"]], torch.Generator().manual_seed(body["seed"])
        prompt, tokens, logps, stop = body["prompt"], [], [], None
        while len(tokens) < body["max_tokens"] and stop is None:
            logits = model(torch.tensor([[*prompt, *tokens]])).logits[0, -1].float()
            logp = torch.log_softmax(logits / (body["temperature"] or 1.0), -1)
            token = int(torch.multinomial(logp.exp(), 1, generator=generator) if body["temperature"] else logp.argmax())
            tokens.append(token)
            logps.append(float(logp[token]))
            stop = token if token in body["stop_token_ids"] else None
        choice = {
            "index": 0, "text": "", "finish_reason": "length" if stop is None else "stop", "stop_reason": stop,
            "logprobs": {"token_logprobs": logps, "tokens": [], "top_logprobs": [], "text_offset": []},
            "token_ids": tokens, "prompt_token_ids": prompt,
        }  # fmt: skip
        name = body["model"]
        if "stale" in self.faults:
            name = "askgate-of-the-step-before"
        if "reads other tokens" in self.faults:
            choice["prompt_token_ids"] = [*prompt[1:], 5]
        if "unknown tokens" in self.faults:
            choice["token_ids"] = [*tokens[:-1], 10**6]
        if "no ids" in self.faults:  # a version before `return_token_ids`
            del choice["token_ids"]
        if "fewer logprobs" in self.faults:
            choice["logprobs"]["token_logprobs"] = logps[1:]
        return 200, {"id": "cmpl-1", "object": "text_completion", "model": name, "choices": [choice], "usage": {}}


@contextmanager
def serve(base: nn.Module) -> Iterator[VllmServer]:
    server = VllmServer(base)
    paths = {
        "/v1/load_lora_adapter": server.load,
        "/v1/unload_lora_adapter": server.unload,
        "/v1/completions": server.complete,
    }

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with server.lock:
                if server.dies_after is not None and len(server.bodies) >= server.dies_after:
                    self.close_connection = True
                    return
                status, answer = paths[self.path](body)
            data = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        http.daemon_threads = True
        server.url = f"http://127.0.0.1:{http.server_address[1]}"
        thread = Thread(target=http.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            http.shutdown()
            thread.join(10)
