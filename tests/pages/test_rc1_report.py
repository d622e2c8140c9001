"""The RC1 report: verdict first, one file that loads nothing, escaped text, and episodes chosen by a fixed rule."""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest

from askgate_env.types import Episode, Hidden, Provenance, Sample, Turn
from src.config.profile import load_profile
from src.core.errors import BadInput
from src.core.files import sha256_file, write_json
from src.core.jsonl import write_records
from src.gates.ticket import ENVELOPE
from src.pages.rc1_report import (
    GROUPS,
    SHOWN,
    EpisodePair,
    EpisodesToRead,
    Rc1,
    VerdictPoint,
    choose_pairs,
    gather,
    rc1_page,
    verdict,
)
from src.pages.render import environment, one_language
from src.reward.shadow_run import ShadowPoint
from tests.eval.episodes import episode
from tests.eval.test_trial import CONTROL, one, reported
from tests.pages.test_trial import Closed

EVIL = "<script>alert(1)</script>"


def sample(identity: str, hidden: Hidden | None = None) -> Sample:
    return Sample(
        id=identity,
        task="hotpotqa",
        lang="en",
        prompt="the question",
        premise="",
        clue="",
        question="the question",
        original="the question",
        context=(),
        support=(),
        answer=f"gold {EVIL}",
        aliases=(),
        needs_clarification=hidden is not None,
        dialogue=(),
        provenance=Provenance("builtin", "shadow", identity, "t", "student", "casual", 1),
        hidden=hidden,
    )


def episode_pair(before: bool, after: bool, number: int) -> tuple[Episode, Episode]:
    name = f"s{number}"
    return episode(name, success=before), episode(name, success=after)


def held_out(gained: int, lost: int, right: int, wrong: int) -> tuple[list[Episode], list[Episode], dict[str, Sample]]:
    outcomes = [(False, True)] * gained + [(True, False)] * lost + [(True, True)] * right + [(False, False)] * wrong
    both = [episode_pair(*outcome, number) for number, outcome in enumerate(outcomes)]
    return [one for one, _ in both], [two for _, two in both], {one.sample_id: sample(one.sample_id) for one, _ in both}


def report(**more: Any) -> Rc1:
    facts: dict[str, Any] = {
        "ts": "2026-11-15T12:00:00+00:00",
        "version": "0.1.0",
        "profile": "quickstart",
        "passed": False,
        "colour": "red",
        "verdict": [VerdictPoint("Round 1", "第一轮", False, EVIL)],
        "run": "r1",
        "training_run": "20260101T000000000Z-0a1b",
        "ticket": "",
        "signed": False,
        "sign_offs": {},
        "models": {},
        "evaluation": None,
        "training": [],
        "held_out": [],
        "calibration": None,
        "shadow": None,
        "shadow_points": [],
        "ablation": None,
        "pool": None,
        "difficulty": None,
        "rounds": [],
        "fingerprints": {},
        "commit": "",
        "reading": None,
        "reproduce": ["askgate verify --deep"],
    }
    return Rc1(**{**facts, **more})


