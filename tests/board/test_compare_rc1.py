"""The board and RC1.html show the same numbers for the same files: right, figures, intervals and groups."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from askgate_env.types import Episode
from src.eval.metrics import figures
from src.eval.trial import SeedRun, TrialReport
from src.pages.rc1_report import HEADLINE, choose_pairs, rc1_page
from src.pages.render import one_language
from tests.board.small_run import Served, served, write_episodes
from tests.eval.test_trial import reported
from tests.pages.test_rc1_report import report, sample
from tests.poison.test_trial_poisons import BASE, GOOD, run

SEEDS = (9, 3)
"""Not in order, as a config may have them."""
STEPS = 40
WAIT_SECONDS = 60
"""Deadline for the figures, which are computed beside the requests."""


def of_seed(episodes: list[Episode], seed: int) -> list[Episode]:
    """The episodes of one seed; each seed gets others wrong."""
    return [
        replace(one, seed=seed, success=one.success and (place + seed) % 11 != 0) for place, one in enumerate(episodes)
    ]


@pytest.fixture(scope="module")
def trial() -> TrialReport:
    trained = run(**GOOD)
    return reported(*(SeedRun(seed, STEPS, of_seed(BASE, seed), of_seed(trained, seed), None) for seed in SEEDS))


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    trained = run(**GOOD)
    for seed in SEEDS:
        for step, episodes in ((0, BASE), (STEPS, trained)):
            write_episodes(tmp_path, f"logs/eval/seed_{seed}/step_{step:05d}.jsonl", of_seed(episodes, seed))
    write_episodes(tmp_path, "logs/eval/seed_9/control.jsonl", of_seed(BASE, 9))
    monkeypatch.chdir(tmp_path)
    with served(tmp_path) as found:
        found.update_indexes()
        yield found


def rows(html: str, kind: str) -> list[list[str]]:
    """Cells of a table of the board."""
    table = re.search(f'<table class="{kind}">.*?<tbody>(.*?)</tbody>', html, re.DOTALL)
    assert table is not None
    lines = re.findall("<tr>(.*?)</tr>", table[1], re.DOTALL)
    return [[text(cell) for cell in re.findall("<td>(.*?)</td>", line, re.DOTALL)] for line in lines]


def tiles(html: str) -> list[tuple[str, str, str, str]]:
    """Base, trained, change and interval of the tiles of RC1.html."""
    found = re.findall(r'<div class="tile">.*?<b>(.*?)</b>\s*<em>(.*?)</em>', html, re.DOTALL)
    parts = [re.fullmatch(r"(\S+) → (\S+?) (\S+)(?: points)? \((.*)\)", text(f"{b} {em}")) for b, em in found]
    return [(one[1], one[2].rstrip("%"), one[3], one[4]) for one in parts if one is not None]


def text(html: str) -> str:
    return unescape(" ".join(re.sub("<[^>]*>", "", html).split()))


def test_the_boards_first_comparison_has_the_numbers_of_rc1(site: Served, trial: TrialReport) -> None:
    page = site.get("/compare")[2]
    deadline = time.monotonic() + WAIT_SECONDS
    while 'class="moved"' not in page and time.monotonic() < deadline:
        time.sleep(0.2)
        page = site.get("/compare")[2]
    board = [(a.rstrip("%"), b.rstrip("%"), change, interval) for _, a, b, change, interval, _ in rows(page, "moved")]
    assert len(board) == len(HEADLINE)
    with one_language("en"):
        rc1 = rc1_page(report(evaluation=trial)).decode()
    assert board == tiles(rc1)


def test_the_page_in_a_browser_shows_the_tiles_of_rc1(page: Any, site: Served, trial: TrialReport) -> None:
    with one_language("en"):
        rc1 = tiles(rc1_page(report(evaluation=trial)).decode())
    page.goto(f"{site.url}/compare")
    page.locator(".moved tbody tr").first.wait_for()
    cells = [row.locator("td").all_inner_texts() for row in page.locator(".moved tbody tr").all()]
    assert [(one[1].rstrip("%"), one[2].rstrip("%"), one[3], one[4]) for one in cells] == rc1


def test_groups_of_one_seed_are_those_that_rc1_counts(site: Served) -> None:
    base, trained = of_seed(BASE, 9), of_seed(run(**GOOD), 9)
    counts = choose_pairs(base, trained, {one.sample_id: sample(one.sample_id) for one in base}, seed=9).counts
    sides = "&".join(
        f"{side}={site.board.names[0]}:logs/eval/seed_9/step_{step:05d}.jsonl"
        for side, step in (("a", 0), ("b", STEPS))
    )
    page = site.get(f"/compare?{sides}")[2]
    shown = [int(count.replace(",", "")) for count in re.findall(r"</?span[^>]*>|<b>([\d,]+)</b></a>", page) if count]
    assert shown[1:5] == list(counts.values())
    assert shown[0] == sum(counts.values())


def test_right_on_the_board_is_the_success_of_the_report(site: Served) -> None:
    lucky = [one for one in of_seed(BASE, 9) if one.needs_clarification and one.success and not one.received_info]
    assert lucky
    path = "logs/eval/seed_9/step_00000.jsonl"
    listed = site.get(f"/episodes?set={path}&sample={lucky[0].sample_id}")[2]
    assert "lucky guess" in listed
    right = sum(one.success for one in of_seed(BASE, 9))
    assert f'data-n="{right}"' in site.get(f"/part/episodes?set={path}&right=yes")[2]
    every = figures(of_seed(BASE, 9))["success"]
    with one_language("en"):
        line = text(site.get(f"/part/episodes?set={path}")[2].split("</p>")[0])
    share = f"{len(lucky) / every.n:.1%}"
    assert f"episodes: right {every.value:.1%} (lucky guesses among them {share})" in line
