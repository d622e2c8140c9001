"""What a run came to: the trained policy beside its base and its control, on the same held-out samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table

from ..cli import show
from ..config.train_config import TrainConfig

if TYPE_CHECKING:
    from ..core.types import Episode
    from ..eval.compare import Change

ROWS = {
    "need_ask_success": "need-ask success",
    "overclar_rate": "over-clarification",
    "success": "success",
    "avg_turns": "mean turns",
}


@dataclass(frozen=True)
class Outcome:
    """What came of a seed."""

    seed: int
    steps: int
    base: list[Episode] | None
    trained: list[Episode] | None
    """None where nobody looked."""
    control: list[Episode] | None
    """Of the base after as many tokens of plain SFT, where the config asks for it."""

    def changes(self) -> dict[str, Change] | None:
        return _compared(self.base, self.trained, self.seed)

    def over_control(self) -> dict[str, Change] | None:
        return _compared(self.control, self.trained, self.seed)

    def summary(self) -> dict[str, Any]:
        """Every figure of base and trained policy with the change, and the same against the control."""
        return {
            "seed": self.seed,
            "steps": self.steps,
            "changes": self.changes(),
            "over_control": self.over_control(),
        }


def _compared(one: list[Episode] | None, other: list[Episode] | None, seed: int) -> dict[str, Change] | None:
    from ..eval.compare import compare

    return compare(one, other, seed) if one and other else None


def write_report(outcomes: Sequence[Outcome], config: TrainConfig, folder: Path) -> Path:
    """`reports/ppo_eval_<ts>.json` and the page beside it. `evaluate` derives the same from the files again."""
    from ..eval.trial import SeedRun
    from .evaluate import write_trial
    from .paths import of_seed
    from .run import EVAL_EPISODES

    runs = [SeedRun(one.seed, one.steps, one.base, one.trained, one.control) for one in outcomes]
    names = ("key.json", "step_00000.jsonl", f"step_{config.steps:05d}.jsonl", "control.jsonl")
    places = [of_seed(config, EVAL_EPISODES, one.seed) / name for one in outcomes for name in names]
    inputs = [config.shadow_set, *(path for path in places if path.exists())]
    return write_trial(runs, config, inputs, folder, f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}")[1][0]


def tell(outcome: Outcome) -> None:
    """A small table: base, control, trained."""
    found, control = outcome.changes(), outcome.over_control()
    if found is None:
        show.say(f"seed {outcome.seed}: {outcome.steps} steps; nobody looked at base and trained policy")
        return
    table = Table(f"seed {outcome.seed}, {outcome.steps} steps", box=None, pad_edge=False)
    for column in ("base", *(["SFT control"] if control else []), "trained", "change", "95% interval"):
        table.add_column(column, justify="right")
    for name, label in ROWS.items():
        base, trained, change, interval = _cells(found[name])
        beside = [_cells(control[name])[0]] if control else []
        table.add_row(label, base, *beside, trained, change, interval)
    show.print_table(table)
    show.say(f"{found['success'].base.n} held-out samples, the same for all")


def _cells(change: Change) -> tuple[str, str, str, str]:
    """Both values, trained less base, and its interval; shares in percent."""
    base, trained, delta, low, high = change.base.value, change.trained.value, change.delta, change.low, change.high
    if base is None or trained is None or delta is None:
        return "-", "-", "-", "-"
    share = change.delta_pp is not None

    def shown(value: float, sign: str = "") -> str:
        return f"{100 * value:{sign}.1f}" if share else f"{value:{sign}.2f}"

    unit, points = ("%", " points") if share else ("", "")
    interval = "-" if low is None or high is None else f"{shown(low, '+')} to {shown(high, '+')}"
    return f"{shown(base)}{unit}", f"{shown(trained)}{unit}", f"{shown(delta, '+')}{points}", interval
