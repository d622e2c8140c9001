"""Rollouts by vLLM servers: `rollout: {backend: vllm, url: [http://gpu1:8000, http://gpu2:8000]}`.

    VLLM_ALLOW_RUNTIME_LORA_UPDATING=True vllm serve MODEL --enable-lora --max-lora-rank 64 \\
        --logprobs-mode processed_logprobs --generation-config vllm

Before a rollout the adapters are saved in `rollout.adapter_dir`, which the servers can read too, in a folder named
after the hash of their weights, and every server loads them (`/v1/load_lora_adapter`). Then each dialogue sends its
tokens (`/v1/completions`) and gets tokens and log-probabilities, one turn at a time. Except with
`rollout.thoughts: drop`, nothing is tokenized twice. The dialogues of a server that stops answering go to the others;
it is tried again at the next rollout.

A reply is accepted only if it names these adapters, repeats the tokens that were sent, and has a token of the
vocabulary and a log-probability at every position. The first reply of each server is also scored by the model itself:
the run ends if the server has other weights, or log-probabilities of another temperature.
"""

from __future__ import annotations

import hashlib
import logging
import math
import os
import shutil
import tempfile
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple
from urllib.parse import urlsplit

import httpx2
import torch
from torch import nn

from ..config.train_config import RolloutLimits
from ..core.errors import BadInput
from .attention import PeftWrapper, SegmentPlan, hidden_states, unwrap

if TYPE_CHECKING:
    from .scheduler import Dialogue

_log = logging.getLogger(__name__)

TIMEOUT_S = 600.0
CONNECT_S = 10.0
MAX_GAP = 0.3
"""Mean difference of log-probabilities between server and model, in nats. Rounding to 16 bits gives about 0.01, an
unquantized base under adapters that were trained on 4 bits about 0.05."""
_HERE = ("localhost", "127.0.0.1", "::1")
_NOT_FOUND = 404


class _ServerLost(Exception):
    """A server does not answer, or answers with HTTP 5xx, 408 or 429. Its dialogues go to the others."""


class Reply(NamedTuple):
    """A reply of a server: the tokens before it, its own tokens and their log-probabilities."""

    prompt: list[int]
    tokens: list[int]
    logps: list[float]


class Server:
    """One vLLM server: its adapters, and completions of token sequences."""

    loaded: ClassVar[dict[str, str]] = {}
    """Name of the adapters that each server loaded last, by URL."""

    def __init__(self, url: str, slots: int) -> None:
        self.url = url.rstrip("/").removesuffix("/v1")
        key = os.environ.get("VLLM_API_KEY", "").strip()
        self.http = httpx2.Client(
            base_url=self.url,
            headers={"Authorization": f"Bearer {key}"} if key else {},
            timeout=httpx2.Timeout(TIMEOUT_S, connect=CONNECT_S),
            limits=httpx2.Limits(max_connections=slots),
            follow_redirects=False,
            trust_env=urlsplit(self.url).hostname not in _HERE,
        )
        self.first: Reply | None = None

    def load(self, folder: Path) -> None:
        """Loads the adapters in a folder, under the folder's name, and unloads the previous ones."""
        previous = self.loaded.get(self.url)
        answer = self._post("/v1/load_lora_adapter", {"lora_name": folder.name, "lora_path": str(folder)})
        if not answer.is_success and "already been loaded" not in answer.text:
            raise BadInput(
                f"the server does not load adapters: {answer.text[:300]}",
                where=self.url,
                remedy="start it with --enable-lora, a --max-lora-rank that is large enough and "
                f"VLLM_ALLOW_RUNTIME_LORA_UPDATING=True, where it can read {folder.parent}",
            )
        self.loaded[self.url] = folder.name
        if previous and previous != folder.name:
            self._post("/v1/unload_lora_adapter", {"lora_name": previous})

    def complete(self, body: dict[str, Any], folder: Path, vocab: int) -> Reply:
        """The reply to `body["prompt"]`."""
        body = {**body, "model": folder.name}
        answer = self._post("/v1/completions", body)
        if answer.status_code == _NOT_FOUND:  # the server was restarted, without the adapters
            self.loaded.pop(self.url, None)
            self.load(folder)
            answer = self._post("/v1/completions", body)
        if answer.status_code >= 500 or answer.status_code in (408, 429):
            raise _ServerLost(f"HTTP {answer.status_code}")
        if not answer.is_success:
            raise BadInput(
                f"the server refused: {answer.text[:300]}", where=self.url, remedy="see the log of the server"
            )
        reply = self._validated(answer, body, vocab)
        self.first = self.first or reply
        return reply

    def _validated(self, answer: httpx2.Response, body: dict[str, Any], vocab: int) -> Reply:
        try:
            content = answer.json()
            choice = content["choices"][0]
            tokens, logps = choice["token_ids"], choice["logprobs"]["token_logprobs"]
            model, prompt = content["model"], choice["prompt_token_ids"]
        except (ValueError, LookupError, TypeError):
            raise _wrong(self.url, f"a reply without token ids or log-probabilities: {answer.text[:200]}") from None
        if model != body["model"]:
            raise _wrong(self.url, f"stale weights: it answered with {model}, not with {body['model']}")
        if prompt != body["prompt"]:
            raise _wrong(self.url, f"it read {len(prompt)} other tokens than the {len(body['prompt'])} that were sent")
        if not 0 < len(tokens) <= body["max_tokens"] or len(logps) != len(tokens):
            raise _wrong(self.url, f"{len(tokens)} tokens and {len(logps)} log-probabilities")
        if not all(isinstance(token, int) and 0 <= token < vocab for token in tokens):
            raise _wrong(self.url, "tokens that the model does not have")
        if not all(isinstance(logp, float | int) and math.isfinite(logp) and logp <= 1e-3 for logp in logps):
            raise _wrong(self.url, "values that are no log-probabilities")
        return Reply(prompt, tokens, [float(logp) for logp in logps])

    def _post(self, path: str, body: dict[str, Any]) -> httpx2.Response:
        try:
            return self.http.post(path, json=body)
        except httpx2.HTTPError as error:
            raise _ServerLost(str(error) or type(error).__name__) from None


