"""The episode page in Chromium: what the policy was not told, the simulator's view, the baseline, and the keys."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from msgspec.structs import replace

from tests.board.small_run import BASE, TRAINED, Served, pool_sample, served, small_run, write_episodes

POOL = "data/shadow.jsonl"
LACKS_THE_YEAR = 111
"""Number of a sample that lacks information: line 12 of both sets. Only the trained policy asks, and is right."""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    root = small_run(tmp_path / "run")
    write_episodes(root, POOL, [pool_sample(number) for number in range(100, 112)])
    monkeypatch.chdir(root)
    with served(root) as found:
        found.update_indexes()
        yield found


def test_gold_answer_hidden_fact_and_simulator_are_shown(page: Any, site: Served) -> None:
    page.goto(f"{site.url}/episode?file={quote(TRAINED)}&line=12")
    assert page.locator("#gold").inner_text() == "Port Phillip <b>bay</b>"
    assert "in 1941" in page.locator("#hidden").inner_text()
    assert "asks for what is missing" in page.locator(".side").nth(0).locator(".reading").inner_text()
    rows = page.locator(".reward tr")
    assert rows.nth(1).locator("td").all_inner_texts()[1:] == ["+1.000", "+0.000", "+1.000"]
    assert page.locator(".reward td").last.inner_text() == "+1.000"
    page.goto(f"{site.url}/episode?file={quote(TRAINED)}&line=2")
    assert "nothing is missing" in page.locator("#hidden").inner_text()


def test_the_baseline_is_beside_it_and_differences_are_marked(page: Any, site: Served) -> None:
    page.goto(f"{site.url}/episode?file={quote(TRAINED)}&line=12")
    sides = page.locator(".pair > .side")
    assert page.locator(".side > h4").all_inner_texts() == ["policy at step 3", "baseline"]
    assert sides.nth(0).locator(".differs .turn").count() == 2
    assert sides.nth(1).locator(".differs").count() == 0
    sides.nth(1).locator("> h4 a").click()
    page.wait_for_url(f"**{quote(BASE, safe='')}**")
    assert page.locator(".side > h4").all_inner_texts() == ["baseline", "policy at step 3"]


def test_a_rebuilt_pools_sample_is_not_taken_for_the_old(page: Any, site: Served) -> None:
    write_episodes(Path(), POOL, [replace(pool_sample(LACKS_THE_YEAR), prompt="another question")])
    site.update_indexes()
    page.goto(f"{site.url}/episode?file={quote(TRAINED)}&line=12")
    assert "no pool in data/ has this sample" in page.locator(".secret").inner_text()


def test_the_list_begins_with_the_last_evaluations_failures(
    page: Any,
    site: Served,
) -> None:
    page.goto(f"{site.url}/episodes")
    assert page.locator("select[name=set]").input_value() == TRAINED
    assert "wrong" in page.locator(".episodes li").nth(0).inner_text()
    assert page.locator(".episodes li", has_text="wrong").count() == 1
    page.locator(".episodes a").first.click()
    page.wait_for_selector(".dialogue")
    page.wait_for_load_state()  # before that, no script listens to the keys
    first = page.locator("h1").inner_text()
    assert first == "gsm8k-0101"
    assert page.locator("a[rel=prev]").count() == 0
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**at=2**")
    assert page.locator("h1").inner_text() != first
    page.keyboard.press("ArrowLeft")
    page.wait_for_url("**at=1*")
    assert page.locator("h1").inner_text() == first
    page.keyboard.press("j")
    page.wait_for_url("**at=2**")
    page.locator(".crumbs a").first.click()
    page.wait_for_url("**/episodes?**order=failures**")


def test_everything_can_still_be_listed(page: Any, site: Served) -> None:
    page.goto(f"{site.url}/episodes")
    page.select_option("select[name=set]", "all")
    page.wait_for_selector('#count[data-n="40"]')
    page.reload()
    assert page.locator("#count").get_attribute("data-n") == "40"
