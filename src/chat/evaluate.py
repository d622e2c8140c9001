"""Evaluates a model on held-out samples through PyTorch or llama.cpp (`askgate eval`).

Both backends use the same samples, environment and figures, so their reports can be compared.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from ..agents.trajectory import Job
from ..config.train_config import RolloutLimits, TrainConfig
from ..core.check import Check, check, remedies
from ..core.errors import BadInput
from ..core.files import read_record, sha256_file
from ..core.model_files import policy_sha256
from ..data.pool.meta import read_meta
from ..eval.metrics import Figure, figures
from ..release.gguf_export import policy_folders
from ..release.llamacpp import require_gguf
from ..reward.rank_statistics import DIGITS
from ..runtime.progress import Reporter
from ..scoring.llm_user import open_user
from ..training.data import build_missing, held_out, require_data
from .policies import Policy, TorchPolicy, open_gguf_policy

Backend = Literal["pytorch", "llamacpp"]
HEADLINE = (
    "success", "need_ask_success", "overclar_rate", "question_precision", "question_recall", "question_f1",
    "ask_precision", "ask_recall", "avg_turns",
)  # fmt: skip


class ModelEvaluation(Struct, frozen=True):
    """Contents of `reports/eval_<backend>.json`."""

    backend: Backend
    model: str
    model_sha256: str
    shadow_set: str
    shadow_sha256: str
    samples: int
    setting: dict[str, Any]  # how the rollouts are made (`setting_of`)
    figures: dict[str, Figure]
    source: str = ""  # source of the samples, such as `builtin`


def evaluate_model(
    model: Path,
    backend: Backend,
    config: TrainConfig,
    greedy: bool,
    compare: Path | None,
    reporter: Reporter,
    adapter: Path | None = None,
) -> tuple[ModelEvaluation, list[Check]]:
    """The evaluation, and checks against the report `compare` of the other backend, if given."""
    folder = model
    if backend == "llamacpp" or model.suffix == ".gguf":
        require_gguf(model)
        if backend != "llamacpp":
            raise BadInput("is a GGUF file", where=str(model), remedy="add --backend llamacpp")
    else:
        folder, adapter = policy_folders(model, adapter)
    require_data(config, ["shadow_set"])
    build_missing(config, reporter, ["shadow_set"])
    samples, levels = held_out(config)
    meta = read_meta(config.shadow_set)
    limits = config.rollout_limits(meta.tools, config.eval.user)
    greedy, seed = greedy or config.eval.greedy, config.seeds[0]
    setting, shadow = setting_of(limits, greedy, seed), sha256_file(config.shadow_set)
    other = read_evaluation(compare, shadow, len(samples), setting) if compare else None
    jobs = [Job(sample, level, seed) for sample, level in zip(samples, levels, strict=True)]
    user = open_user(limits.user, seed)
    with reporter.progress(f"evaluating with {backend}", len(jobs)) as progress:
        temperature = 0.0 if greedy else limits.temperature
        opened: AbstractContextManager[Policy]
        if backend == "llamacpp":
            opened = open_gguf_policy(model, temperature, limits)
        else:
            opened = nullcontext(TorchPolicy(folder, adapter, temperature, seed, limits))
        with opened as policy:
            episodes = policy.rollout(jobs, limits.max_turns, user, progress=progress)
    found = ModelEvaluation(
        backend=backend,
        model=str(model),
        model_sha256=sha256_file(model) if backend == "llamacpp" else policy_sha256(folder, adapter),
        shadow_set=str(config.shadow_set),
        shadow_sha256=shadow,
        samples=len(jobs),
        setting=setting,
        figures=figures(episodes),
        source=meta.source,
    )
    return found, compared(other, found) if other else []


def setting_of(limits: RolloutLimits, greedy: bool, seed: int) -> dict[str, Any]:
    """Settings of the rollouts, which must be equal in evaluations that are compared."""
    return {"rollout": {**limits.facts(), "tools": list(limits.tools)}, "greedy": greedy, "seed": seed}


def read_evaluation(path: Path, shadow_sha256: str, samples: int, setting: dict[str, Any]) -> ModelEvaluation:
    """An earlier evaluation that one with this setting can be compared with.

    Sampled rollouts differ by chance on both sides, and an interval of one side would not cover that: both must be
    greedy.
    """
    if not setting["greedy"]:
        raise BadInput(
            "sampled rollouts differ by chance on both sides", where="--compare", remedy="run both with --greedy"
        )
    remedy = "name a report written by askgate eval"
    found = read_record(path, ModelEvaluation, remedy, "is not a report of eval")
    if (found.shadow_sha256, found.samples, found.setting) != (shadow_sha256, samples, setting):
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
            # Rounded, because the interval of a share of 0 ends at 0 only up to the last bit.
            made.append(check(f"{name}[low]", new.value, ">=", round(old.low, DIGITS), *remedy))
            made.append(check(f"{name}[high]", new.value, "<=", round(old.high, DIGITS), *remedy))
    return made
