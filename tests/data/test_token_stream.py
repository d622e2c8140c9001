"""Tokens computed in bulk are those of `core.words`."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from askgate_env.tokenize import tokens
from src.data.quality import token_stream as tokenstream
from src.data.quality.token_stream import count_tokens, distinct, join_streams, ngrams, token_stream

MIXED = st.text(
    alphabet=st.sampled_from("ab_Z9 \t\n\u3000\x1c.,-'’é\u0301ß٣²中文豈㐀カ한\U0001f600\ud800\u200d"), max_size=30
)
TEXTS = st.lists(st.one_of(MIXED, st.text(max_size=20)), max_size=12)


@settings(deadline=None)
@given(TEXTS)
@example(["", "a", "", "中文abc中", "x y"])
def test_bulk_tokens_equal_core_tokens(texts: list[str]) -> None:
    expected = [tokens(text) for text in texts]
    stream = token_stream(texts)
    assert count_tokens(texts).tolist() == [len(one) for one in expected]
    assert stream.sizes.tolist() == [len(one) for one in expected]
    flat = [token for one in expected for token in one]
    # Equal tokens have equal hashes and different tokens different ones.
    together = set(zip(flat, stream.hashes.tolist(), strict=True))
    assert len(together) == len(set(flat)) == len(set(stream.hashes.tolist()))


def test_every_code_point_has_the_class_that_re_gives_it() -> None:
    """Between two letters, a code point splits the word, is a token, or belongs to the word, as in `tokens`."""
    texts = [f"a{chr(point)}a" for point in range(0x110000)]
    assert count_tokens(texts).tolist() == [len(tokens(text)) for text in texts]


@settings(deadline=None)
@given(TEXTS, st.integers(1, 40))
def test_the_chunk_size_changes_nothing(texts: list[str], size: int) -> None:
    whole = token_stream(texts)
    before = tokenstream.CHARS_AT_ONCE
    tokenstream.CHARS_AT_ONCE = size
    try:
        pieces = token_stream(texts)
    finally:
        tokenstream.CHARS_AT_ONCE = before
    assert whole.hashes.tolist() == pieces.hashes.tolist()
    assert whole.offsets.tolist() == pieces.offsets.tolist()


def _grams(text: str, n: int) -> list[tuple[str, ...]]:
    parts = tokens(text)
    return [tuple(parts[i : i + n]) for i in range(max(len(parts) - n + 1, 1))]


@settings(deadline=None)
@given(TEXTS, st.integers(1, 5))
def test_ngrams_are_those_of_the_token_lists(texts: list[str], n: int) -> None:
    expected = [_grams(text, n) for text in texts]
    grams = ngrams(token_stream(texts), n)
    assert grams.sizes.tolist() == [len(one) for one in expected]
    flat = [gram for one in expected for gram in one]
    assert len(set(zip(flat, grams.hashes.tolist(), strict=True))) == len(set(flat)) == len(set(grams.hashes.tolist()))


@settings(deadline=None)
@given(TEXTS)
def test_distinct_makes_each_text_a_set(texts: list[str]) -> None:
    sets = distinct(token_stream(texts))
    assert sets.sizes.tolist() == [len(set(tokens(text))) for text in texts]
    for index in range(sets.texts):
        assert np.all(np.diff(sets.text(index).astype(np.int64)) > 0)


@settings(deadline=None)
@given(st.lists(MIXED, min_size=1, max_size=8), st.data())
def test_taking_slicing_and_joining_keep_the_texts(texts: list[str], data: st.DataObject) -> None:
    stream = token_stream(texts)
    chosen = data.draw(st.lists(st.integers(0, len(texts) - 1), max_size=6))
    taken = stream.take(np.array(chosen, dtype=np.int64))
    assert [taken.text(i).tolist() for i in range(taken.texts)] == [stream.text(i).tolist() for i in chosen]
    cut = data.draw(st.integers(0, len(texts)))
    joined = join_streams([stream.slice(0, cut), stream.slice(cut, len(texts))])
    assert joined.hashes.tolist() == stream.hashes.tolist()
    assert joined.offsets.tolist() == stream.offsets.tolist()
