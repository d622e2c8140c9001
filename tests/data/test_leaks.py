"""A shadow question in the pool is detected, reworded or not; an honest similar question is not flagged."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import numpy as np
import pytest
from msgspec.structs import replace

from askgate_env.types import Sample, Turn
from src.core.jsonl import read_records
from src.data.pool.build import build_pool
from src.data.pool.plan import BuildPlan
from src.data.pool.shadow_set import materialize_shadow
from src.data.quality.leaks import SimilarSamples, demonstration_leaks, similar_samples
from src.data.quality.rarity import UniquePart
from src.data.quality.token_stream import TokenStream, token_stream
from tests.data.worded_samples import HAN, V2, word, wordy

N, THRESHOLD = 5, 0.85


def likeness(pool: list[str], shadow: list[str]) -> SimilarSamples:
    return similar_samples((token_stream(pool),), (token_stream(shadow),), N, THRESHOLD)


def views(samples: list[Sample]) -> tuple[TokenStream, TokenStream]:
    return token_stream([one.prompt for one in samples]), token_stream([one.original for one in samples])


def with_new_words(text: str, count: int, rng: Random) -> str:
    """Inserts words that the pool does not have at random positions; names and numbers stay."""
    parts = text.split()
    plain = [place for place, part in enumerate(parts) if part.isalpha() and part.islower()]
    for place in rng.sample(plain, count):
        parts[place] = "x" + word(rng)
    return " ".join(parts)


def with_new_characters(text: str, count: int, rng: Random) -> str:
    parts = list(text)
    for place in rng.sample([place for place, part in enumerate(parts) if "\u4e00" <= part <= "\u9fff"], count):
        parts[place] = rng.choice(HAN)
    return "".join(parts)


def english(count: int, seed: int) -> list[str]:
    return [sample.original for sample in wordy(2 * count, V2, seed) if sample.lang == "en"][:count]


def test_honest_siblings_of_the_same_generator_are_no_leak() -> None:
    pool, shadow = wordy(3_000, V2, seed=1), wordy(200, V2, seed=2)
    found = similar_samples(views(pool), views(shadow), N, THRESHOLD)
    assert found.count == 0
    assert found.examples == []


def test_a_short_question_about_another_name_is_no_leak() -> None:
    """Of the eight rarest bigrams of so short a question only two are of its name."""
    pool = [sample.original for sample in wordy(3_000, V2, seed=1)]
    question = "{}镇的镇长是哪年出生的？"
    names = [HAN[place] + HAN[place - step] for step in (1, 2) for place in range(2, len(HAN))]
    pool += [question.format(name) for name in names]
    shadow = [question.format(HAN[0] + HAN[-1])]
    assert likeness(pool, shadow).count == 0
    assert len(pool) in likeness([*pool, f"想问问{shadow[0]}"], shadow).matches


OPENER = "I'm trying to find something out about {}'s mayor."
SEARCHED = (
    "I could not find it in the archive or in any of the books that they have there, and nobody at the desk knew."
)
THANKS = "Thank you very much in advance for any help with this, and please take all the time that you need for it."
SIBLING = f"{OPENER} In {{}} year did the mayor pass away? {SEARCHED} {THANKS}"


@pytest.fixture(scope="module")
def with_rare_wording() -> list[str]:
    """A pool in which each part of `SIBLING` is in fifty samples that have nothing else of it."""
    pool = [sample.original for sample in wordy(6_000, V2, seed=1)]
    joints = "I see. In short, I see. Thank you. Is that right? I wonder."
    parts = (OPENER.format("Dunwick"), "In which year did the mayor pass away?", SEARCHED, THANKS, joints)
    return pool + [f"{part} {pool[50 * place + k]}" for place, part in enumerate(parts) for k in range(50)]


@pytest.mark.parametrize("count", [1, 6, 20])
def test_other_names_in_rare_wording_are_no_leak(with_rare_wording: list[str], count: int) -> None:
    siblings = [SIBLING.format(f"Town{k}", "what") for k in range(count)]
    assert likeness([*with_rare_wording, *siblings], [SIBLING.format("Aberport", "which")]).count == 0


@pytest.mark.parametrize("count", [1, 6, 60])
def test_copies_in_rare_wording_are_leaks(with_rare_wording: list[str], count: int) -> None:
    """A word beside the name is replaced in each copy, and another elsewhere."""
    copy = SIBLING.format("Aberport", "what").replace("about", "regarding")
    copies = [f"{copy} {'!' * times}" for times in range(count)]
    found = likeness([*with_rare_wording, *copies], [SIBLING.format("Aberport", "which")])
    assert found.matches == {len(with_rare_wording) + k for k in range(count)}


def test_a_chinese_name_of_common_characters_is_no_common_word() -> None:
    """Each of its characters is in many samples, and so is the last one before that for `town`. The two together are in
    few: they are no word that may be replaced."""
    pool = token_stream([f"{first}{second}镇的镇长住在哪里？" for first in HAN for second in HAN])
    shadow = token_stream([f"{HAN[0]}{HAN[1]}镇的镇长住在哪里？"])
    unique = UniquePart((shadow,))
    unique.count([unique.counts((pool,))], pool.texts)
    places = np.arange(len(shadow.text(0)))
    assert unique.common(shadow.text(0), places >= 0).tolist() == [False, *[True] * (len(places) - 1)]
    assert not unique.common(shadow.text(0), places < 2).any()


def test_demonstrations_are_counted_by_sample() -> None:
    """A sample says several texts, so wording is in a smaller share of the texts than of the samples."""
    question = "{}镇的镇长是哪年出生的？"
    names = [first + second for first in HAN for second in HAN if first != second]
    thought = Turn("assistant", "call", "wiki", thought="")
    samples = [
        replace(one, dialogue=tuple(replace(thought, text=f"{one.id} {part}") for part in range(9)))
        for one in wordy(600, V2, seed=1)
    ]
    for place, name in enumerate(names[:60]):
        samples[place] = replace(samples[place], dialogue=(Turn("user", "say", question.format(name)),))
    asked = replace(wordy(1, V2, seed=2)[0], prompt=question.format(names[-1]), original=question.format(names[-1]))
    assert demonstration_leaks(samples, [asked], N, THRESHOLD) == set()
    copy = replace(samples[-1], dialogue=(Turn("user", "say", asked.prompt),))
    assert demonstration_leaks([*samples[:-1], copy], [asked], N, THRESHOLD) == {copy.id}


def test_a_copy_is_a_leak_and_is_named() -> None:
    pool, shadow = english(500, 1), english(50, 2)
    pool[123] = shadow[7]
    found = likeness(pool, shadow)
    assert [(match.pool, match.shadow) for match in found.examples] == [(123, 7)]
    assert found.examples[0].similarity == pytest.approx(1.0)


@pytest.mark.parametrize("words", [1, 2, 3])
def test_copies_with_a_few_words_changed_are_leaks(words: int) -> None:
    rng = Random(words)
    pool, shadow = english(1_000, 1), english(100, 2)
    copies = [with_new_words(text, words, rng) for text in shadow]
    assert likeness(pool + copies, shadow).count >= 90


def test_a_wrapped_copy_is_found_in_the_complete_question() -> None:
    pool, shadow = wordy(300, V2, seed=1), wordy(20, V2, seed=2)
    prompts = [sample.prompt for sample in pool]
    originals = [sample.original for sample in pool]
    prompts[5] = "An altogether different wrapping of this text, twice as long as it has to be, hides: " * 3
    originals[5] = shadow[3].original
    found = similar_samples((token_stream(prompts), token_stream(originals)), views(shadow), N, THRESHOLD)
    assert [(match.pool, match.shadow) for match in found.examples] == [(5, 3)]


@pytest.mark.parametrize("field", ["prompt", "original"])
def test_a_copy_inside_a_longer_prompt_is_a_leak(field: str) -> None:
    """The prompt or complete question of a shadow sample, followed by sixty words of other samples."""
    rng = Random(field)
    pool, shadow = wordy(600, V2, seed=1), wordy(100, V2, seed=2)
    tails = [" ".join(" ".join(english(10, 3)).split()[at : at + 60]) for at in range(100)]
    copies = [
        replace(rng.choice(pool), prompt=f"{one.prompt if field == 'prompt' else one.original} {tail}")
        for one, tail in zip(shadow, tails, strict=True)
    ]
    assert similar_samples(views(pool + copies), views(shadow), N, THRESHOLD).matches == set(range(600, 700))


def test_a_copy_planted_many_times_is_still_a_leak() -> None:
    pool, shadow, tails = english(400, 1), english(50, 2), english(100, 3)
    copies = [f"{shadow[7]} {tail}" for tail in tails]
    assert likeness(pool + copies, shadow).matches == set(range(400, 500))


QUESTION = (
    "In which year did the company that sponsors the Frozen Ship Crown move its head office to Waldale, "
    "and who was {} there?"
)


def test_copies_that_share_a_replaced_word_are_still_leaks() -> None:
    """Their number makes all bigrams but those of the replaced word frequent."""
    pool, shadow = [sample.original for sample in wordy(3_000, V2, seed=1)], [QUESTION.format("mayor")]
    copies = [f"{QUESTION.format('chief')} {'!' * times}" for times in range(55)]
    assert likeness(pool + copies, shadow).matches == set(range(len(pool), len(pool) + len(copies)))


def test_questions_that_differ_in_the_name_are_no_leak() -> None:
    """Few other texts have this wording, so the wording is as rare as the names."""
    frame = "What was the number of inhabitants of the town in which {} is set?"
    shadow = [frame.format("Storm of the Garden"), *english(50, 2)]
    pool = [frame.format("A Clock for Marisol"), *english(60, 1)]
    assert likeness(pool, shadow).count == 0
    assert likeness([*pool, "Tell me, please! " + shadow[0] + " " + pool[5]], shadow).matches == {61}


def test_problems_of_one_pattern_with_other_numbers_are_no_leak() -> None:
    """In such a file every number is in many samples; it is what tells two problems apart all the same."""
    frame = "Amir bakes {} trays of buns. Each tray holds {} buns. Amir gives away {} buns. The rest are sold for ${}."
    rng = Random(1)
    made = (frame.format(*(rng.randint(2, most) for most in (19, 24, 11, 9))) for _ in range(400))
    texts = [f"{text} How many dollars does Amir take in?" for text in dict.fromkeys(made)]
    pool, shadow = token_stream(texts[50:]), token_stream(texts[:50])
    assert similar_samples((pool,), (shadow,), N, 0.70).count < 0.65 * pool.texts


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Sample], list[Sample]]:
    """Pool and shadow set. With seed 2, a pool sample and a shadow sample differ only in a title."""
    folder = tmp_path_factory.mktemp("built")
    mix = {"hotpotqa": 0.45, "strategyqa": 0.30, "gsm8k": 0.25}
    plan = BuildPlan(n=600, mix=mix, seed=2, langs=(), templates_dir=Path("templates/pack_v2"))
    build_pool(plan, folder / "pool.jsonl")
    shadow = replace(plan, n=245, seed=20250820)
    materialize_shadow(shadow, stratify=True, out=folder / "shadow.jsonl", manifest=None, tag="")
    return list(read_records(folder / "pool.jsonl", Sample)), list(read_records(folder / "shadow.jsonl", Sample))


def test_an_honest_small_pool_and_its_parts_do_not_leak(built: tuple[list[Sample], list[Sample]]) -> None:
    pool, shadow = built
    for step in (1, 2, 5):
        assert similar_samples(views(pool[::step]), views(shadow), N, THRESHOLD).count == 0


@pytest.mark.parametrize(("words", "least"), [(1, 0.95), (2, 0.95), (3, 0.90)])
def test_built_samples_with_words_changed_are_leaks_in_both_languages(
    built: tuple[list[Sample], list[Sample]], words: int, least: float
) -> None:
    pool, shadow = built
    rng = Random(words)
    for lang in ("en", "zh"):
        stolen = [one for one in shadow if one.lang == lang]
        change = with_new_words if lang == "en" else with_new_characters
        copies = [replace(rng.choice(pool), prompt=change(one.prompt, words, rng)) for one in stolen]
        found = similar_samples(views(pool + copies), views(shadow), N, THRESHOLD)
        assert found.count >= least * len(stolen)


def test_a_long_text_with_all_words_is_no_leak() -> None:
    shadow = ["Who painted the old harbour bridge?"]
    long = "Who painted the old harbour bridge? " + " ".join(english(5, 3))
    assert likeness([*english(100, 1), long], shadow).count == 0


def test_the_threshold_itself_is_a_leak() -> None:
    """17 of 20 shingles shared: a Jaccard of exactly 0.85."""
    ours = " ".join(f"w{i}" for i in range(24))
    theirs = " ".join(f"w{i}" for i in range(21))
    assert likeness([ours], [theirs]).count == 1


def test_leak_check_on_official_questions(official_data: Path) -> None:
    """GSM8K: no honest question is flagged, and copies with three random words replaced nearly all are."""
    lines = (official_data / "gsm8k" / "train.jsonl").read_text(encoding="utf-8").splitlines()[:2_100]
    questions = [json.loads(line)["question"] for line in lines]
    shadow, pool = questions[:100], questions[100:]
    assert likeness(pool, shadow).count == 0
    rng = Random(5)
    copies = []
    for text in shadow:
        parts = text.split()
        for place in rng.sample(range(len(parts)), 3):
            parts[place] = rng.choice(rng.choice(pool).split())
        copies.append(" ".join(parts))
    assert likeness(pool + copies, shadow).count >= 90
