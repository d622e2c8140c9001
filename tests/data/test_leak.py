"""A shadow question in the pool is seen, reworded or not; an honest sibling is not mistaken for one."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from src.data.leak import Likeness, similar_samples
from src.data.tokenstream import token_stream
from tests.data.wordy import V2, word, wordy

N, THRESHOLD = 5, 0.85


def likeness(pool: list[str], shadow: list[str]) -> Likeness:
    return similar_samples((token_stream(pool),), (token_stream(shadow),), N, THRESHOLD)


def with_new_words(text: str, count: int, rng: Random) -> str:
    """Words that the pool does not have, in random places; names and numbers stay."""
    parts = text.split()
    plain = [place for place, part in enumerate(parts) if part.isalpha() and part.islower()]
    for place in rng.sample(plain, count):
        parts[place] = "x" + word(rng)
    return " ".join(parts)


def english(count: int, seed: int) -> list[str]:
    return [sample.original for sample in wordy(2 * count, V2, seed) if sample.lang == "en"][:count]


def test_honest_siblings_of_the_same_generator_are_no_leak() -> None:
    pool, shadow = wordy(3_000, V2, seed=1), wordy(200, V2, seed=2)
    found = similar_samples(
        (token_stream([one.prompt for one in pool]), token_stream([one.original for one in pool])),
        (token_stream([one.prompt for one in shadow]), token_stream([one.original for one in shadow])),
        N,
        THRESHOLD,
    )
    assert found.count == 0
    assert found.examples == []


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


def test_a_wrapped_copy_is_seen_in_the_complete_question() -> None:
    pool, shadow = wordy(300, V2, seed=1), wordy(20, V2, seed=2)
    prompts = [sample.prompt for sample in pool]
    originals = [sample.original for sample in pool]
    prompts[5] = "An altogether different wrapping of this text, twice as long as it has to be, hides: " * 3
    originals[5] = shadow[3].original
    theirs = [sample.prompt for sample in shadow], [sample.original for sample in shadow]
    found = similar_samples(
        (token_stream(prompts), token_stream(originals)),
        (token_stream(theirs[0]), token_stream(theirs[1])),
        N,
        THRESHOLD,
    )
    assert [(match.pool, match.shadow) for match in found.examples] == [(5, 3)]


def test_a_long_text_that_has_all_words_of_a_short_one_is_no_leak() -> None:
    shadow = ["Who painted the old harbour bridge?"]
    long = "Who painted the old harbour bridge? " + " ".join(english(5, 3))
    assert likeness([*english(100, 1), long], shadow).count == 0


def test_the_threshold_itself_is_a_leak() -> None:
    """17 of 20 shingles shared: a Jaccard of exactly 0.85."""
    ours = " ".join(f"w{i}" for i in range(24))
    theirs = " ".join(f"w{i}" for i in range(21))
    assert likeness([ours], [theirs]).count == 1


def test_real_questions(official_data: Path) -> None:
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