def _wrong(url: str, what: str) -> BadInput:
    return BadInput(
        what,
        where=url,
        remedy="give rollout.url a vLLM server of this base model that returns token ids (0.10.2 or newer)",
    )


def roll_out(
    model: nn.Module,
    dialogues: Sequence[Dialogue],
    limits: RolloutLimits,
    greedy: bool,
    on_end: Callable[[Dialogue], None] | None,
) -> None:
    """Runs dialogues to their ends on the servers of `limits.url`; `on_end` gets each as it ends."""
    folder = save_adapters(model, Path(limits.adapter_dir))
    slots = max(1, limits.slots // len(limits.url))
    with ExitStack() as stack:
        servers = [Server(url, slots) for url in limits.url]
        for server in servers:
            stack.callback(server.http.close)
        reached = [server for server in servers if _loads(server, folder)]
        queue = deque(dialogue for dialogue in dialogues if not dialogue.over)
        _ServerPool(reached, folder, queue, limits, greedy, on_end, unwrap(model).config.vocab_size)(slots)
        for other in folder.parent.glob("askgate-*"):
            if other != folder:  # the current adapters stay: a restarted server reads them again
                shutil.rmtree(other, ignore_errors=True)
        for server in reached:
            if server.first and not greedy:
                _require_same_weights(model, server, limits.temperature)


def save_adapters(model: nn.Module, root: Path) -> Path:
    """Saves the adapters of the model in a folder named after the hash of their weights."""
    if not isinstance(model, PeftWrapper):
        raise BadInput(
            "vLLM servers are given adapters, and this model has none",
            where="rollout.backend",
            remedy="set finetune.method: lora or qlora, or another rollout.backend",
        )
    digest = hashlib.sha256()
    for name, weight in sorted(model.named_parameters()):
        if weight.requires_grad:
            digest.update(name.encode() + weight.detach().float().cpu().numpy().tobytes())
    folder = root.resolve() / f"askgate-{digest.hexdigest()[:32]}"
    if not folder.exists():
        root.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=root, prefix=".saving-") as temporary:
            adapted: Any = model
            # Complete before it gets its final name, in a folder that a server of another user can read.
            complete = Path(temporary) / folder.name
            adapted.save_pretrained(complete, save_embedding_layers=False)
            try:
                complete.rename(folder)
            except OSError:
                if not folder.exists():  # else another process was faster
                    raise
    return folder


def _loads(server: Server, folder: Path) -> bool:
    """Loads the adapters into a server, unless it has them. False if it does not answer."""
    if server.loaded.get(server.url) == folder.name:
        return True
    try:
        server.load(folder)
    except _ServerLost as reason:
        _log.warning("%s does not answer (%s): the other servers take its dialogues", server.url, reason)
        return False
    return True


