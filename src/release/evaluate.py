"""How good a model is on held-out samples, through PyTorch or through llama.cpp: the same samples, the same
environment, the same figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec
from gguf import GGUFReader
from msgspec import Struct

from ..agents.trajectory import Job
from ..config.sections import RolloutLimits
from ..core.check import Check, check
from ..core.errors import BadInput
from ..core.files import read_json, sha256_file
from ..core.model_files import model_sha256
from ..core.types import Episode
from ..eval.compare import DIGITS
from ..eval.metrics import Figure
from ..rollout.scheduler import generate
from ..runtime.device import get_device, get_dtype, prepare_device
from .gguf_check import renderer_for
from .gguf_export import load_merged, load_tokenizer, model_folder
from .gguf_tokenizer import read_tokenizer
from .llamacpp import LOG, opened, require_gguf
from .play import play

Backend = Literal["pytorch", "llamacpp"]
HEADLINE = ("success", "need_ask_success", "overclar_rate", "ask_precision", "ask_recall", "avg_turns")
_REMEDY = (
    "the file does not do what the model does: see its report FILE.gguf.json, and export it again",
    "该文件的表现与原模型不符：请查看 FILE.gguf.json，并重新导出",
)


@dataclass(frozen=True)
class Setting:
    """How the samples are played."""

    limits: RolloutLimits
    greedy: bool
    seed: int


class Evaluated(Struct, frozen=True):
    """What `reports/eval_<backend>.json` holds."""

    backend: Backend
    model: str
    model_sha256: str
    shadow_set: str
    shadow_sha256: str
    samples: int
    setting: dict[str, Any]
    figures: dict[str, Figure]


def play_pytorch(folder: Path, jobs: Sequence[Job], setting: Setting, progress: Callable[[int], None]) -> list[Episode]:
    import torch

    device = get_device()
    prepare_device(device)
    policy = load_merged(folder, None).to(device, get_dtype(device))
    done = 0

    def more(now: int) -> None:
        nonlocal done
        progress(now - done)
        done = now

    made = generate(
        policy,
        renderer_for(load_tokenizer(folder)),
        jobs,
        setting.limits,
        device=device,
        generator=torch.Generator(device).manual_seed(setting.seed),
        greedy=setting.greedy,
        progress=more,
    )
    return [one.episode for one in made]


def play_llamacpp(
    path: Path, jobs: Sequence[Job], setting: Setting, progress: Callable[[int], None], log: Path = LOG
) -> list[Episode]:
    """The tokenizer comes out of the file too: nothing else of the model is needed."""
    require_gguf(path)
    try:
        reader = GGUFReader(path)
    except (ValueError, IndexError, UnicodeDecodeError) as error:
        raise BadInput(f"is damaged ({error})", where=str(path), remedy="export the model again") from error
    renderer = renderer_for(read_tokenizer(reader))
    with opened(path, setting.limits.max_tokens, log) as llama:
        return play(llama, renderer, jobs, setting.limits, greedy=setting.greedy, progress=progress)


def sha256_of(model: Path, backend: Backend) -> str:
    return sha256_file(model) if backend == "llamacpp" else model_sha256(model_folder(model))


def read_evaluated(path: Path, shadow_sha256: str, samples: int, setting: Setting) -> Evaluated:
    """An earlier evaluation that one with this setting can be compared with.

    What is sampled differs by chance on both sides, so an interval of one side alone would tell nothing: both must take
    the likeliest token throughout.
    """
    if not setting.greedy:
        raise BadInput(
            "both sides sample, and what is sampled differs by chance",
            where="--compare",
            remedy="run both with --greedy",
        )
    remedy = "name a report that askgate eval has written"
    try:
        found = msgspec.convert(read_json(path, remedy), Evaluated)
    except msgspec.ValidationError as error:
        raise BadInput(f"is no such report ({error})", where=str(path), remedy=remedy) from None
    if (found.shadow_sha256, found.samples, found.setting) != (shadow_sha256, samples, facts(setting)):
        raise BadInput(
            "was not made on the same samples in the same way",
            where=str(path),
            remedy="run askgate eval with the same --config, --n and --greedy on both sides",
        )
    return found


def facts(setting: Setting) -> dict[str, Any]:
    """The entry `setting` of a report."""
    limits = {**setting.limits.facts(), "tools": list(setting.limits.tools)}
    return {"talk": limits, "greedy": setting.greedy, "seed": setting.seed}


def compared(then: Evaluated, now: Evaluated) -> list[Check]:
    """Every headline figure lies in the interval that the earlier evaluation gives it."""
    made = []
    for name in HEADLINE:
        old, new = then.figures[name], now.figures[name]
        if old.low is not None and old.high is not None:
            # The end of an interval around a share of 0 is 0 up to the last bit.
            made.append(check(f"{name}[low]", new.value, ">=", round(old.low, DIGITS), *_REMEDY))
            made.append(check(f"{name}[high]", new.value, "<=", round(old.high, DIGITS), *_REMEDY))
    return made
