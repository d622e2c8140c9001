"""For every gate of `validate_pool`, an input that it must reject and the honest pool that it must accept."""

from __future__ import annotations

import json
import re
from pathlib import Path
from random import Random

import pytest
from msgspec.structs import replace

from askgate_env.tools import wiki
from askgate_env.types import Sample, Turn
from src.core.errors import BadInput
from src.core.files import shipped
from src.data.pool.build import build_pool
from src.data.pool.meta import read_meta
from tests.data.samples import write_meta

from .conftest import PLAN, Honest, failed, forge, judge
from .table import poison, twin

GATES = {
    *("distinct2", "kl3", "roles", "styles", "dup_pct", "len_min", "len_max", "mix", "shortcut_auc", "consistency"),
    *("clarify_rate", "rebuilt", "leak_similar", "leak_source_ids", "shortcut_observation"),
}
"""Every gate; each has a poison below."""


@twin("pool")
def test_the_honest_pool_is_accepted(honest: Honest) -> None:
    report = judge(honest.pool, honest.shadow, shortcuts=True)
    assert report.passed, [one for one in report.checks if not one.passed]
    assert {one.name.split("[")[0] for one in report.checks} >= GATES


@poison("pool/kl3")
def test_pack_v1_declared_as_v2_fails_on_kl(honest: Honest, tmp_path: Path) -> None:
    pool = tmp_path / "v1.jsonl"
    meta = build_pool(replace(PLAN, templates_dir=Path("templates/pack_v1")), pool)
    write_meta(
        pool, replace(meta, templates_dir="templates/pack_v2", templates_sha256=read_meta(honest.pool).templates_sha256)
    )
    assert "kl3" in failed(judge(pool, honest.shadow))


@poison("pool/kl3")
def test_pack_v1_with_another_seed_declared_as_v2_fails(honest: Honest, tmp_path: Path) -> None:
    pool = tmp_path / "v1.jsonl"
    meta = build_pool(replace(PLAN, templates_dir=Path("templates/pack_v1"), seed=8), pool)
    write_meta(pool, replace(meta, seed=PLAN.seed, templates_dir="templates/pack_v2"))
    assert "kl3" in failed(judge(pool, honest.shadow))


@poison("pool/distinct2", "pool/roles", "pool/styles")
def test_a_pool_with_one_template_fails_on_distinct2(honest: Honest, tmp_path: Path) -> None:
    pack = tmp_path / "pack"
    pack.mkdir()
    for file in shipped(PLAN.templates_dir).glob("*.json"):
        templates = json.loads(file.read_text(encoding="utf-8"))
        first = {one["lang"]: one for one in reversed(templates)}
        single = [
            {name: value[-1:] if isinstance(value, list) else value for name, value in one.items()}
            for one in first.values()
        ]
        (pack / file.name).write_text(json.dumps(single), encoding="utf-8")
    pool = tmp_path / "pool.jsonl"
    build_pool(replace(PLAN, templates_dir=pack), pool)
    assert {"distinct2", "roles", "styles"} <= failed(judge(pool, honest.shadow))


@poison("pool/shortcut_auc")
def test_vague_words_for_hidden_spans_fail_on_shortcut(honest: Honest, tmp_path: Path) -> None:
    def mark(sample: Sample) -> Sample:
        if not sample.needs_clarification:
            return sample
        prompt = f"{sample.prompt} (some)"
        return replace(sample, prompt=prompt, dialogue=(replace(sample.dialogue[0], text=prompt), *sample.dialogue[1:]))

    pool = forge(honest, tmp_path, lambda samples: [mark(sample) for sample in samples])
    report = judge(pool, honest.shadow, shortcuts=True)
    assert failed(report) == {"shortcut_auc"}
    caught = {one.name for one in report.checks if not one.passed}
    assert {"shortcut_auc[hotpotqa]", "shortcut_auc[strategyqa]", "shortcut_auc[gsm8k]"} <= caught


