"""The results page loads nothing, shows only what was measured, and escapes text from data."""

from __future__ import annotations

import re
from typing import Any

from src.loop.kpi import Alarm, Kpi
from src.loop.lights import Light, Reason
from src.pages.render import POLICY
from src.pages.results import results_page

EVIL = "<script>alert(1)</script>"
GREEN = Light("pool", "The pool", "样本池", "green", "", [], "")
RED = Light(
    "gate", "The gate", "门", "red", EVIL, [Reason(EVIL, None, ">=", 0.6, f"do {EVIL}", f"做 {EVIL}")], "gate.json"
)


def figure(value: float | None) -> dict[str, Any]:
    return {"value": value, "low": None, "high": None, "n": 200}


def change(base: float | None, trained: float | None, delta: float | None) -> dict[str, Any]:
    return {"base": figure(base), "trained": figure(trained), "delta": delta, "low": delta, "high": delta}


def page(lights: list[Light], evaluation: dict[str, Any] | None = None, **more: Any) -> str:
    kpis = {"quality": {}, "engineering": {"cache_hit_rate": Kpi(0.99, EVIL, Alarm(">=", 0.95, True))}}
    lines = {"metrics": [], "held_out": [], "digests": {EVIL: EVIL}, **more}
    return results_page(EVIL, lights, ("next", "下一步"), evaluation, kpis=kpis, **lines).decode()


def test_text_from_data_is_escaped() -> None:
    shown = page([RED], {"seeds": [{"seed": EVIL, "steps": 4, "changes": {"success": change(0.1, 0.2, 0.1)}}]})
    assert "<script" not in shown
    assert "&lt;script&gt;" in shown


def test_the_results_page_loads_nothing() -> None:
    assert not re.search(r"(src|href|url)\s*[=(]", page([GREEN]))
    assert POLICY in page([GREEN])


def test_base_control_and_trained_are_side_by_side() -> None:
    changes = {"success": change(0.10, 0.25, 0.15), "avg_turns": change(3.5, 3.25, -0.25)}
    seed = {"seed": 7, "steps": 40, "changes": changes, "over_control": {"success": change(0.12, 0.25, 0.13)}}
    shown = page([GREEN], {"seeds": [seed]})
    for text in ("SFT control", "10.0%", "12.0%", "25.0%", "+15.0", "3.50", "-0.25", "200 held-out episodes"):
        assert text in shown


def test_several_seeds_are_shown_together_first() -> None:
    seeds = [{"seed": seed, "steps": 4, "changes": {"success": change(0.1, 0.2, 0.1)}} for seed in (1, 2)]
    shown = page([GREEN], {"seeds": seeds, "pooled": {**seeds[0], "seed": None}})
    assert shown.index("all seeds together") < shown.index("seed 1,") < shown.index("seed 2,")
    assert "all seeds together" not in page([GREEN], {"seeds": seeds[:1], "pooled": {**seeds[0], "seed": None}})


def test_unmeasured_figures_are_not_invented() -> None:
    assert "No trained policy has been evaluated yet" in page([GREEN])
    assert "no figures yet" in page([GREEN])
    shown = page([GREEN], {"seeds": [{"seed": 1, "steps": 1, "changes": {"success": change(None, None, None)}}]})
    assert "–" in shown


def test_the_verdict_is_that_of_the_lights() -> None:
    assert "1 of 1 green; all green" in page([GREEN])
    assert "1 of 2 green; a light is red" in page([GREEN, RED])
    assert "ALARM" in page([GREEN])


def test_curves_have_lines_per_seed_and_dots_per_evaluation() -> None:
    metrics = [
        {"seed": seed, "step": step, "reward": step / 10, "kl": float("nan")} for seed in (1, 2) for step in (1, 2)
    ]
    held_out = [{"seed": 1, "step": 0, "reward": 0.1}, {"seed": 1, "step": 2, "reward": 0.3}]
    shown = page([GREEN], metrics=metrics, held_out=held_out)
    assert shown.count('<path class="train"') == 2
    assert shown.count('<circle class="held"') == 2
    assert "NaN" not in shown
    assert "nan" not in re.sub(r"[a-z]*nan[a-z]+|[a-z]+nan[a-z]*", "", shown.lower())
