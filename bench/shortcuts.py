"""Can anything on the surface tell which samples need a clarifying question? Stronger classifiers than the gate's.

    python bench/shortcuts.py data/rollouts/*.jsonl            one table row per pool, task and language
    python bench/shortcuts.py --explain data/rollouts/a.jsonl  also what the classifiers go by

Three texts per sample: the prompt, the first tool reply, and all tool replies before the ask (of a complete sample, as
many as some sample with an ask has). Two classifiers each, scored out of fold in 5 folds by group, so that no world,
record or story is in two folds:

- boosted: 200 gradient-boosted trees on surface counts (lengths, words, capitals, marks, numbers, years, results);
- n-grams: logistic regression on tf-idf of 2 to 5 characters.

`gate` is the AUC of the gate's own strongest classifier (`src/data/quality/shortcuts.py`). The last column is the
largest lower 95% bound of the row.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold, cross_val_predict
from sklearn.pipeline import make_pipeline

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "packages/askgate-env/src")]

from askgate_env.types import Sample  # noqa: E402
from src.core.jsonl import read_records  # noqa: E402
from src.data.quality.shortcuts import (  # noqa: E402
    MIN_EACH,
    Z_95,
    auc_with_error,
    observation_auc,
    observe,
    shortcut_auc,
)

SEED = 20250820
MAX_SAMPLES = 2_000
"""Samples of a row."""
MARKS = {
    "numbers": r"\d+", "years": r"\b\d{4}\b|\d{4}年", "brackets": r"[(（]", "quotes": r"[\"“”'‘’「」《]",
    "commas": r"[,，、]",
    "semicolons": r"[;；:：]", "full stops": r"[.。!！]", "question marks": r"[?？]", "results": r"(?m)^\d+\. ",
    "capitals": r"\b[A-Z]", "lines": r"\n", "money": r"[$€£]|元|块钱", "percent": r"%|percent|百分之",
}  # fmt: skip
COUNTED = {name: re.compile(mark) for name, mark in MARKS.items()}
NAMES = ["characters", "words", "longest word", "characters per word", "characters per result", *COUNTED]
Model = Any


def surface(text: str) -> list[float]:
    words = text.split() or [""]
    marks = [len(pattern.findall(text)) for pattern in COUNTED.values()]
    results = max(1, marks[list(COUNTED).index("results")])
    return [len(text), len(words), max(map(len, words)), len(text) / len(words), len(text) / results, *marks]


def group(sample: Sample) -> str:
    """The record of a sample; of the generated encyclopedia its world, which eight samples share."""
    source_id = sample.provenance.source_id
    if sample.provenance.source == "builtin" and sample.task != "gsm8k":
        head, _, number = source_id.rpartition(":")
        return f"{head}:{int(number) // 8}"
    return source_id.partition("/")[0]


def levels(samples: Sequence[Sample]) -> dict[str, list[str | None]]:
    """The texts of each level; `None` where a sample looks nothing up."""
    rng = np.random.default_rng(SEED)
    replies = [observe(sample).replies for sample in samples]
    counts = [len(one) for one, sample in zip(replies, samples, strict=True) if sample.needs_clarification and one] or [
        1
    ]
    shown = [
        one if sample.needs_clarification else one[: int(rng.choice(counts))]
        for one, sample in zip(replies, samples, strict=True)
    ]
    return {
        "prompt": [sample.prompt for sample in samples],
        "first reply": [one[0] if one else None for one in shown],
        "all replies": ["\n".join(one) if one else None for one in shown],
    }


def boosted() -> Model:
    return HistGradientBoostingClassifier(max_iter=200, learning_rate=0.05, max_leaf_nodes=8, random_state=SEED)


def ngrams() -> Model:
    vectors = TfidfVectorizer(analyzer="char", ngram_range=(2, 5), min_df=2, sublinear_tf=True, max_features=200_000)
    return make_pipeline(vectors, LogisticRegression(C=10.0, solver="liblinear"))


def measured(texts: Sequence[str], needs: NDArray[np.bool_], groups: Sequence[str]) -> dict[str, tuple[float, float]]:
    """AUC and its lower 95% bound for both classifiers."""
    folds = StratifiedGroupKFold(5, shuffle=True, random_state=SEED)
    counts = np.array([surface(text) for text in texts])
    found = {}
    for name, model, features in (("boosted", boosted(), counts), ("n-grams", ngrams(), np.array(texts, dtype=object))):
        scores = cross_val_predict(model, features, needs, groups=groups, cv=folds, method="predict_proba")[:, 1]
        auc, error = auc_with_error(scores, needs)
        found[name] = auc, auc - Z_95 * error
    return found


def explain(texts: Sequence[str], needs: NDArray[np.bool_]) -> str:
    """The surface counts and n-grams that a classifier of all samples goes by."""
    counts = np.array([surface(text) for text in texts])
    trees = boosted().fit(counts, needs)
    gain = permutation_importance(
        trees, counts, needs, scoring="roc_auc", n_repeats=3, random_state=SEED
    ).importances_mean
    best = [
        f"{NAMES[at]} ({counts[needs, at].mean():.1f} / {counts[~needs, at].mean():.1f})"
        for at in np.argsort(-gain)[:5]
    ]
    fitted = ngrams().fit(list(texts), needs)
    names, weights = fitted[0].get_feature_names_out(), fitted[1].coef_[0]
    order = np.argsort(weights)
    return (
        f"    counts (incomplete / complete): {', '.join(best)}\n"
        f"    n-grams of incomplete ones: {[names[at] for at in order[::-1][:15]]}\n"
        f"    n-grams of complete ones: {[names[at] for at in order[:15]]}"
    )


def row(title: str, samples: Sequence[Sample], explaining: bool) -> str:
    rng = np.random.default_rng(SEED)
    if len(samples) > MAX_SAMPLES:
        samples = [samples[place] for place in np.sort(rng.choice(len(samples), MAX_SAMPLES, replace=False))]
    needs = np.array([sample.needs_clarification for sample in samples])
    cells, lowest, notes = [], [], []
    seen = [observe(sample) for sample in samples]
    gates = {
        "prompt": shortcut_auc([sample.prompt for sample in samples], needs, SEED),
        "all replies": observation_auc(seen, SEED),
    }
    for level, texts in levels(samples).items():
        kept = [place for place, text in enumerate(texts) if text is not None]
        labels = needs[kept]
        if min(labels.sum(), (~labels).sum()) < MIN_EACH:
            cells.append("-")
            continue
        shown = [text for text in texts if text is not None]
        found = measured(shown, labels, [group(samples[place]) for place in kept])
        lowest += [lower for _, lower in found.values()]
        cell = " / ".join(f"{auc:.2f}" for auc, _ in found.values())
        if level in gates and gates[level].auc is not None:
            cell += f" / {gates[level].auc:.2f}"
            lowest.append(gates[level].lower)
        cells.append(cell)
        if explaining:
            notes.append(f"  {level}\n{explain(shown, labels)}")
    worst = f"{max(lowest):.2f}" if lowest else "-"
    return "\n".join([f"| {title} | {int(needs.sum())} of {len(needs)} | {' | '.join(cells)} | {worst} |", *notes])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pools", nargs="+", type=Path)
    parser.add_argument("--explain", action="store_true", help="also print what the classifiers go by")
    wanted = parser.parse_args()
    print("| pool, task, language | incomplete | prompt: boosted / n-grams / gate | first reply: boosted / n-grams "
          "| all replies: boosted / n-grams / gate | largest lower bound |\n|---|---|---|---|---|---|")  # fmt: skip
    for path in wanted.pools:
        samples = sorted(read_records(path, Sample), key=lambda one: (one.task, one.lang))
        for (task, lang), some in groupby(samples, key=lambda one: (one.task, one.lang)):
            print(row(f"{path.stem} {task} {lang}", list(some), wanted.explain), flush=True)


if __name__ == "__main__":
    main()
