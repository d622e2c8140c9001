"""Folds for cross-validation: episodes of one source in one fold, and as many successes in one as in the other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..core.errors import BadInput

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]


def folds(source_N: I64, success_N: F64, cv: int, rng: np.random.Generator) -> I64:
    """The fold of every source. Sources go by their success rate, equals by lot, and are dealt out like cards.

    Every fold must hold successes and failures, for no correlation can be measured on one outcome alone.
    """
    episodes = np.bincount(source_N)
    rate = np.bincount(source_N, weights=success_N) / episodes
    dealt = np.lexsort((rng.permutation(len(rate)), episodes, rate))
    fold_G = np.empty(len(rate), dtype=np.int64)
    fold_G[dealt] = np.arange(len(rate)) % cv
    held = np.bincount(fold_G[source_N], minlength=cv)
    right = np.bincount(fold_G[source_N], weights=success_N, minlength=cv)
    if ((right == 0) | (right == held)).any():
        total = int(success_N.sum())
        raise BadInput(
            f"{total} successes and {len(success_N) - total} failures do not give each of {cv} folds both",
            where="--cv",
            remedy="record more episodes, or use fewer folds",
        )
    return fold_G
