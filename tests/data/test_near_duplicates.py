"""Near duplicates are found exactly, and a pool of copies does not take quadratic time."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from askgate_env.tokenize import tokens
from src.data.quality import near_duplicates as neardup
from src.data.quality.near_duplicates import near_duplicates, near_duplicates_in_shards
from src.data.quality.token_stream import I64, token_stream
from src.runtime.workers import Workers


def shingles(text: str) -> frozenset[tuple[str, ...]]:
    parts = tokens(text)
    return frozenset(tuple(parts[i : i + 5]) for i in range(max(len(parts) - 4, 1)))


def by_brute_force(texts: list[str], threshold: float) -> list[bool]:
    sets = [shingles(text) for text in texts]
    return [
        any(len(sets[i] & sets[j]) >= threshold * len(sets[i] | sets[j]) - 1e-9 for i in range(j))
        for j in range(len(sets))
    ]


@st.composite
def texts_with_copies(draw: st.DrawFn) -> list[str]:
    """Texts of few different words, which share n-grams by chance, and copies with words changed, added or removed."""
    rng = Random(draw(st.integers(0, 10**9)))
    vocabulary = [f"w{i}" for i in range(draw(st.sampled_from([2, 5, 40])))]
    longest = draw(st.sampled_from([6, 30, 80]))
    texts: list[list[str]] = []
    for _ in range(draw(st.integers(0, 40))):
        if texts and rng.random() < 0.5:
            text = list(rng.choice(texts))
            for _ in range(rng.randint(0, 3)):
                place = rng.randint(0, len(text))
                text[place : place + rng.randint(0, 2)] = rng.choices(vocabulary, k=rng.randint(0, 2))
        else:
            text = rng.choices(vocabulary, k=rng.randint(0, longest))
        texts.append(text)
    return [" ".join(text) for text in texts]


@settings(deadline=None)
@given(texts_with_copies(), st.sampled_from([0.85, 0.7, 0.5, 1.0]))
def test_near_duplicates_equal_those_of_brute_force(texts: list[str], threshold: float) -> None:
    found = near_duplicates(token_stream(texts), threshold)
    assert found.duplicate.tolist() == by_brute_force(texts, threshold)
    assert found.unresolved == 0


@settings(deadline=None, max_examples=50)
@given(texts_with_copies(), st.integers(1, 12), st.sampled_from([0.85, 0.5]))
def test_shards_have_the_near_duplicates_of_the_whole(texts: list[str], size: int, threshold: float) -> None:
    whole = near_duplicates(token_stream(texts), threshold)
    shards = [[token_stream(texts[start : start + size])] for start in range(0, len(texts), size)]
    tokens = sum(len(stream.hashes) for (stream,) in shards)
    found = near_duplicates_in_shards(shards or [[token_stream([])]], tokens, Workers(), threshold)
    assert found.duplicate.tolist() == whole.duplicate.tolist()
    assert (found.exact, found.unresolved) == (whole.exact, 0)
    sets = [shingles(text) for text in texts]
    for earlier, later in found.examples:
        assert earlier < later
        assert len(sets[earlier] & sets[later]) >= threshold * len(sets[earlier] | sets[later]) - 1e-9


@settings(deadline=None)
@given(texts_with_copies())
def test_exact_copies_and_examples_are_true(texts: list[str]) -> None:
    found = near_duplicates(token_stream(texts))
    sets = [shingles(text) for text in texts]
    assert found.exact == len(sets) - len(set(sets))
    for earlier, later in found.examples:
        assert earlier < later
        assert len(sets[earlier] & sets[later]) >= 0.85 * len(sets[earlier] | sets[later]) - 1e-9


def test_a_short_text_is_one_shingle() -> None:
    texts = ["who wrote it", "who wrote that", "who wrote it", "", ""]
    assert near_duplicates(token_stream(texts)).duplicate.tolist() == [False, False, True, False, True]


def test_almost_identical_texts_cost_few_comparisons_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """Comparing all pairs would take 450 million comparisons."""
    rng = Random(1)
    base = [f"w{i}" for i in range(80)]
    texts = []
    for number in range(30_000):
        text = list(base)
        text[rng.randrange(80)] = f"new{number}"
        texts.append(" ".join(text))
    compared = []
    count_exactly = neardup._Search._near

    def counted(search: neardup._Search, pairs: I64) -> NDArray[np.bool_]:
        compared.append(len(pairs))
        return count_exactly(search, pairs)

    monkeypatch.setattr(neardup._Search, "_near", counted)
    found = near_duplicates(token_stream(texts))
    assert sum(compared) < 10 * len(texts)
    assert found.count + found.unresolved > 29_900
    assert found.count > 29_000


def test_texts_not_compared_with_all_others_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Six slots with ten fillers each: all texts share rare n-grams, and few are duplicates."""
    rng = Random(2)
    texts = []
    for _ in range(3_000):
        text = [f"w{i}" for i in range(60)]
        for slot in range(5, 60, 10):
            text[slot] = f"f{rng.randrange(10)}"
        texts.append(" ".join(text))
    exact = near_duplicates(token_stream(texts))
    assert exact.unresolved == 0
    monkeypatch.setattr(neardup, "PAIRS_AT_LEAST", 0)
    monkeypatch.setattr(neardup, "PAIRS_PER_TEXT", 5)
    hurried = near_duplicates(token_stream(texts))
    assert hurried.unresolved > 1_000
    assert hurried.count <= exact.count <= hurried.count + hurried.unresolved
    shards = [[token_stream(texts[start : start + 1_000])] for start in range(0, len(texts), 1_000)]
    hurried = near_duplicates_in_shards(shards, 60 * len(texts), Workers())
    assert hurried.unresolved > 1_000
    assert hurried.count <= exact.count <= hurried.count + hurried.unresolved
