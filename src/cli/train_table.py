"""What a run came to: the trained policy beside its base, on the same held-out samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table

from . import show

if TYPE_CHECKING:
    from ..eval.compare import Change
    from .train_run import Outcome

ROWS = {
    "need_ask_success": "need-ask success",
    "overclar_rate": "over-clarification",
    "success": "success",
    "avg_turns": "mean turns",
}


def summary(outcome: Outcome) -> dict[str, Any]:
    """Of a seed, for `--json` and for the report: every figure of base and trained policy, and the change."""
    return {"seed": outcome.seed, "steps": outcome.steps, "changes": changes(outcome)}


def changes(outcome: Outcome) -> dict[str, Change] | None:
    """None where one of the two was never looked at."""
    from ..eval.compare import compare

    if outcome.base is None or outcome.trained is None:
        return None
    return compare(outcome.base, outcome.trained, outcome.seed)


def tell(outcome: Outcome) -> None:
    found = changes(outcome)
    if found is None:
        show.say(f"seed {outcome.seed}: {outcome.steps} steps; not compared with its base, which was never evaluated")
        return
    n = found["success"].base.n
    table = Table(f"seed {outcome.seed}, {outcome.steps} steps", box=None, pad_edge=False)
    for column in ("base", "trained", "change", "95% interval"):
        table.add_column(column, justify="right")
    for name, label in ROWS.items():
        table.add_row(label, *_cells(found[name]))
    show.print_table(table)
    show.say(f"{n} held-out samples, the same for both")


def _cells(change: Change) -> tuple[str, str, str, str]:
    if change.base.value is None or change.trained.value is None or change.delta is None:
        return "-", "-", "-", "-"
    share = change.delta_pp is not None

    def shown(value: float, sign: str = "") -> str:
        return f"{100 * value:{sign}.1f}" if share else f"{value:{sign}.2f}"

    unit = "%" if share else ""
    interval = (
        "-" if change.low is None or change.high is None else f"{shown(change.low, '+')} to {shown(change.high, '+')}"
    )
    return (
        f"{shown(change.base.value)}{unit}",
        f"{shown(change.trained.value)}{unit}",
        f"{shown(change.delta, '+')}{' points' if share else ''}",
        interval,
    )
