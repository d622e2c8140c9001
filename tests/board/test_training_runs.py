"""In Chromium: the list of training runs with their config diff, the token view, and the buttons of a page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import yaml

from src.core.api import TokenTrace
from src.core.files import write_json
from src.core.paths import token_file
from src.training.run_list import name_run, tag_run
from tests.board.small_run import TRAINED, TRAINING, Served, served, small_run
from tests.eval.test_trial import one, reported

OLD, NEW = "20260101T000000000Z-0a1b", "20260102T000000000Z-2c3d"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    root = small_run(tmp_path / "run")
    monkeypatch.chdir(root)
    settings = {
        "profile": "local",
        "base_model": "models/tiny",
        "strategy": "ppo",
        "steps": 3,
        "reward": {"alpha": 0.1},
    }
    for run, alpha in ((OLD, 0.1), (NEW, 0.3)):
        config = Path("runs", run, "reports/config_effective.yaml")
        config.parent.mkdir(parents=True)
        config.write_text(yaml.safe_dump({**settings, "reward": {"alpha": alpha}}))
    write_json(Path("runs", OLD, "reports/ppo_eval_x.json"), reported(one()))
    name_run(Path("runs", OLD), "first")
    tag_run(Path("runs", OLD), ["<b>en</b>"], [])
    with served(root) as found:
        found.update_indexes()
        yield found


def test_runs_are_listed_newest_first_with_what_differs(page: Any, site: Served) -> None:
    page.goto(site.url)
    page.locator("nav a", has_text="Runs").click()
    page.wait_for_url("**/runs")
    rows = page.locator(".runs tbody tr")
    assert [rows.nth(place).get_attribute("id") for place in range(2)] == [NEW, OLD]
    assert "first" in rows.nth(1).inner_text()
    assert page.locator(".runs .tag").inner_text() == "<b>en</b>"
    assert "→" in rows.nth(1).inner_text()
    assert page.locator(".settings tbody tr").all_inner_texts() == ["reward.alpha\t0.1\t0.3"]
    page.select_option("select[name=b]", OLD)
    page.wait_for_url("**b=2026**")
    assert "Every setting is the same." in page.locator("#diff").inner_text()
    rows.nth(1).get_by_role("link", name="config_effective.yaml").click()
    assert "alpha: 0.1" in page.locator("pre.file").inner_text()


def test_tokens_have_figures_and_missing_ones_are_named(page: Any, site: Served) -> None:
    file = f"{TRAINING}/step_00001.jsonl"
    trace = TokenTrace(1, [0, 0, 1], ["<b>", " bay", "7"], [-0.01, -4.0, -0.5], [0.0, 0.4, 2.0])
    write_json(token_file(Path(file)), [trace])
    page.goto(f"{site.url}/episode?file={quote(file)}&line=2")
    tokens = page.locator(".tokens span")
    assert tokens.all_inner_texts() == ["<b>", " bay", "7"]
    assert [token.get_attribute("title") for token in tokens.all()][1] == "logp -4, kl 0.4"
    assert "not recorded: value" in page.locator(".token-view").inner_text()
    plain, dark = (
        token.evaluate("x => getComputedStyle(x).backgroundColor") for token in (tokens.nth(0), tokens.nth(1))
    )
    assert plain != dark
    assert tokens.nth(2).evaluate("x => getComputedStyle(x).backgroundColor") != dark
    page.locator("label", has_text="KL").click()
    darkest = tokens.nth(2).evaluate("x => getComputedStyle(x).backgroundColor")
    assert darkest == dark
    page.goto(f"{site.url}/episode?file={quote(file)}&line=1")
    assert "Not recorded for this episode" in page.locator("#tokens").inner_text()


def test_a_page_can_be_linked_and_its_episode_kept(page: Any, site: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCORER_API_KEY", "Yarra: 雅拉河")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"{site.url}/episode?file={quote(TRAINED)}&line=3")
    page.locator("button.copy").click()
    page.locator("button.copy", has_text="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == page.url
    with page.expect_download() as waiting:
        page.locator("a[download]").click()
    kept = json.loads(Path(waiting.value.path()).read_text())
    assert kept["sample_id"] == "strategyqa-0102" or kept["sample_id"].endswith("-0102")
    assert "***" in json.dumps(kept)
    status, headers, text = site.get(f"/download?path={quote(TRAINED)}")
    assert (status, len(text.splitlines())) == (200, 12)
    assert headers["content-disposition"].startswith("attachment")
    assert site.get("/download?path=../secret.json")[0] == 404
    assert site.get(f"/download?path={quote(TRAINED)}&line=0")[0] == 200