@poison("pool/shortcut_observation")
def test_brackets_only_on_ambiguous_samples_fail_on_observation(honest: Honest, tmp_path: Path) -> None:
    """Titles in brackets are taken out of the replies of complete samples, as if only the others had namesakes."""

    def plain(sample: Sample) -> Sample:
        if sample.needs_clarification or sample.task == "gsm8k":
            return sample

        def bare(text: str) -> str:
            return re.sub(r" ?[(（][^)）]*[)）]", "", text)

        context = tuple(replace(one, title=bare(one.title)) for one in sample.context)
        turns = []
        for turn in sample.dialogue:
            turn = replace(turn, text=bare(turn.text)) if turn.tool == "wiki" and turn.act == "call" else turn
            result = turn.act == "result" and turn.tool == "wiki"
            turns.append(replace(turn, text=wiki(context, turns[-1].text)) if result else turn)
        return replace(sample, context=context, dialogue=tuple(turns))

    report = judge(
        forge(honest, tmp_path, lambda samples: [plain(sample) for sample in samples]), honest.shadow, shortcuts=True
    )
    caught = {one.name for one in report.checks if not one.passed}
    assert {"shortcut_observation[hotpotqa]", "shortcut_observation[strategyqa]"} <= caught


@poison("pool/shortcut_auc", "pool/clarify_rate")
def test_a_pool_that_never_needs_an_ask_fails(honest: Honest, tmp_path: Path) -> None:
    pool = tmp_path / "pool.jsonl"
    meta = build_pool(replace(PLAN, clarify_rate=0.0), pool)
    write_meta(pool, replace(meta, clarify_rate=0.30))
    assert {"shortcut_auc", "clarify_rate"} <= failed(judge(pool, honest.shadow, shortcuts=True))


@poison("pool/rebuilt")
def test_a_sidecar_that_claims_too_few_ambiguous_records_fails(honest: Honest, tmp_path: Path) -> None:
    """With fewer than 20 ambiguous samples no shortcut is measured, so the claim itself must be true."""
    pool = tmp_path / "pool.jsonl"
    meta = build_pool(replace(PLAN, clarify_rate=0.0), pool)
    missing = {task: round(0.30 * meta.n * share) for task, share in meta.mix.items()}
    write_meta(pool, replace(meta, clarify_rate=0.30, fewer_ambiguous=missing))
    caught = {one.name for one in judge(pool, honest.shadow, shortcuts=True).checks if not one.passed}
    assert "rebuilt" in caught


@poison("pool/dup_pct")
def test_near_duplicates_of_two_and_a_half_percent_fail(honest: Honest, tmp_path: Path) -> None:
    def copies(samples: list[Sample]) -> list[Sample]:
        rng = Random(1)
        long = [sample for sample in samples if len(sample.prompt.split()) > 25]
        extra = []
        for number, sample in enumerate(rng.sample(long, round(0.026 * len(samples)))):
            prompt = sample.prompt + " Thanks!"
            extra.append(
                replace(
                    sample,
                    id=f"{sample.task}-copy{number}",
                    prompt=prompt,
                    dialogue=(replace(sample.dialogue[0], text=prompt), *sample.dialogue[1:]),
                )
            )
        return samples + extra

    assert failed(judge(forge(honest, tmp_path, copies), honest.shadow)) == {"dup_pct"}


def admitted(sample: Sample) -> Sample:
    """A held-out sample that is marked as a sample of the pool."""
    return replace(sample, provenance=replace(sample.provenance, split="train"))


@poison("pool/leak_similar", "pool/leak_source_ids")
def test_a_shadow_sample_copied_in_fails_on_leak(honest: Honest, tmp_path: Path) -> None:
    pool = forge(honest, tmp_path, lambda samples: [*samples, admitted(honest.held_out()[0])])
    assert failed(judge(pool, honest.shadow)) == {"leak_similar", "leak_source_ids"}


@poison("pool/leak_similar")
def test_a_slightly_changed_shadow_sample_fails_on_leak(honest: Honest, tmp_path: Path) -> None:
    victim = next(s for s in honest.held_out() if s.lang == "en" and len(s.prompt.split()) > 35)
    words = victim.prompt.split()
    for place in (4, 15, 27):
        words[place] = "indeed"
    prompt = " ".join(words)
    copy = replace(
        victim,
        id="gsm8k-innocent",
        prompt=prompt,
        premise="",
        clue="",
        question=prompt,
        original=" ".join(words[2:]) + (f" {victim.hidden.span}" if victim.hidden else ""),
        dialogue=(replace(victim.dialogue[0], text=prompt), *victim.dialogue[1:]),
        provenance=replace(victim.provenance, source_id="builtin:new", split="train"),
    )
    assert failed(judge(forge(honest, tmp_path, lambda samples: [*samples, copy]), honest.shadow)) == {"leak_similar"}


