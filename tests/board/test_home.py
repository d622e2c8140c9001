"""The first page in Chromium: the result first, green in one line, what is not green in full, and the running run."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from src.board.overview import curve_limits
from src.board.render import linked_text
from src.board.runs import Curves
from src.config.profile import load_profile
from src.core.check import Check
from src.core.files import write_json
from src.pages.render import LABELS
from tests.board.small_run import TRAINED, Served, served, small_run, write_rounds
from tests.eval.test_trial import CONTROL, one, reported

CHINESE = re.compile("[\u4e00-\u9fff]")
PAGES = ("/", "/episodes", "/compare", "/runs", "/chat", "/light?round=1&of=data", f"/episode?file={TRAINED}&line=3")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    root = small_run(tmp_path / "run")
    monkeypatch.chdir(root)
    monkeypatch.delenv("ASKGATE_LANG", raising=False)
    write_rounds()
    with served(root) as found:
        found.update_indexes()
        yield found


def test_the_result_is_first_with_intervals_and_control(page: Any, site: Served) -> None:
    page.goto(site.url)
    assert "No trained policy has been evaluated yet" in page.locator("main").inner_text()
    report = reported(replace(one(control=CONTROL), warm_start=CONTROL))
    write_json(Path("reports/ppo_eval_x.json"), report)
    tiles = page.locator("#tiles .tile")
    tiles.first.wait_for()
    change = report.pooled.changes["need_ask_success"] if report.pooled.changes else None
    assert change is not None
    assert change.delta_pp is not None
    assert f"{change.delta_pp:+.1f} points" in tiles.nth(0).inner_text()
    assert f"{100 * (change.low or 0):+.1f} to {100 * (change.high or 0):+.1f}" in tiles.nth(0).inner_text()
    assert [text.splitlines()[0] for text in tiles.all_inner_texts()[:3]] == [
        LABELS["figures"][name][0] for name in ("need_ask_success", "overclar_rate", "success")
    ]
    assert "against plain SFT" in tiles.nth(3).inner_text()
    sft = report.pooled.warm_start_changes["need_ask_success"].trained.value if report.pooled.warm_start_changes else 0
    assert f"→ {100 * (sft or 0):.1f} →" in tiles.nth(0).inner_text()
    assert "A lucky guess" in page.locator("main").inner_text()
    top, gates = tiles.first.bounding_box(), page.locator(".round").first.bounding_box()
    assert top["y"] < gates["y"]
    assert "trained, all" in page.locator("header .verdict").inner_text()


def test_green_is_one_line_and_red_is_in_full(page: Any, site: Served) -> None:
    page.goto(site.url)
    line = page.locator("#round1 summary")
    line.wait_for()
    assert "6 of 6 lights" in line.inner_text()
    assert page.locator("#round1 .lights").is_hidden()
    line.click()
    assert page.locator("#round1 .lights li").count() == 6
    page.locator("#round1 .lights a").first.click()
    page.wait_for_url("**/light?round=1**")
    write_rounds(failed="pool")
    page.goto(site.url)
    page.locator("#round1 > .lights .lamp.red").first.wait_for()
    assert "pool: figure" in page.locator("#round1 > .lights").first.inner_text()


def test_an_amber_is_in_full_and_colours_the_headline(page: Any, site: Served) -> None:
    fact = Check("judge_weight", 0.0, ">", 0.0, False, "the judge decides <b>nothing</b>", "评委不起作用")
    write_json(Path("reports/ppo_eval_x.json"), replace(reported(one(control=CONTROL)), ambers=[fact]))
    page.goto(site.url)
    amber = page.locator("main p.verdict.amber", has_text="judge_weight")
    amber.wait_for()
    assert "the judge decides <b>nothing</b>" in amber.inner_text()
    assert "amber before a release" in page.locator("header .verdict.amber").inner_text()
    page.goto(f"{site.url}/?askgate_lang=zh")
    page.locator("main p.verdict.amber", has_text="评委不起作用").wait_for()


def test_the_log_of_a_running_run_is_followed(page: Any, site: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    page.goto(site.url)
    assert page.locator("#tail").count() == 0
    monkeypatch.setenv("SCORER_API_KEY", "sk-0123456789")
    log = Path("logs/train.log")
    log.write_text("".join(f"line {n}\n" for n in range(100)) + "<b>step 1</b> sk-0123456789\n")
    page.locator("#tail", has_text="<b>step 1</b> ***").wait_for()
    assert "line 99" in page.locator("#tail").inner_text()
    assert "line 10\n" not in page.locator("#tail").inner_text()
    with open(log, "a") as handle:
        handle.write("step 2 of 40\n")
    page.locator("#tail", has_text="step 2 of 40").wait_for()
    stage = Path("logs/stages/calibration.log")
    stage.parent.mkdir()
    stage.write_text("scoring: 3 of 30 samples\n")
    page.locator("#tail", has_text="3 of 30").wait_for()
    os.utime(stage, (0, 0))
    page.locator("#tail", has_text="step 2 of 40").wait_for()


def test_curves_show_values_and_thresholds(page: Any, site: Served) -> None:
    held = {"seed": 7, "step": 0, "need_ask_success": 0.25, "overclar_rate": 0.4, "avg_turns": 4.0}
    Path("logs/eval.jsonl").write_bytes(json.dumps(held).encode() + b"\n")
    page.goto(site.url)
    chart = page.locator('svg[aria-label="Need-ask success"]')
    chart.locator(".limit").wait_for(state="attached")
    least = load_profile("quickstart").thresholds.need_ask_pp_min
    assert f"threshold {25 + least:.3g}%" in (chart.text_content() or "")
    assert page.locator('svg[aria-label="Reward"] .hit title').first.text_content() == "step 1: 0.1"


@pytest.mark.parametrize(("base", "limit"), [(0.4, 0.32), (0.022, 0.0176), (0.01, 0.02)])
def test_the_threshold_of_a_curve_is_that_of_the_gate(base: float, limit: float, tmp_path: Path) -> None:
    """Over-clarification must fall by a share of its base, or stay below a small rate where the base is below it."""
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs/eval.jsonl").write_text(json.dumps({"seed": 7, "step": 0, "overclar_rate": base}) + "\n")
    run = Curves(tmp_path, Path())
    run.held_out.read_new()
    limits = load_profile("rc1").thresholds
    assert (limits.overclar_change_pct_max, limits.overclar_small) == (-20, 0.02)
    assert curve_limits(run, limits)["overclar_rate"] == pytest.approx(limit)


def test_names_of_files_are_links(page: Any, site: Served) -> None:
    found = linked_text("read reports/rc1/RC1.html, not reports/<b>.json", lambda path: True)
    assert str(found) == (
        'read <a href="/report?path=reports%2Frc1%2FRC1.html">reports/rc1/RC1.html</a>, not reports/&lt;b&gt;.json'
    )
    assert "<a" not in linked_text("read reports/rc1/RC1.html", lambda path: False)
    page.goto(site.url)
    for link in page.locator("main a").all():
        assert (link.get_attribute("href") or "").startswith("/")


def test_pages_have_one_language_at_a_time(page: Any, site: Served) -> None:
    write_json(Path("reports/ppo_eval_x.json"), reported(one(control=CONTROL)))
    page.goto(f"{site.url}/episodes?right=no")
    assert not CHINESE.search(page.locator("main").inner_text().replace("中文", ""))
    page.locator(".languages a", has_text="中文").click()
    page.wait_for_selector('html[lang="zh"]')
    assert "right=no" in page.url
    assert "正确" in page.locator("main").inner_text()
    for path in PAGES:
        page.goto(site.url + path)
        assert page.locator("html").get_attribute("lang") == "zh"
        assert CHINESE.search(page.locator("h1, h2, label, dt").first.inner_text() + page.locator("main").inner_text())
    page.locator(".languages a", has_text="English").click()
    page.wait_for_selector('html[lang="en"]')
    for path in PAGES:
        page.goto(site.url + path)
        shown = page.locator("main").inner_text().replace("雅拉河流入菲利普港湾。", "").replace("中文", "")
        assert not CHINESE.search(shown), (path, CHINESE.findall(shown))
