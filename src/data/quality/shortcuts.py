"""Shortcut gates: can surface features predict whether a sample needs a clarification?

If they can, a policy learns a word or a pair of brackets and not when to ask. There are two levels. *Prompt*: the first
user message. *Observation*: the `wiki` replies that the demonstration sees before it asks; for a sample without an
ask, the same number of first replies as in a random sample with one.

Classifiers, scored out of fold (5 stratified folds) per task and language:

- words: logistic regression on the presence of unigrams and bigrams;
- characters: the same on 3-grams and 4-grams of characters (prompt only);
- surface: gradient-boosted trees on lengths and on counts of numbers, quotes, brackets, sentences, search results.

The gate takes the strongest one. It compares the one-sided lower 95% bound of the ROC AUC, by DeLong's variance, which
assumes nothing about the distribution of the scores; with AUC 1.00 the variance is 0 and the bound is 1.00.

For comparison: with a random sentence of GSM8K problems deleted, the AUC is about 0.70; with a number replaced by
"some", 0.99.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from scipy import sparse

from askgate_env.types import Sample

from .token_stream import TokenStream, ngrams, offsets_of, token_stream

FOLDS = 5
MIN_EACH = 20
"""Samples of each class below which no AUC is measured."""
MAX_SAMPLES = 2_000
Z_95 = 1.6448536269514722
CHARACTER_COLUMNS = 2**16
_MARKS = (r"\d+", r"\b\d{4}\b|\d{4}年", r"[(（]", r"[\"“”'‘’「」]", "《", r"[.。!！]", r"[,，、;；]", r"[?？]")
_COUNTED = tuple(map(re.compile, _MARKS))
"""Numbers, years, brackets, quotes, titles, sentences, commas, question marks."""
_RESULT = re.compile(r"^\d+\. ", re.M)


class ShortcutAuc(Struct, frozen=True):
    samples: int
    """Samples in the group; at most `MAX_SAMPLES` of them are used."""
    needing: int
    auc: float | None = None
    """AUC of the strongest classifier. Not measured (None) if one class has fewer than `MIN_EACH` samples."""
    lower: float | None = None
    """One-sided lower 95% bound of that AUC."""
    by_features: dict[str, float] = {}
    """Classifier (`words`, `characters`, `surface`) -> its AUC."""


class Observed(Struct, frozen=True):
    """The parts of a sample that the shortcut gates read."""

    prompt: str
    needs: bool
    replies: tuple[str, ...]
    """Replies of `wiki`, in order; of a sample with an ask those before it."""


def observe(sample: Sample) -> Observed:
    replies = []
    for turn in sample.dialogue:
        if turn.act == "ask":
            break
        if turn.act == "result" and turn.tool == "wiki":
            replies.append(turn.text)
    return Observed(sample.prompt, sample.needs_clarification, tuple(replies))


def shortcut_auc(prompts: Sequence[str], needs: NDArray[np.bool_], seed: int) -> ShortcutAuc:
    """Measures how well the first user messages predict the need of a clarification."""
    features = {"words": _words, "characters": _characters, "surface": _surface}
    return _strongest([(prompt,) for prompt in prompts], needs, seed, features)


def observation_auc(seen: Sequence[Observed], seed: int) -> ShortcutAuc:
    """Measures how well the first tool replies predict it. Samples without a reply before their ask are not used."""
    rng = np.random.default_rng(seed)
    looked_up = [sample for sample in seen if sample.replies]
    counts = [len(sample.replies) for sample in looked_up if sample.needs] or [1]
    texts = []
    for sample in looked_up:
        # A complete sample shows as many replies as a random sample with an ask.
        count = len(sample.replies) if sample.needs else min(int(rng.choice(counts)), len(sample.replies))
        texts.append(sample.replies[:count])
    needs = np.array([sample.needs for sample in looked_up], dtype=np.bool_)
    return _strongest(texts, needs, seed, {"words": _words, "surface": _surface})


def _strongest(
    texts: Sequence[tuple[str, ...]],
    needs: NDArray[np.bool_],
    seed: int,
    features: Mapping[str, Callable[[Sequence[tuple[str, ...]]], Any]],
) -> ShortcutAuc:
    """The AUC of the strongest classifier, one for each kind of features."""
    samples, needing = len(needs), int(needs.sum())
    if len(needs) > MAX_SAMPLES:
        chosen = np.sort(np.random.default_rng(seed).choice(len(needs), MAX_SAMPLES, replace=False))
        texts, needs = [texts[index] for index in chosen], needs[chosen]
    if min(needs.sum(), len(needs) - needs.sum()) < MIN_EACH:
        return ShortcutAuc(samples, needing)
    from sklearn import config_context
    from sklearn.ensemble import GradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    found: dict[str, tuple[float, float]] = {}
    for name, extract in features.items():
        model: Any
        if name == "surface":
            model = GradientBoostingClassifier(n_estimators=40, subsample=0.7, max_features=0.5, random_state=seed)
        else:
            # Far more words than samples: the dual problem gives the same scores ten times faster.
            model = LogisticRegression(solver="liblinear", dual=True, tol=1e-2, max_iter=1000, random_state=seed)
        with config_context(assume_finite=True, skip_parameter_validation=True):  # 40 trees a fit, each validated
            scores = cross_val_predict(model, extract(texts), needs, cv=folds, method="decision_function")
        auc, error = auc_with_error(scores, needs)
        found[name] = auc, auc - Z_95 * error
    auc, lower = max(found.values(), key=lambda measured: measured[1])
    return ShortcutAuc(samples, needing, auc, lower, {name: auc for name, (auc, _) in found.items()})


def auc_with_error(scores: NDArray[np.float64], positive: NDArray[np.bool_]) -> tuple[float, float]:
    """Area under the ROC curve (ties count half) and its standard error by DeLong, DeLong and Clarke-Pearson (1988).
    The share of the other class that each sample outranks follows from its rank among all minus its rank among its own;
    the area is their mean and its variance the sum of their variances over the class sizes."""
    from scipy.stats import rankdata

    ours, theirs = scores[positive], scores[~positive]
    ranks = rankdata(scores)
    above = (ranks[positive] - rankdata(ours)) / len(theirs)
    below = 1 - (ranks[~positive] - rankdata(theirs)) / len(ours)
    variance = above.var(ddof=1) / len(ours) + below.var(ddof=1) / len(theirs)
    return float(above.mean()), float(np.sqrt(variance))


def _words(texts: Sequence[tuple[str, ...]]) -> Any:
    """One column for each different unigram and bigram; 1 where it occurs."""
    stream = token_stream(["\n".join(parts) for parts in texts])
    bigrams = ngrams(stream, 2)
    _, columns = np.unique(np.concatenate([stream.hashes, bigrams.hashes]), return_inverse=True)
    return _presence(np.concatenate([stream.owners(), bigrams.owners()]), columns, len(texts))


def _characters(texts: Sequence[tuple[str, ...]]) -> Any:
    """Presence of 3-grams and 4-grams of characters, hashed into a fixed number of columns."""
    points = [np.array([ord(mark) for mark in "\n".join(parts).lower()], dtype=np.uint64) for parts in texts]
    stream = TokenStream(np.concatenate(points), offsets_of(np.array([len(one) for one in points])))
    grams = [ngrams(stream, size) for size in (3, 4)]
    columns = np.concatenate([one.hashes % np.uint64(CHARACTER_COLUMNS) for one in grams]).astype(np.int64)
    return _presence(np.concatenate([one.owners() for one in grams]), columns, len(texts))


def _presence(rows: NDArray[Any], columns: NDArray[Any], texts: int) -> Any:
    matrix = sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(texts, int(columns.max()) + 1))
    matrix.sum_duplicates()
    matrix.data[:] = 1.0
    return matrix


def _surface(texts: Sequence[tuple[str, ...]]) -> Any:
    """Counts of the first part, of the last part, and their means over all parts; of a single part, its counts."""
    counts = [[_counts(part) for part in parts] for parts in texts]
    if all(len(one) == 1 for one in counts):
        return np.array([one[0] for one in counts], dtype=np.float64)
    return np.array([[*one[0], *one[-1], *np.mean(one, axis=0)] for one in counts], dtype=np.float64)


def _counts(text: str) -> list[float]:
    words = text.split()
    upper = sum(word[0].isupper() for word in words)
    return [len(text), len(words), upper, len(_RESULT.findall(text)), *(len(one.findall(text)) for one in _COUNTED)]
