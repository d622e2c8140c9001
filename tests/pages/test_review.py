"""The weekly review shows what was measured in its days and nothing else."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from src.core.check import Check
from src.core.files import write_json
from src.loop.kpi import Alarm, Kpi
from src.loop.lights import Light
from src.pages.render import POLICY
from src.pages.review import FOLDER, markdown, review, review_page

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
EVIL = "<script>alert(1)</script>"


def check(name: str, passed: bool) -> dict[str, Any]:
    return {
        "name": name, "value": 0.5, "rule": ">=", "threshold": 0.6, "passed": passed, "remedy": "do",
        "remedy_zh": "修",
    }  # fmt: skip


def stage(name: str, ended: datetime, *checks: dict[str, Any]) -> dict[str, Any]:
    return {"stage": name, "passed": True, "checks": list(checks), "evidence": {"ended": ended.isoformat()}}


def evaluation(ended: datetime, base: float, trained: float) -> dict[str, Any]:
    changes = {"need_ask_success": {"base": {"value": base}, "trained": {"value": trained}}}
    found = {"ts": ended.isoformat(), "gated": True, "passed": True, "seeds": [1], "pooled": {"changes": changes}}
    return {**found, "checks": [check("need_ask_success_pp", True)]}


def kpis(value: float) -> dict[str, dict[str, Kpi]]:
    return {"quality": {"spearman": Kpi(value, "x")}, "engineering": {"hits": Kpi(0.99, "y", Alarm(">=", 0.95, True))}}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_json(Path("reports/shadow_run_a.json"), stage("shadow_run", NOW - timedelta(days=2), check(EVIL, False)))
    write_json(Path("reports/rc1/pool_report.json"), stage("validate_pool", NOW - timedelta(days=8), check("x", True)))
    write_json(Path("reports/ppo_eval_a.json"), evaluation(NOW - timedelta(days=3), 0.10, 0.30))
    write_json(Path("reports/ppo_eval_b.json"), evaluation(NOW - timedelta(days=1), 0.10, 0.36))
    write_json(Path("reports/kpi.json"), {"no": "report"})
    return tmp_path


def test_only_reports_of_these_days_count() -> None:
    found = review(NOW, 7, kpis(0.8))
    assert [one.stage for one in found.events] == ["shadow_run"]
    assert [one.stage for one in review(NOW, 9, kpis(0.8)).events] == ["validate_pool", "shadow_run"]
    assert [one.trained["need_ask_success"] for one in found.evaluations] == [0.30, 0.36]


def test_a_policy_evaluated_twice_counts_once() -> None:
    for name, hours in (("a", 3), ("b", 2)):
        read = {"logs/eval/step_00000.jsonl": "base", "logs/eval/step_00030.jsonl": "trained", "logs/eval.jsonl": name}
        found = evaluation(NOW - timedelta(hours=hours), 0.10, 0.30)
        write_json(Path(f"reports/ppo_eval_{name}.json"), found | {"evidence": {"inputs": read}})
    assert [one.report for one in review(NOW, 7, kpis(0.8)).evaluations] == ["reports/ppo_eval_b.json"]


def test_the_verdict_is_derived_from_the_checks() -> None:
    (event,) = review(NOW, 7, kpis(0.8)).events
    assert not event.passed
    assert event.failed[0].value == 0.5
    bad = evaluation(NOW - timedelta(days=1), 0.10, 0.36) | {"checks": [check("need_ask_success_pp", False)]}
    write_json(Path("reports/ppo_eval_b.json"), bad)
    assert [one.passed for one in review(NOW, 7, kpis(0.8)).evaluations] == [True, False]


def test_a_single_run_is_shown_against_its_base_too() -> None:
    Path("reports/ppo_eval_b.json").unlink()
    page = review_page(review(NOW, 7, kpis(0.8))).decode()
    assert page.count('<path class="train"') == page.count('<circle class="held"') == 1


def test_changes_are_relative_to_the_review_before() -> None:
    first = review(NOW - timedelta(days=7), 7, kpis(0.7))
    assert first.moved == []
    write_json(FOLDER / "2026-11-08.json", first)
    found = review(NOW, 7, kpis(0.8))
    assert found.compared_with == "2026-11-08"
    assert [(one.name, one.before, one.now) for one in found.moved] == [("spearman", 0.7, 0.8)]
    write_json(FOLDER / "2026-11-15.json", found)
    assert review(NOW, 7, kpis(0.8)).compared_with == "2026-11-08", "a review of the same day is overwritten"


def test_page_and_markdown_show_and_escape_the_data() -> None:
    found = review(NOW, 7, kpis(0.8))
    page, text = review_page(found).decode(), markdown(found).decode()
    for shown in (page, text):
        assert "<script" not in shown
        assert "&lt;script&gt;" in shown
        assert "10.0% → 36.0%" in shown
        assert "ALARM" in shown
    assert page.count("<svg") == 4
    assert page.count('<circle class="held"') == 2
    assert not re.search(r"(src|href|url)\s*[=(]", page)
    assert "a gate failed" in page
    assert POLICY in page


def test_ambers_are_those_of_status_each_with_who_signed_it() -> None:
    write_json(Path("reports/shadow_run_a.json"), stage("shadow_run", NOW - timedelta(days=2), check("x", True)))
    known = [Check(name, 0.7, "<=", 0.25, False, "", "") for name in ("canaries_fooled", "judge_auc")]
    light = Light("round2", "Round 2", "第二轮", "amber", "", known, "", {"judge_auc": "Ada (not used)"})
    found = review(NOW, 7, kpis(0.8), [light, light])
    assert [(one.name, one.signed) for one in found.ambers] == [
        ("canaries_fooled", ""),
        ("judge_auc", "Ada (not used)"),
    ]
    page, text = review_page(found).decode(), markdown(found).decode()
    assert found.colour == "amber"
    assert 'class="verdict amber"' in page
    assert "闸门无红灯；黄灯 2 盏，未签字 1 盏" in page
    assert "全部通过" not in page
    for shown in (page, text):
        assert "worthless answers fool the judge" in shown
        assert "Ada (not used)" in shown
        assert "ambers: 2, not signed off: canaries_fooled" in shown


def test_a_red_light_makes_the_review_red() -> None:
    write_json(Path("reports/shadow_run_a.json"), stage("shadow_run", NOW - timedelta(days=2), check("x", True)))
    assert review(NOW, 7, kpis(0.8)).colour == "green"
    crashed = Light("train", "Training", "训练", "red", "it crashed", [], "")
    assert review(NOW, 7, kpis(0.8), [crashed]).colour == "red"


def test_days_without_a_run_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "none").mkdir()
    monkeypatch.chdir(tmp_path / "none")
    found = review(NOW, 7, {})
    assert "no runs" in review_page(found).decode()
    assert "Nothing in these days" in markdown(found).decode()
