"""Shortcut gate: can a bag of words of the first user message predict whether the sample needs a clarification?

If it can, a policy learns a word and not when to ask. The classifier is a logistic regression on the presence of
unigrams and bigrams, scored out of fold (5 stratified folds), per task and language. The gate compares the one-sided
lower 95% bound of the ROC AUC, by DeLong's variance, which assumes nothing about the distribution of the scores; with
AUC 1.00 the variance is 0 and the bound is 1.00.

With these features GSM8K with a random sentence dropped measures 0.70 to 0.71, a number replaced by "some" 0.99.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from scipy import sparse
from scipy.stats import rankdata
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from .token_stream import TokenStream, ngrams

FOLDS = 5
MIN_EACH = 20
"""Samples of each class below which no AUC is measured."""
MAX_SAMPLES = 4_000
Z_95 = 1.6448536269514722


class ShortcutAuc(Struct, frozen=True):
    samples: int
    """Samples in the group; at most `MAX_SAMPLES` of them are used."""
    needing: int
    auc: float | None = None
    """None: not measured, because the group has fewer than `MIN_EACH` samples of one class."""
    lower: float | None = None


def shortcut_auc(prompts: TokenStream, needs: NDArray[np.bool_], seed: int) -> ShortcutAuc:
    samples, needing = len(needs), int(needs.sum())
    if len(needs) > MAX_SAMPLES:
        chosen = np.sort(np.random.default_rng(seed).choice(len(needs), MAX_SAMPLES, replace=False))
        prompts, needs = prompts.take(chosen), needs[chosen]
    if min(needs.sum(), len(needs) - needs.sum()) < MIN_EACH:
        return ShortcutAuc(samples, needing)
    # Far more words than samples: the dual problem gives the same scores ten times faster.
    model = LogisticRegression(solver="liblinear", dual=True, tol=1e-3, max_iter=1000, random_state=seed)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    scores = cross_val_predict(model, _features(prompts), needs, cv=folds, method="decision_function")
    auc, error = auc_with_error(scores, needs)
    return ShortcutAuc(samples, needing, auc, auc - Z_95 * error)


def auc_with_error(scores: NDArray[np.float64], positive: NDArray[np.bool_]) -> tuple[float, float]:
    """Area under the ROC curve (ties count half) and its standard error by DeLong, DeLong and Clarke-Pearson (1988).

    The share of the other class that each sample outranks follows from its rank among all minus its rank among its
    own; the area is their mean and its variance the sum of their variances over the class sizes.
    """
    ours, theirs = scores[positive], scores[~positive]
    ranks = rankdata(scores)
    above = (ranks[positive] - rankdata(ours)) / len(theirs)
    below = 1 - (ranks[~positive] - rankdata(theirs)) / len(ours)
    variance = above.var(ddof=1) / len(ours) + below.var(ddof=1) / len(theirs)
    return float(above.mean()), float(np.sqrt(variance))


def _features(prompts: TokenStream) -> Any:
    """One column for each different unigram and bigram; 1 where it occurs."""
    bigrams = ngrams(prompts, 2)
    _, columns = np.unique(np.concatenate([prompts.hashes, bigrams.hashes]), return_inverse=True)
    rows = np.concatenate([prompts.owners(), bigrams.owners()])
    matrix = sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(prompts.texts, int(columns.max()) + 1))
    matrix.sum_duplicates()
    matrix.data[:] = 1.0
    return matrix
