"""`askgate demo`: two policies on the same samples, in the terminal and as a page; nothing is hard-coded."""

from __future__ import annotations

import io
import re
from functools import partial
from pathlib import Path

import pytest
import torch
from msgspec.structs import replace
from rich.console import Console

from askgate_env.types import TASKS, Lang
from src.agents.trajectory import Job
from src.chat.demo import MAX_TURNS, SAMPLES, SEED, Demo, Side, first_gain, run_demo, shown_indices
from src.chat.policies import open_policy
from src.chat.samples import held_out_samples
from src.cli.chat import _print_pair
from src.cli.dialogue import DialoguePrinter, result_rows
from src.pages.render import POLICY
from src.runtime.progress import Reporter
from tests.chat.pseudo_terminal import in_terminal, plain
from tests.conftest import Askgate
from tests.pages.test_trial import Closed

ROOT = Path(__file__).resolve().parents[2]
TINY, TRAINED = Path("models/tiny"), Path("models/tiny-trained")
FEWER = 24
"""Samples of the demos here. The command's own number is seen in a terminal."""


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def forgetful(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The base with noise in its weights: another policy, and certainly no better one."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = tmp_path_factory.mktemp("models") / "forgetful"
    model = AutoModelForCausalLM.from_pretrained(ROOT / TINY)
    torch.manual_seed(0)
    with torch.no_grad():
        for weight in model.parameters():
            weight += 0.05 * torch.randn_like(weight)
    model.half().save_pretrained(folder)
    AutoTokenizer.from_pretrained(ROOT / TINY).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def made(forgetful: Path) -> Demo:
    return run_demo(TINY, forgetful, "en", Reporter(), n=FEWER)


def test_counts_are_those_of_the_episodes(made: Demo) -> None:
    for side in made.sides.values():
        counts, lacking = side.counts(), [one for one in side.episodes if one.needs_clarification]
        assert counts["right"] == (sum(one.success for one in side.episodes), FEWER)
        assert counts["need_ask_success"] == (sum(one.need_ask_success for one in lacking), len(lacking))
        complete = [one for one in side.episodes if not one.needs_clarification]
        assert counts["overclar_rate"] == (sum(one.asks > 0 for one in complete), len(complete))
    base, trained = made.sides.values()
    assert base.counts() != trained.counts(), "measured, not written down"
    assert base.counts()["right"][0] > trained.counts()["right"][0]


def test_a_lucky_guess_is_a_success_and_says_so(made: Demo) -> None:
    base = made.sides["base"]
    lucky = [replace(one, success=True, received_info=False) for one in base.episodes if one.needs_clarification]
    assert Side(base.model, lucky).counts()["right"] == (len(lucky), len(lucky))
    ((_, shown),) = result_rows(lucky[0], "en")
    assert shown.plain.startswith("✓ right · lucky guess · ")


def test_only_the_chosen_sample_depends_on_the_policies(made: Demo) -> None:
    kinds = [(made.samples[at].task, made.samples[at].needs_clarification) for at in made.shown]
    assert kinds == [(task, needs) for task in TASKS for needs in (True, False)]
    assert made.shown == shown_indices(held_out_samples(FEWER, "en", 17))
    assert {one.provenance.split for one in made.samples} == {"shadow"}


def test_only_the_trained_policy_solves_the_chosen_sample_by_asking(made: Demo) -> None:
    failed = [replace(one, success=False) for one in made.sides["base"].episodes]
    index = next(index for index, one in enumerate(failed) if one.needs_clarification)
    solved = [*failed[:index], replace(failed[index], success=True, received_info=True), *failed[index + 1 :]]
    assert first_gain(failed, solved) == index
    assert first_gain(solved, solved) is None
    assert first_gain(failed, failed) is None


def test_the_page_and_the_terminal_show_both_policies(
    askgate: Askgate, forgetful: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("src.chat.demo.run_demo", partial(run_demo, n=FEWER))
    done = askgate("demo", "--trained", forgetful, "--lang", "zh")
    assert done.code == 0, done.err
    counts = re.findall(r"(\d+)/(\d+)\s+(\d+)/(\d+)$", done.out, flags=re.M)
    lacking = sum(sample.needs_clarification for sample in held_out_samples(FEWER, "zh", 17))
    assert [(row[1], row[3]) for row in counts] == [(str(n), str(n)) for n in (FEWER, lacking, FEWER - lacking)]
    assert done.out.count("标准答案") == 6
    page = Path("reports/demo.html").read_text(encoding="utf-8")
    assert "askgate quickstart" not in done.out + page, "the user has trained one already"
    assert page.count("<section><h3>") == 12
    assert all(f"{a}/{b} →</i> {c}/{d}" in page for a, b, c, d in counts)
    assert str(forgetful) in page
    assert not re.search(r"(src|href)=|url\(|@import|<script", page)
    assert POLICY in page
    closed = Closed()
    closed.feed(page)
    assert closed.open == []


@pytest.mark.parametrize(("columns", "beside"), [(80, False), (140, True)])
def test_a_wide_terminal_shows_them_side_by_side(columns: int, beside: bool, made: Demo) -> None:
    printer = DialoguePrinter("en")
    printer.console = Console(file=io.StringIO(), force_terminal=True, width=columns)
    _print_pair(made, 0, printer)
    lines = plain(printer.console.file.getvalue()).splitlines()  # type: ignore[attr-defined]
    assert any("base models/tiny" in line and "trained /" in line for line in lines) == beside
    assert max(map(len, lines)) <= columns


def test_the_command_shows_its_samples_in_a_terminal(tmp_path: Path) -> None:
    code, out = in_terminal(["demo", "--trained", "models/tiny"], 140, folder=tmp_path)
    assert code == 0, out
    lines = plain(out)[plain(out).index("1/6") :].splitlines()  # what comes before are progress bars
    assert any("base models/tiny" in line and "trained models/tiny" in line for line in lines)
    assert any(f"/{SAMPLES} " in line for line in lines)
    assert (tmp_path / "reports/demo.html").exists()


def test_without_the_trained_model_it_says_what_to_run(askgate: Askgate, tmp_path: Path) -> None:
    done = askgate("demo", "--trained", tmp_path / "none")
    assert done.code == 2
    assert "askgate quickstart" in done.err
    assert "askgate demo --trained" in done.err.replace("\n", " ")


def test_a_side_without_samples_of_a_kind_counts_none(made: Demo) -> None:
    complete = [one for one in made.sides["base"].episodes if not one.needs_clarification]
    assert Side(TINY, complete).counts()["need_ask_success"] == (0, 0)


@pytest.mark.parametrize(
    ("page", "lang", "speakers"),
    [("README.md", "en", ("user", "before", "after")), ("README.zh-CN.md", "zh", ("用户", "训练前", "训练后"))],
)
def test_the_readmes_show_what_the_shipped_models_do(page: str, lang: Lang, speakers: tuple[str, str, str]) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    shown = re.search("```\n{}(.+?)\n{}(.+?)\n{}(.+?)\n```".format(*speakers), text, re.S)
    assert shown
    prompt = " ".join(shown[1].split())
    (sample,) = [one for one in held_out_samples(SAMPLES, lang, SEED) if one.prompt == prompt]
    for model, dialogue in zip((TINY, TRAINED), shown.groups()[1:], strict=True):
        with open_policy(str(model)) as policy:
            (episode,) = policy.rollout([Job(sample, seed=SEED)], MAX_TURNS)
        acts = [(turn.tool or turn.act, turn.text) for turn in episode.turns if turn.by == "assistant"]
        assert acts == re.findall(r"<(\w+)> (.+?)(?=  |$)", dialogue, re.M), model
