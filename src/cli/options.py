"""Flags that several verbs share, declared once. Defaults are the values of the RC1 work order."""

from __future__ import annotations

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
MIX = defaults.as_flag(defaults.MIX)
BY_TASK = ",".join(TASKS)
TOOLS = ",".join(defaults.TOOLS)
TARGET = defaults.as_flag(defaults.DIFFICULTY_MIX)
SEED = defaults.SEED

Source = Annotated[
    Literal["builtin", "dir", "hf"],
    typer.Option(
        "--source", help="builtin: generated worlds; dir: official files in --data_dir; hf: the hub through `datasets`."
    ),
]
DataDir = Annotated[
    Path | None,
    typer.Option("--data_dir", help="Folder with hotpotqa/, strategyqa/ and gsm8k/; required by --source dir."),
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Random seed. The same arguments give the same bytes.")]
Lang = Annotated[str, typer.Option("--lang", help="en, zh or en,zh. Default: every language of the source.")]
Mix = Annotated[str, typer.Option("--mix", help="Share of each task; the shares sum to 1.")]
TemplatesDir = Annotated[Path, typer.Option("--templates_dir", help="Folder of the template pack.")]
ByTask = Annotated[str, typer.Option("--by_task", help="Tasks to check separately, comma-separated.")]
Json = Annotated[bool, typer.Option("--json", help="Print the report as JSON and nothing else.")]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Override a setting of the config, like optimizer.epochs=2. Repeatable."
    ),
]
Provider = Annotated[str, typer.Option("--provider", help="Judge to call. Default: $SCORER_PROVIDER.")]
Profile = Annotated[
    Literal["quickstart", "rc1"] | None,
    typer.Option("--profile", help="Profile of the loop. Default: the one that was run last."),
]


def threshold(key: str, text: str, min: float | None = None, max: float | None = None, flag: str = "") -> Any:
    """A flag that defaults to a threshold of gate profile rc1, such as `pool.kl3_min`, read when the verb runs."""

    def read() -> Any:
        from ..config.profile import load_profile

        return attrgetter(key)(load_profile("rc1").thresholds)

    name = flag or f"--{key.rpartition('.')[2]}"
    return typer.Option(name, default_factory=read, show_default="from profile rc1", help=text, min=min, max=max)