@dataclass
class _ServerPool:
    """A queue of dialogues, and threads that run them, `slots` for each server."""

    servers: Sequence[Server]
    folder: Path
    queue: deque[Dialogue]
    limits: RolloutLimits
    greedy: bool
    on_end: Callable[[Dialogue], None] | None
    vocab: int
    lost: dict[str, str] = field(default_factory=dict)
    """Servers that stopped answering, with the reason."""
    lock: Lock = field(default_factory=Lock)

    def __call__(self, slots: int) -> None:
        # Repeated if a server was lost after the threads of the others had ended.
        while self.queue and (left := [server for server in self.servers if server.url not in self.lost]):
            with ThreadPoolExecutor(slots * len(left)) as threads:
                started = [threads.submit(self._work, server) for _ in range(slots) for server in left]
            for one in started:
                one.result()
        if self.queue:
            reasons = "; ".join(f"{url}: {reason}" for url, reason in self.lost.items())
            raise BadInput(
                f"no vLLM server answers ({reasons or 'none could load the adapters'})",
                where="rollout.url",
                remedy="start one, then resume the run",
            )

    def _work(self, server: Server) -> None:
        """Runs dialogues of the queue on a server until there are none, or the server is lost."""
        while server.url not in self.lost:
            try:
                dialogue = self.queue.popleft()
            except IndexError:
                return
            try:
                while not dialogue.over:
                    self._request(server, dialogue)
            except _ServerLost as reason:
                with self.lock:
                    if server.url not in self.lost:
                        _log.warning("%s is lost (%s): the other servers take its dialogues", server.url, reason)
                    self.lost[server.url] = str(reason)
                    self.queue.appendleft(dialogue)
            except BaseException:
                self.queue.clear()  # ends the other threads too
                raise

    def _request(self, server: Server, dialogue: Dialogue) -> None:
        """Requests tokens up to the end of the thought or the turn, and adds them."""
        stops = {*dialogue.renderer.stop_ids}
        if dialogue.think and dialogue.thinking:
            stops.add(dialogue.think.close_id)
        body = {
            "prompt": dialogue.tokens,
            "max_tokens": dialogue.turn_room(),
            "temperature": 0.0 if self.greedy else self.limits.temperature,
            "top_p": 1.0,
            "top_k": 0,
            "min_p": 0.0,
            "repetition_penalty": 1.0,
            "seed": dialogue.turn_seed(),
            "stop_token_ids": sorted(stops),
            "logprobs": 1,
            "return_token_ids": True,
            "skip_special_tokens": False,
        }
        reply = server.complete(body, self.folder, self.vocab)
        for token, logp in zip(reply.tokens, reply.logps, strict=True):
            length, segments = len(dialogue.tokens), len(dialogue.segments)
            dialogue.take(token, logp)
            # After a thought that was closed, a reply of user or tool, or a new segment: the server's further tokens
            # do not continue the dialogue.
            if dialogue.over or len(dialogue.tokens) != length + 1 or len(dialogue.segments) != segments:
                break
        if dialogue.over and self.on_end is not None:
            with self.lock:
                self.on_end(dialogue)


def _require_same_weights(model: nn.Module, server: Server, temperature: float) -> None:
    """Refuses a server whose first reply has other log-probabilities than the model gives to the same tokens."""
    assert server.first is not None
    prompt, tokens, logps = server.first
    base: Any = unwrap(model)
    with torch.inference_mode():
        read_T = torch.tensor([*prompt, *tokens[:-1]], device=base.device)
        hidden_TH = hidden_states(base, read_T, SegmentPlan((len(read_T),), base.device))[len(prompt) - 1 :]
        logits_NV = base.get_output_embeddings()(hidden_TH).float() / temperature
        own_N = torch.log_softmax(logits_NV, -1).gather(-1, torch.tensor(tokens, device=base.device)[:, None])[:, 0]
    gap = float((own_N.cpu() - torch.tensor(logps)).abs().mean())
    if not gap <= MAX_GAP:
        raise BadInput(
            f"its log-probabilities differ from the model's by {gap:.2f} nats on the same tokens (at most {MAX_GAP})",
            where=server.url,
            remedy="serve the base model of this run with --logprobs-mode processed_logprobs",
        )