def test_each_outcome_group_is_shown_equally_in_fixed_order() -> None:
    found = choose_pairs(*held_out(30, 8, 40, 22), seed=1)
    assert [one.group for one in found.pairs] == [name for name in GROUPS for _ in range(SHOWN // 4)]
    assert found.counts == {"gained": 30, "lost": 8, "both_right": 40, "both_wrong": 22}
    gained = sorted((f"s{number}" for number in range(30)), key=lambda name: sha256(name.encode()).hexdigest())
    assert [one.base.sample_id for one in found.pairs[:5]] == gained[:5]


def test_the_order_of_episodes_changes_nothing() -> None:
    base, trained, samples = held_out(9, 9, 9, 9)
    assert choose_pairs(base[::-1], trained, samples, 1).pairs == choose_pairs(base, trained[::-1], samples, 1).pairs


def test_other_groups_fill_up_a_small_one() -> None:
    found = choose_pairs(*held_out(0, 2, 40, 0), seed=1)
    assert len(found.pairs) == SHOWN
    assert sum(one.group == "lost" for one in found.pairs) == 2
    assert len(choose_pairs(*held_out(1, 1, 1, 1), seed=1).pairs) == 4


def test_a_lucky_guess_counts_as_right_in_the_groups_too() -> None:
    base = [episode("s", needs=True, asks=0, success=True)]
    trained = [episode("s", needs=True, asks=1, success=True)]
    assert choose_pairs(base, trained, {"s": sample("s")}, 1).pairs[0].group == "both_right"


def test_episodes_of_other_samples_are_refused() -> None:
    base, trained, samples = held_out(2, 0, 0, 0)
    with pytest.raises(BadInput, match="not in all of"):
        choose_pairs(base, trained[1:], samples, 1)


def reading() -> EpisodesToRead:
    hidden = Hidden("entity", "x", f"which {EVIL}", ("x",))
    first = episode("s", needs=True, asks=1)
    turns = (Turn("user", "say", EVIL), Turn("assistant", "ask", EVIL, thought=EVIL), Turn("tool", "result", EVIL))
    evil = msgspec.structs.replace(first, turns=turns, reward={"outcome": 1.0, "overclar": -0.07, EVIL: 0.2})
    pair = EpisodePair("gained", EVIL, sample("s", hidden).hidden.missing, first, evil)  # type: ignore[union-attr]
    return EpisodesToRead("rule", "规则", 1, dict.fromkeys(GROUPS, 1), [pair])


def test_the_report_escapes_data_and_loads_nothing() -> None:
    page = rc1_page(report(reading=reading(), evaluation=reported(one(control=CONTROL)), commit=EVIL)).decode()
    assert "<script" not in page
    assert page.count("&lt;script&gt;") >= 7
    assert not re.search(r"src=|url\(|@import|https?://", page)
    assert all(link.startswith("#") for link in re.findall(r'href="([^"]*)"', page))
    assert "default-src 'none'" in page
    closed = Closed()
    closed.feed(page.replace("<rect", "<line").replace("</rect>", "").replace("</path>", ""))
    assert closed.open == []


def test_the_report_says_where_no_control_was_measured() -> None:
    without, beside = (rc1_page(report(evaluation=reported(run))).decode() for run in (one(), one(control=CONTROL)))
    assert without.count("No SFT control was measured") == 1
    assert "No SFT control was measured" not in beside


def test_the_page_shows_every_setting_of_the_training() -> None:
    trial = reported(one())
    nested = {**trial.config, "lr": 1.5e-05, "finetune": {"method": "qlora", "targets": [EVIL]}}
    page = rc1_page(report(evaluation=msgspec.structs.replace(trial, config=nested))).decode()
    assert "<code>lr</code></td><td>1.5e-05</td>" in page
    assert "<code>finetune.method</code></td><td>qlora</td>" in page
    assert "<script" not in page


def test_an_unverified_signature_is_not_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_json(ENVELOPE, {"payload": "", "signatures": []})
    profile = load_profile("quickstart").model_copy(update={"owner_key": Path("owner.pub")})
    assert not gather(profile, None, [], []).signed


def test_every_link_has_a_target() -> None:
    page = rc1_page(report(evaluation=reported(one()))).decode()
    for name in re.findall(r'href="#([^"]*)"', page):
        assert f'id="{name}"' in page


def test_reward_terms_add_up() -> None:
    page = rc1_page(report(reading=reading())).decode()
    for cell in (
        "<td>outcome</td><td>+1.000</td>",
        "<td>overclar</td><td>-0.070</td>",
        "合计</span></td><td>+1.130</td>",
    ):
        assert cell in page


def test_the_verdict_is_first_and_unmeasured_parts_say_so() -> None:
    page = rc1_page(report()).decode()
    assert page.index("NOT PASSED") < page.index("<section")
    for words in ("No trained policy has been evaluated", "not been calibrated", "no shadow run", "No round"):
        assert words in page
    assert "✓ PASSED" in rc1_page(report(passed=True, colour="green")).decode()
    waiting = rc1_page(report(colour="amber")).decode()
    assert "! AMBER, to be signed off" in waiting
    assert "NOT PASSED" not in waiting


def test_pictures_show_every_value() -> None:
    svg = environment().globals["svg"]
    dots = svg.scatter([ShadowPoint(0.2, 0.4, True, True), ShadowPoint(0.6, 0.3, False, False)])
    assert dots.count("<circle") == 1
    assert dots.count('class="lost"') == 1
    assert (svg.scatter([]) + svg.bars("x", []) + svg.weights({})).count("no figures") == 3
    assert svg.bars("x", [("a", 0.7), ("b", 0.5)], {"b": 0.1}, least=0.6).count("<rect") == 3
    weight = {"value": 0.3, "low": 0.2, "high": 0.4, "old": 0.0}
    assert svg.weights({"grounding": weight}).count("<circle") == 2


def test_an_empty_run_folder_passes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = gather(load_profile("quickstart"), None, [], [])
    assert not found.passed
    assert not any(point.passed for point in found.verdict)
    assert all(point.genuine for point in found.verdict), "what has not happened is not a forgery"
    rc1_page(found)


def test_a_handwritten_round_is_not_genuine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_json(Path("reports/preflight/round1.json"), {"round": "round1", "pass": True})
    points = {point.name: point for point in verdict("quickstart", reported(one()))}
    assert not points["Round 1"].passed
    assert not points["Round 1"].genuine
    assert not points["Evidence"].passed
    assert "no ticket" in points["Trained with this ticket"].text


def test_episodes_changed_since_evaluation_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    base, trained, samples = held_out(3, 2, 2, 1)
    files = {Path("logs/eval/step_00000.jsonl"): base, Path("logs/eval/step_00040.jsonl"): trained}
    files[Path("shadow.jsonl")] = list(samples.values())  # type: ignore[assignment]
    Path("logs/eval").mkdir(parents=True)
    for path, records in files.items():
        with open(path, "wb") as handle:
            write_records(handle, records)
    found = reported(one())
    proof = msgspec.structs.replace(found.evidence, inputs={str(path): sha256_file(path) for path in files})
    evaluation = Path("reports/ppo_eval_x.json")
    write_json(
        evaluation,
        msgspec.structs.replace(found, evidence=proof, config={**found.config, "shadow_set": "shadow.jsonl"}),
    )
    reading = gather(load_profile("quickstart"), evaluation, [], []).reading
    assert reading is not None
    assert len(reading.pairs) == 8
    with open("logs/eval/step_00040.jsonl", "ab") as handle:
        handle.write(b"\n")
    with pytest.raises(BadInput, match=r"step_00040.jsonl: has changed since it was evaluated"):
        gather(load_profile("quickstart"), evaluation, [], [])


def test_the_report_shows_the_policy_after_the_warm_start() -> None:
    before, after = reported(one()), reported(msgspec.structs.replace(one(), warm_start=CONTROL))
    assert after.pooled.changes is not None
    assert after.pooled.warm_start_changes is not None
    change, sft = after.pooled.changes["need_ask_success"], after.pooled.warm_start_changes["need_ask_success"]
    values = [f"{100 * (value or 0):.1f}" for value in (change.base.value, sft.trained.value, change.trained.value)]
    with one_language("en"):
        page, plain = (rc1_page(report(evaluation=trial)).decode() for trial in (after, before))
    assert "<i>{} → {} →</i> {}%".format(*values) in page
    assert "from {}% ({}% after the warm start, SFT) to {}%".format(*values) in page
    assert "after the warm start" not in plain


def test_tables_by_task_have_labels_and_not_names_of_figures() -> None:
    page = rc1_page(report(evaluation=reported(one()))).decode()
    assert "question_recall_easy" not in page
    assert "ask_precision_gsm8k" not in page
