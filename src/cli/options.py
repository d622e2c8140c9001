"""Flags that several verbs share, declared once. Defaults are the values of the RC1 work order."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ..core import defaults
from ..core.types import TASKS

POOL = Path("data/rollouts/rc1_seed.jsonl")
METRICS = Path("data/rollouts/rc1_seed.metrics.jsonl")
BALANCED = Path("data/rollouts/rc1_seed.balanced.jsonl")
SHADOW = Path("data/shadow_eval_245.jsonl")
TEMPLATES = defaults.TEMPLATES
MIX = ",".join(f"{task}:{share:.2f}" for task, share in defaults.MIX.items())
BY_TASK = ",".join(TASKS)
TOOLS = ",".join(defaults.TOOLS)
TARGET = "easy:0.25,medium:0.45,hard:0.30"
SEED = defaults.SEED

Source = Annotated[
    Literal["builtin", "dir", "hf"],
    typer.Option(
        "--source", help="builtin: generated worlds; dir: official files in --data_dir; hf: the hub through `datasets`."
    ),
]
DataDir = Annotated[
    Path | None, typer.Option("--data_dir", help="Folder with hotpotqa/, strategyqa/ and gsm8k/; needed by dir.")
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Same arguments and seed, same bytes.")]
Lang = Annotated[str, typer.Option("--lang", help="en, zh or en,zh; left out: every language the source has.")]
Mix = Annotated[str, typer.Option("--mix", help="Share of each task; the shares sum to 1.")]
TemplatesDir = Annotated[Path, typer.Option("--templates_dir", help="Template pack.")]
ByTask = Annotated[str, typer.Option("--by_task", help="Tasks that are checked one by one.")]
Json = Annotated[bool, typer.Option("--json", help="Print the report as JSON and nothing else.")]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Override a setting of the config, like optimizer.epochs=2. Repeatable."
    ),
]


def rc1(threshold: str) -> Callable[[], Any]:
    """Default of a flag: a threshold of gate profile rc1, such as `pool.kl3_min`. It is read when the verb runs."""

    def read() -> Any:
        from ..config.profile import load_profile

        return attrgetter(threshold)(load_profile("rc1").thresholds)

    return read
