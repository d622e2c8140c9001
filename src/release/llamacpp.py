"""Runs a GGUF file in llama.cpp: completions, and rollouts of held-out samples.

Everything is sent as tokens, because text that is tokenized twice may come out differently. A rollout uses the same
environment, renderer and limits as training. The dialogue is kept in tokens here, so turn N+1 extends turn N and
llama.cpp reads only what is new.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx2

from askgate_env.env import Watch, unwatched
from askgate_env.types import Episode
from askgate_env.users import User, rules

from ..agents.render import Renderer
from ..agents.trajectory import Job
from ..config.train_config import RolloutLimits
from ..core.errors import BadInput
from ..core.files import explain_read_errors
from ..rollout.scheduler import Completion, Dialogue
from ..scoring.local_judge import MAGIC, ServerUse, serving

LOG = Path("logs/llamacpp_server.log")
ANSWER_S = 600.0


class LlamaCpp:
    """Client of one llama.cpp server, for one dialogue at a time.

    The server keeps the last prompt, so of a prompt that extends it, it reads only the new tokens.
    """

    def __init__(self, address: str, path: Path) -> None:
        self.path = path
        # A connection per request: the server closes idle ones while PyTorch computes.
        no_reuse = httpx2.Limits(max_keepalive_connections=0)
        self._http = httpx2.Client(
            base_url=address.removesuffix("/v1"), timeout=ANSWER_S, trust_env=False, limits=no_reuse
        )

    def close(self) -> None:
        self._http.close()

    def complete(self, tokens: Sequence[int], max_tokens: int, temperature: float | None, seed: int = 0) -> list[int]:
        """The model's continuation of the tokens, with the end token if there was one. No temperature: greedy.

        It ends after `max_tokens`, or at a token that the file or llama.cpp itself treats as an end.
        """
        sampling = {"temperature": 0.0} if temperature is None else {"temperature": temperature, "seed": seed}
        body = {"prompt": list(tokens), "n_predict": max_tokens, "samplers": ["temperature"], **sampling}
        body |= {"return_tokens": True, "cache_prompt": True}
        new_tokens: list[int] = self._ask("/completion", body)["tokens"]
        if not new_tokens:
            raise BadInput("llama.cpp returned no token", where=str(self.path), remedy="export the model again")
        return new_tokens

    def tokenize(self, text: str) -> list[int]:
        """Tokens of a text by llama.cpp, special tokens included. For comparison only."""
        body = {"content": text, "add_special": False, "parse_special": True}
        tokens: list[int] = self._ask("/tokenize", body)["tokens"]
        return tokens

    def _ask(self, path: str, body: dict[str, Any]) -> Any:
        try:
            answer = self._http.post(path, json=body)
        except httpx2.HTTPError as error:
            what = f"llama.cpp ended or does not answer ({error or type(error).__name__})"
            raise BadInput(what, where=str(self.path), remedy=f"see {LOG}; check the free memory") from error
        if not answer.is_success:
            raise BadInput(f"llama.cpp refused: {answer.text[:300]}", where=str(self.path), remedy=f"see {LOG}")
        return answer.json()


@contextmanager
def open_gguf(path: Path, context: int, log: Path = LOG) -> Iterator[LlamaCpp]:
    """Starts a server for the file with room for `context` tokens, at full precision."""
    require_gguf(path)
    use = ServerUse("llama.cpp", "evaluate with PyTorch", f"check {path} and the free memory", exact=context)
    with serving(path, log, use) as address, closing(LlamaCpp(address, path)) as client:
        yield client


def require_gguf(path: Path) -> None:
    if not path.exists():
        raise BadInput("no such file", where=str(path), remedy="make one: askgate export-gguf")
    with explain_read_errors(path), open(path, "rb") as handle:
        start = handle.read(len(MAGIC))
    if start != MAGIC:
        raise BadInput("is not a GGUF file", where=str(path), remedy="make one: askgate export-gguf")


def rollout_llamacpp(
    llama: LlamaCpp,
    renderer: Renderer,
    jobs: Sequence[Job],
    limits: RolloutLimits,
    *,
    greedy: bool,
    progress: Callable[[int], None] = lambda done: None,
    user: User = rules,
    watch: Watch = unwatched,
) -> list[Episode]:
    """One episode per job, in order.

    Dialogues run one at a time: a batch would change the last bits of the results.
    """
    episodes = []
    for place, job in enumerate(jobs):
        dialogue = Dialogue(job, None, renderer, limits, user, watch)
        _run(llama, dialogue, None if greedy else limits.temperature, f"{job.seed}:{place}")
        episodes.append(dialogue.env.episode(job.seed, job.level))
        progress(1)
    return episodes


def complete_llamacpp(
    llama: LlamaCpp, renderer: Renderer, prompt: list[int], limits: RolloutLimits, greedy: bool
) -> str:
    """One reply to a prompt, without environment."""
    completion = Completion(prompt, None, renderer, limits)
    _run(llama, completion, None if greedy else limits.temperature, "0")
    return completion.text


def _run(llama: LlamaCpp, dialogue: Dialogue, temperature: float | None, seed_text: str) -> None:
    """Runs a dialogue to its end. The seed of each turn is a checksum of `seed_text` and the number of tokens."""
    while not dialogue.over:
        length, segments = len(dialogue.tokens), len(dialogue.segments)
        seed = zlib.crc32(f"{seed_text}:{length}".encode())
        for token in llama.complete(dialogue.tokens, dialogue.turn_room(), temperature, seed):
            # Only the dialogue decides when the turn is over; llama.cpp has end tokens of its own.
            dialogue.take(token, 0.0)
            length += 1
            if dialogue.over or len(dialogue.tokens) != length or len(dialogue.segments) != segments:
                break
