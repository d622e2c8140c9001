"""Evaluates a model on held-out samples through PyTorch or llama.cpp (`askgate eval`).

Both backends use the same samples, environment and figures, so their reports can be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec
import torch
from gguf import GGUFReader
from msgspec import Struct

from askgate_env.types import Episode

from ..agents.native import make_renderer
from ..agents.render import generation_stop_ids
from ..agents.trajectory import Job
from ..config.train_config import RolloutLimits, TrainConfig
from ..core.check import Check, check, remedies
from ..core.errors import BadInput
from ..core.files import read_json, sha256_file
from ..core.model_files import model_sha256
from ..data.pool.meta import read_meta
from ..eval.metrics import Figure, figures
from ..reward.rank_statistics import DIGITS
from ..rollout.scheduler import generate
from ..runtime.device import get_device, get_dtype, prepare_device
from ..runtime.progress import Reporter
from ..scoring.llm_user import open_user
from ..training.data import build_missing, held_out, require_data
from .gguf_export import load_merged, load_tokenizer, model_folder
from .gguf_tokenizer import read_tokenizer
from .llamacpp import LOG, open_gguf, require_gguf, rollout_llamacpp

Backend = Literal["pytorch", "llamacpp"]
Progress = Callable[[int], None]
HEADLINE = (
    "success", "need_ask_success", "overclar_rate", "question_precision", "question_recall", "question_f1",
    "ask_precision", "ask_recall", "avg_turns",
)  # fmt: skip


@dataclass(frozen=True)
class EvalSettings:
    """How the rollouts are made."""

    limits: RolloutLimits
    greedy: bool
    seed: int

    def facts(self) -> dict[str, Any]:
        """The entry `setting` of a report."""
        limits = {**self.limits.facts(), "tools": list(self.limits.tools)}
        return {"rollout": limits, "greedy": self.greedy, "seed": self.seed}


class ModelEvaluation(Struct, frozen=True):
    """Contents of `reports/eval_<backend>.json`."""

    backend: Backend
    model: str
    model_sha256: str
    shadow_set: str
    shadow_sha256: str
    samples: int
    setting: dict[str, Any]
    figures: dict[str, Figure]


def evaluate_model(
    model: Path, backend: Backend, config: TrainConfig, greedy: bool, compare: Path | None, reporter: Reporter
) -> tuple[ModelEvaluation, list[Check]]:
    """The evaluation, and checks against the report `compare` of the other backend, if given."""
    if backend == "llamacpp":
        require_gguf(model)
    else:
        model_folder(model)
    require_data(config)
    build_missing(config, reporter)
    samples, levels = held_out(config)
    limits = config.rollout_limits(read_meta(config.shadow_set).tools, config.eval.user)
    settings = EvalSettings(limits, greedy or config.eval.greedy, config.seeds[0])
    shadow = sha256_file(config.shadow_set)
    other = read_evaluation(compare, shadow, len(samples), settings) if compare else None
    jobs = [
        Job(sample, level, settings.seed, place)
        for place, (sample, level) in enumerate(zip(samples, levels, strict=True))
    ]
    with reporter.progress(f"evaluating with {backend}", len(jobs)) as progress:
        if backend == "llamacpp":
            episodes = with_llamacpp(model, jobs, settings, progress)
        else:
            episodes = with_pytorch(model_folder(model), jobs, settings, progress)
    found = ModelEvaluation(
        backend=backend,
        model=str(model),
        model_sha256=sha256_file(model) if backend == "llamacpp" else model_sha256(model_folder(model)),
        shadow_set=str(config.shadow_set),
        shadow_sha256=shadow,
        samples=len(jobs),
        setting=settings.facts(),
        figures=figures(episodes),
    )
    return found, compared(other, found) if other else []


def with_pytorch(folder: Path, jobs: Sequence[Job], settings: EvalSettings, progress: Progress) -> list[Episode]:
    device = get_device()
    prepare_device(device)
    limits = settings.limits
    policy = load_merged(folder, None).to(device, get_dtype(device))
    made = generate(
        policy,
        make_renderer(load_tokenizer(folder), generation_stop_ids(str(folder)), limits.actions, limits.tools),
        jobs,
        limits,
        device=device,
        generator=torch.Generator(device).manual_seed(settings.seed),
        greedy=settings.greedy,
        progress=progress,
        user=open_user(settings.limits.user, settings.seed),
    )
    return [one.episode for one in made]


def with_llamacpp(
    path: Path, jobs: Sequence[Job], settings: EvalSettings, progress: Progress, log: Path = LOG
) -> list[Episode]:
    """Rollouts from the GGUF file alone; its tokenizer comes from the file too."""
    try:
        reader = GGUFReader(path)
    except (ValueError, IndexError, UnicodeDecodeError) as error:
        raise BadInput(f"is damaged ({error})", where=str(path), remedy="export the model again") from error
    limits = settings.limits
    renderer = make_renderer(read_tokenizer(reader), frozenset(), limits.actions, limits.tools)
    with open_gguf(path, settings.limits.max_tokens, log) as llama:
        user = open_user(settings.limits.user, settings.seed)
        return rollout_llamacpp(
            llama, renderer, jobs, settings.limits, greedy=settings.greedy, progress=progress, user=user
        )


def read_evaluation(path: Path, shadow_sha256: str, samples: int, settings: EvalSettings) -> ModelEvaluation:
    """An earlier evaluation that one with these settings can be compared with.

    Sampled rollouts differ by chance on both sides, and an interval of one side would not cover that: both must be
    greedy.
    """
    if not settings.greedy:
        raise BadInput(
            "sampled rollouts differ by chance on both sides", where="--compare", remedy="run both with --greedy"
        )
    remedy = "name a report written by askgate eval"
    try:
        found = msgspec.convert(read_json(path, remedy), ModelEvaluation)
    except msgspec.ValidationError as error:
        raise BadInput(f"is not a report of eval ({error})", where=str(path), remedy=remedy) from None
    if (found.shadow_sha256, found.samples, found.setting) != (shadow_sha256, samples, settings.facts()):
        raise BadInput(
            "was made on other samples or with other settings",
            where=str(path),
            remedy="run askgate eval with the same --config, --n and --greedy on both sides",
        )
    return found


def compared(then: ModelEvaluation, now: ModelEvaluation) -> list[Check]:
    """Checks that every headline figure is within the interval of the earlier evaluation."""
    made, remedy = [], remedies("release")["behaves_otherwise"]
    for name in HEADLINE:
        old, new = then.figures[name], now.figures[name]
        if old.low is not None and old.high is not None:
            # An interval around a share of 0 ends at 0 only up to the last bit.
            made.append(check(f"{name}[low]", new.value, ">=", round(old.low, DIGITS), *remedy))
            made.append(check(f"{name}[high]", new.value, "<=", round(old.high, DIGITS), *remedy))
    return made
