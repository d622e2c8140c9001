"""The board in Chromium: lights, curves, filters, episodes, two runs. No script from a dialogue runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.board.small_run import (
    BASE,
    TRAINED,
    TRAINING,
    WAIT_MS,
    Served,
    episode,
    served,
    small_run,
    write_episodes,
    write_rounds,
    write_step,
)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    root = small_run(tmp_path / "run")
    monkeypatch.chdir(root)
    write_rounds()
    with served(root) as found:
        found.update_indexes()
        yield found


def test_a_failed_gate_turns_its_light_and_shows_evidence(page: Any, site: Served) -> None:
    page.goto(site.url)
    page.wait_for_selector(".round .lamp.green")
    assert page.locator(".round .lights .lamp.green").count() == 12
    write_rounds(failed="pool")
    page.wait_for_selector(".round .lamp.red")
    page.locator(".verdict", has_text="do not train").wait_for()
    page.locator(".round .lights .lamp.red").first.click()
    page.wait_for_url("**/light?round=1&of=data")
    assert "Pool: figure" in page.locator(".checks tr").nth(1).inner_text()
    assert "0.41" in page.locator(".checks tr").nth(1).inner_text()
    page.get_by_role("link", name="configs/weights.json").click()
    assert '"weights"' in page.locator("pre.file").inner_text()


def test_a_running_curve_grows(page: Any, site: Served) -> None:
    page.goto(site.url)
    picture = page.locator('svg[aria-label="Reward"] path.train')
    before = picture.get_attribute("d")
    assert "step 2" in page.locator("#steps").inner_text()
    write_step(Path(), 3)
    page.locator("#steps", has_text="step 3").wait_for()
    assert picture.get_attribute("d").count("L") == before.count("L") + 1


def test_an_episode_link_shows_the_whole_episode(page: Any, browser: Any, site: Served) -> None:
    long = "one word after the other " * 2000 + "THE END"
    write_episodes(Path(), f"{TRAINING}/step_00004.jsonl", [episode(1, success=False, text=long)])
    site.update_indexes()
    page.goto(f"{site.url}/episodes?step=4")
    page.locator(".episodes a").first.click()
    page.wait_for_selector(".turn.user")
    assert page.locator(".turn.user p").first.inner_text().endswith("THE END")
    assert "look it up first" in page.locator(".thought").first.inner_text()
    other = browser.new_page()
    other.goto(page.url)
    assert other.locator(".turn").count() == page.locator(".turn").count() == 4
    other.close()


def test_filters_apply_while_typing_and_change_the_address(page: Any, site: Served) -> None:
    page.goto(f"{site.url}/episodes?set={quote(BASE)}")
    assert page.locator(".episodes li").count() == 12
    page.select_option("select[name=asked]", "yes")
    page.wait_for_selector('#count[data-n="3"]')
    assert page.locator(".episodes li").count() == 3
    page.fill("input[name=q]", "Question 105")
    page.wait_for_selector('#count[data-n="1"]')
    page.wait_for_url(lambda url: "asked=yes" in url and "Question" in url)
    page.reload()
    assert page.locator(".episodes li").count() == 1
    assert page.locator("select[name=asked]").input_value() == "yes"
    assert page.locator("mark").first.inner_text() == "Question"


def test_two_runs_compare_on_the_same_samples(page: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = small_run(tmp_path / "one"), small_run(tmp_path / "other")
    write_episodes(other, TRAINED, [episode(n, success=n % 2 == 1) for n in range(100, 112)])
    monkeypatch.chdir(one)
    with served(one, other) as site:
        site.update_indexes()
        page.goto(f"{site.url}/compare?a={quote('one:' + TRAINED)}&b={quote('other:' + TRAINED)}")
        rows = page.locator(".moved tbody tr")
        assert "91.7%" in rows.nth(2).inner_text()
        assert "50.0%" in rows.nth(2).inner_text()
        page.get_by_role("link", name="Right before, wrong now").click()
        page.wait_for_selector('#kinds a[aria-current="page"]:has-text("Right before, wrong now")')
        # Six wrong answers instead of right ones; the two lucky guesses are right.
        assert page.locator(".pairs tbody tr").count() == 6
        page.locator(".pairs tbody a").first.click()
        page.wait_for_selector(".pair")
        sides = page.locator(".pair > section")
        assert sides.count() == 2
        assert "right" in sides.nth(0).locator(".chip").first.inner_text()
        assert "wrong" in sides.nth(1).locator(".chip").first.inner_text()


def test_new_sets_can_be_compared_after_a_reload(page: Any, site: Served) -> None:
    page.goto(f"{site.url}/compare")
    write_episodes(Path(), "logs/eval/seed_7/step_00009.jsonl", [episode(100, success=True)])
    for _ in range(WAIT_MS // 300):
        page.reload()
        if "step 9" in page.locator("#sides").inner_text():
            break
        page.wait_for_timeout(300)
    assert "step 9" in page.locator("#sides").inner_text()


def test_a_planted_script_does_not_run(page: Any, site: Served) -> None:
    planted = (
        "<script>window.ran=1</script><img src=x onerror=window.ran=1><svg onload=window.ran=1><a href='javascript:1'>x"
    )
    spoken = episode(1, success=True, text=planted)
    write_episodes(Path(), f"{TRAINING}/step_00005.jsonl", [spoken])
    site.update_indexes()
    file = quote(f"{TRAINING}/step_00005.jsonl")
    for path in (
        "/episodes?step=5", f"/episodes?q={quote(planted)}", f"/episode?file={file}&line=1&q=script",
        f"/file?path={file}", f"/pair?a=run:{TRAINING}&b=run:{TRAINING}&sample={spoken.sample_id}",
    ):  # fmt: skip
        page.goto(site.url + path)
        assert page.evaluate("window.ran") is None
        assert page.locator("main script, main img, main [onload], main a[href^=javascript]").count() == 0
        assert "<script>window.ran=1</script>" in page.locator("main").inner_text() or "q=" in path
    page.goto(f"{site.url}/episodes?step=5")
    page.select_option("select[name=right]", "yes")
    page.wait_for_selector('#count[data-n="1"]')
    assert page.evaluate("window.ran") is None


def test_dots_in_a_path_read_nothing(page: Any, site: Served, tmp_path: Path) -> None:
    (tmp_path / "secret.json").write_text("the key to everything")
    for path in ("/file?path=../secret.json", "/file?path=reports/../../secret.json", "/report?path=../secret.json"):
        answer = page.goto(site.url + path)
        assert answer.status == 404
        assert "the key to everything" not in page.content()


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("colours", ["light", "dark"])
def test_pages_fit_the_screen_in_both_colours(browser: Any, site: Served, width: int, colours: str) -> None:
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=colours)
    shown = (
        "/",
        "/episodes",
        "/compare",
        "/runs",
        "/chat",
        "/light?round=1&of=data",
        f"/episode?file={quote(BASE)}&line=1",
    )
    for path in shown:
        page.goto(site.url + path)
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, path
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, dark[4:-1].split(","))) < 200) == (colours == "dark")
    page.close()
