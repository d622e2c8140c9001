"""Paths inside a run folder: checkpoints, logs, episodes and reports. The one module that knows them.

    checkpoints/{local,rc1}/[seed_S/]    step_00042/, latest, best/, final_model/; rc1 is for gated runs
    logs/metrics.jsonl, logs/eval.jsonl  figures of every step, and of every evaluation on held-out samples
    logs/episodes/[seed_S/]              training episodes, step_00042.jsonl
    logs/eval/[seed_S/]                  held-out episodes, step_00042.jsonl (step 0: the base), control.jsonl, key.json
    reports/ppo_eval_TAG.{json,html}     base against trained policy

The `seed_S` folders are there where a run has several seeds.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

CHECKPOINTS = Path("checkpoints")
LOCAL_CHECKPOINTS, GATED_CHECKPOINTS = CHECKPOINTS / "local", CHECKPOINTS / "rc1"
FINAL_MODEL = "final_model"

LOGS = Path("logs")
TRAIN_LOG = LOGS / "train.log"
METRICS, EVAL_METRICS = LOGS / "metrics.jsonl", LOGS / "eval.jsonl"
EPISODES, EVAL_EPISODES = LOGS / "episodes", LOGS / "eval"
JUDGED, TENSORBOARD = LOGS / "judged", LOGS / "tensorboard"

REPORTS = Path("reports")
LIVE_SCORES = REPORTS / "rc1" / "scores.jsonl"
"""Output of `askgate score`."""
_EVALUATION = "ppo_eval_"

ABLATION_SIDES = ("without", "with")
"""The two policies of an ablation: trained without the penalty and with it."""


def step_name(step: int) -> str:
    return f"step_{step:05d}"


def step_file(folder: Path, step: int) -> Path:
    """File with the episodes of a step."""
    return folder / f"{step_name(step)}.jsonl"


def seed_folder(folder: Path, seed: int, seeds: Sequence[int]) -> Path:
    """Folder of one seed: `folder` itself where the run has only one."""
    return folder / f"seed_{seed}" if len(seeds) > 1 else folder


def final_models(seeds: Sequence[int], checkpoints: Path = GATED_CHECKPOINTS) -> list[Path]:
    """Folders of the final models, one a seed."""
    return [seed_folder(checkpoints, seed, seeds) / FINAL_MODEL for seed in seeds]


def evaluation_report(tag: str) -> tuple[Path, Path]:
    """Report of base against trained policy: JSON and page."""
    return REPORTS / f"{_EVALUATION}{tag}.json", REPORTS / f"{_EVALUATION}{tag}.html"


def newest_evaluation() -> Path | None:
    """The JSON report of base against trained policy that was written last."""
    reports = sorted(REPORTS.glob(f"{_EVALUATION}*.json"), key=lambda path: (path.stat().st_mtime, path.name))
    return reports[-1] if reports else None


def ablation_file(folder: Path, seed: int, side: str) -> Path:
    """Held-out episodes of one side of an ablation, for one seed."""
    return folder / f"seed_{seed}" / f"{side}.jsonl"
