"""`reports/ppo_eval_<tag>.html`: base, control and trained policy on one page that needs no network.

Verdict and gates first, then pictures, then every figure with its interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.types import LEVELS, TASKS
from ..eval.metrics import HARD_READING, MEASURES
from ..eval.trial import Compared, TrialReport
from .render import FIGURES, LABELS, is_share, render_page
from .results import Lines, series_by_seed
from .svg import Dot, Group

CURVES = ("need_ask_success", "overclar_rate", "success", "avg_turns")
Card = tuple[str, str, list[Group], bool]


def trial_page(report: TrialReport, held_out: Lines) -> bytes:
    """`held_out`: lines of `logs/eval.jsonl`, each a point of the curves."""
    seeds = {one.seed for one in report.seeds}
    of_run = [line for line in held_out if line["seed"] in seeds]
    return render_page(
        "trial.html",
        report=report,
        held_out={name: series_by_seed(of_run, name) for name in CURVES},
        digests={**report.evidence.inputs, **({"ticket": report.ticket} if report.ticket else {})},
        **trial_figures(report),
    )


def trial_figures(report: TrialReport | None) -> dict[str, Any]:
    """What `trial_parts.html` shows: `cards` with pictures, and `scopes` with the names of their figures."""
    pooled = report.pooled if report else None
    if pooled is None or pooled.changes is None:
        return {"cards": [], "scopes": {}}
    changes = pooled.changes
    scopes = {}
    for scope in LABELS["trial_scopes"]:
        names = [f"{measure}_{scope}".rstrip("_") for measure in MEASURES]
        scopes[scope] = [name for name in names if changes[name].base.n or changes[name].trained.n]
    return {"cards": _cards(pooled), "scopes": scopes}


def _cards(pooled: Compared) -> list[Card]:
    asking = ("need_ask_success", "overclar_rate", "ask_precision", "ask_recall")
    by_level = {name: [(f"{name}_{level}", level) for level in LEVELS] for name in MEASURES}
    by_task = [(f"success_{task}", task) for task in TASKS]
    hard = (f"success_{HARD_READING}", "hard, read")
    return [
        _card(pooled, "Asking", "提问", [(name, FIGURES[name][0]) for name in asking]),
        _card(pooled, "Success by task", "各任务成功率", [("success", "all"), *by_task]),
        _card(pooled, "Success by difficulty", "各难度成功率", [*by_level["success"], hard]),
        _card(pooled, "Over-clarification by difficulty", "各难度过度澄清率", by_level["overclar_rate"]),
        _card(pooled, "Need-ask success by difficulty", "各难度需问类成功率", by_level["need_ask_success"]),
        _card(pooled, "Mean turns by difficulty", "各难度平均轮次", [("avg_turns", "all"), *by_level["avg_turns"]]),
    ]


def _card(pooled: Compared, english: str, chinese: str, figures: Sequence[tuple[str, str]]) -> Card:
    """A picture of several figures, which are all shares or all not."""
    return english, chinese, [Group(label, _dots(pooled, name)) for name, label in figures], is_share(figures[0][0])


def _dots(pooled: Compared, name: str) -> list[Dot]:
    assert pooled.changes is not None
    sides = {"base": pooled.changes[name].base}
    if pooled.control_changes is not None:
        sides["control"] = pooled.control_changes[name].trained
    sides["trained"] = pooled.changes[name].trained
    return [Dot(side, figure.value, figure.low, figure.high) for side, figure in sides.items()]