@poison("pool/leak_source_ids")
def test_a_reworded_shadow_sample_fails_on_its_source(honest: Honest, tmp_path: Path) -> None:
    samples, victim = honest.samples(), honest.held_out()[0]
    donor = next(s for s in samples if s.task == victim.task and s.lang == victim.lang)
    copy = replace(donor, id=f"{donor.task}-again", provenance=admitted(victim).provenance)
    pool = forge(honest, tmp_path, lambda found: [one for one in found if one.id != donor.id] + [copy])
    assert failed(judge(pool, honest.shadow)) == {"leak_source_ids"}


@poison("pool/mix")
def test_a_wrong_mix_fails(honest: Honest, tmp_path: Path) -> None:
    def without_sums(samples: list[Sample]) -> list[Sample]:
        sums = [sample for sample in samples if sample.task == "gsm8k"]
        gone = {sample.id for sample in sums[: len(sums) // 3]}
        return [sample for sample in samples if sample.id not in gone]

    assert failed(judge(forge(honest, tmp_path, without_sums), honest.shadow)) == {"mix"}


@poison("pool/roles", "pool/styles")
def test_one_role_and_one_register_fail(honest: Honest, tmp_path: Path) -> None:
    def same_voice(sample: Sample) -> Sample:
        return replace(sample, provenance=replace(sample.provenance, role="student", register="casual"))

    pool = forge(honest, tmp_path, lambda samples: [same_voice(sample) for sample in samples])
    assert failed(judge(pool, honest.shadow)) == {"roles", "styles"}


@poison("pool/len_max", "pool/len_min")
def test_a_sample_too_long_or_too_short_fails(honest: Honest, tmp_path: Path) -> None:
    def stretch(samples: list[Sample]) -> list[Sample]:
        # A page that nobody opens: a search shows only its first sentence, so that all tool results stay true.
        at, place = next(
            (at, place)
            for at, sample in enumerate(samples)
            for place, page in enumerate(sample.context)
            if page.title not in {turn.text for turn in sample.dialogue if turn.act == "call"}
        )
        pages = list(samples[at].context)
        pages[place] = replace(pages[place], sentences=(*pages[place].sentences, "word " * 4_200))
        return [*samples[:at], replace(samples[at], context=tuple(pages)), *samples[at + 1 :]]

    def shrink(samples: list[Sample]) -> list[Sample]:
        first = next(sample for sample in samples if not sample.needs_clarification)
        prompt = "Well?"
        short = replace(
            first,
            prompt=prompt,
            premise="",
            clue="",
            question=prompt,
            context=(),
            dialogue=(Turn("user", "say", prompt), Turn("assistant", "answer", first.answer)),
        )
        return [short, *(sample for sample in samples if sample.id != first.id)]

    assert failed(judge(forge(honest, tmp_path, stretch), honest.shadow)) == {"len_max"}
    assert failed(judge(forge(honest, tmp_path, shrink), honest.shadow)) == {"len_min"}


@poison("pool/consistency")
def test_samples_that_contradict_themselves_fail(honest: Honest, tmp_path: Path) -> None:
    def wrong_answer(samples: list[Sample]) -> list[Sample]:
        first = samples[0]
        return [replace(first, answer=first.answer + "7"), *samples[1:]]

    def told_anyway(samples: list[Sample]) -> list[Sample]:
        first = next(sample for sample in samples if sample.hidden is not None)
        assert first.hidden is not None
        prompt = f"{first.prompt} {first.hidden.span}"
        told = replace(first, prompt=prompt, dialogue=(replace(first.dialogue[0], text=prompt), *first.dialogue[1:]))
        return [told, *(sample for sample in samples if sample.id != first.id)]

    def in_persona(samples: list[Sample]) -> list[Sample]:
        first = samples[0]
        last = replace(first.dialogue[-1], thought="Anchors down, matey.")
        return [replace(first, dialogue=(*first.dialogue[:-1], last)), *samples[1:]]

    def asked_at_once(samples: list[Sample]) -> list[Sample]:
        first = next(sample for sample in samples if sample.hidden is not None)
        at = next(place for place, turn in enumerate(first.dialogue) if turn.act == "ask")
        said = first.dialogue
        early = replace(first, dialogue=(said[0], *said[at : at + 2], *said[1:at], *said[at + 2 :]))
        return [early, *(sample for sample in samples if sample.id != first.id)]

    for change in (wrong_answer, told_anyway, in_persona, asked_at_once):
        assert failed(judge(forge(honest, tmp_path, change), honest.shadow)) == {"consistency"}


@poison("pool/measured")
def test_a_pool_changed_after_it_was_built_is_refused(honest: Honest, tmp_path: Path) -> None:
    pool = forge(honest, tmp_path, lambda samples: samples)
    with open(pool, "ab") as handle:
        handle.write(pool.read_bytes().splitlines()[0].replace(b'"id":"', b'"id":"x') + b"\n")
    with pytest.raises(BadInput, match="changed"):
        judge(pool, honest.shadow)


@poison("pool/rebuilt")
def test_consistent_samples_that_the_builder_never_made_fail(honest: Honest, tmp_path: Path) -> None:
    """All gold answers are wrong; demonstrations and sidecar were made to agree with them."""

    def misled(sample: Sample) -> Sample:
        last = replace(sample.dialogue[-1], text="42")
        return replace(sample, answer="42", dialogue=(*sample.dialogue[:-1], last))

    report = judge(
        forge(honest, tmp_path, lambda samples: [misled(sample) for sample in samples]), honest.shadow, shortcuts=True
    )
    assert {one.name for one in report.checks if not one.passed} == {"rebuilt"}


@pytest.mark.parametrize("facts", [{"tools": ()}, {"langs": ("zh",)}, {"seed": 99}, {"paraphrase": 0.9}])
@poison("pool/rebuilt", "pool/consistency")
def test_a_sidecar_of_another_pool_fails(honest: Honest, tmp_path: Path, facts: dict[str, object]) -> None:
    report = judge(forge(honest, tmp_path, lambda samples: samples, **facts), honest.shadow)
    assert {"rebuilt", "consistency"} & {one.name for one in report.checks if not one.passed}


@poison("pool/mix", "pool/clarify_rate")
def test_an_edited_mix_or_clarify_rate_fails(honest: Honest, tmp_path: Path) -> None:
    mix = {"hotpotqa": 0.25, "strategyqa": 0.30, "gsm8k": 0.45}
    for facts, gate in (({"mix": mix}, "mix"), ({"clarify_rate": 0.0}, "clarify_rate")):
        assert gate in failed(judge(forge(honest, tmp_path, lambda samples: samples, **facts), honest.shadow))


@poison("pool/measured")
def test_a_pool_is_no_shadow_set(honest: Honest) -> None:
    with pytest.raises(BadInput, match="not a shadow set"):
        judge(honest.pool, honest.pool)


@poison("pool/leak_similar")
def test_shadow_prompts_inside_longer_prompts_fail_on_leak(honest: Honest, tmp_path: Path) -> None:
    """Each prompt is followed by sixty other words, and nothing else shows where it came from."""
    words = " ".join(sample.prompt for sample in honest.samples() if sample.lang == "en").split()
    copies = []
    for number, victim in enumerate(honest.held_out()[:39]):
        prompt = " ".join([victim.prompt, *words[60 * number : 60 * (number + 1)]])
        copies.append(
            replace(
                victim,
                id=f"{victim.task}-wrapped-{number}",
                prompt=prompt,
                original=" ".join(words[-60 * (number + 1) :][:30]),
                dialogue=(replace(victim.dialogue[0], text=prompt), *victim.dialogue[1:]),
                provenance=replace(victim.provenance, source_id=f"builtin:new-{number}", split="train"),
            )
        )
    report = judge(forge(honest, tmp_path, lambda samples: samples + copies), honest.shadow)
    checks = {check.name: check for check in report.checks}
    assert checks["leak_similar"].value == 39
    assert checks["leak_source_ids"].passed
