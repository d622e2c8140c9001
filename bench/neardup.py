"""Near duplicates side by side: ours, datasketch's MinHashLSH and datatrove's MinHash pipeline, on the same prompts.

    python bench/neardup.py [POOL.jsonl] [--n 30000]

Prompts come from a pool or, without one, from a small generator of word problems. Copies with up to two words changed
are planted among them. What is a near duplicate (Jaccard >= 0.85 of 5-gram shingles to an earlier prompt) is known
from all pairs, counted by a sparse matrix product that shares no code with the three. For each tool:

- time: from texts in memory to the answer, in this one process;
- recall: of the planted copies with a true similarity >= 0.85, those that were found;
- precision: of the prompts that it calls duplicates, those that truly are.

All get the same shingles, so that they answer the same question (and datatrove is spared its own word splitter, which
needs spaCy and is slower). datasketch has 128 permutations, datatrove its defaults, 14 buckets of 8 hashes.
Needs `pip install "askgate[bench]" regex "xxhash<4" tokenizers`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
from scipy import sparse

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "packages/askgate-env/src")]

from askgate_env.tokenize import tokens  # noqa: E402
from askgate_env.types import Sample  # noqa: E402
from src.core.jsonl import read_records  # noqa: E402
from src.data.quality.near_duplicates import near_duplicates  # noqa: E402
from src.data.quality.token_stream import token_stream  # noqa: E402

THRESHOLD = 0.85
Found = set[int]
"""Numbers of the prompts that a tool calls a duplicate of an earlier one."""


@dataclass(frozen=True)
class Prompts:
    texts: list[str]
    planted: list[int]
    """Prompts that were planted and truly are near duplicates of their source."""


def shingles(text: str) -> set[str]:
    parts = tokens(text)
    return {" ".join(parts[i : i + 5]) for i in range(max(len(parts) - 4, 1))}


def plant(texts: list[str], share: float = 0.03) -> Prompts:
    rng = Random(7)
    texts = list(texts)
    planted = []
    for place in sorted(rng.sample(range(len(texts) // 10, len(texts)), int(share * len(texts)))):
        parts = texts[rng.randrange(place)].split(" ")
        source = shingles(" ".join(parts))
        for _ in range(rng.randint(0, 2)):
            parts[rng.randrange(len(parts))] = rng.choice(["indeed", "roughly", "really"])
        texts[place] = " ".join(parts)
        copy = shingles(texts[place])
        if len(source & copy) >= THRESHOLD * len(source | copy):
            planted.append(place)
    return Prompts(texts, planted)


def word_problems(count: int) -> list[str]:
    rng = Random(1)
    syllables = ["ka", "lo", "mi", "ren", "sta", "vul", "tor", "be", "qui", "zan", "dre", "pho", "nis", "wex", "gol"]

    def word() -> str:
        return "".join(rng.choices(syllables, k=rng.randint(2, 3)))

    facts = [
        "{who} buys {n} boxes of {x} at the market in {place} and each box holds {m} of them.",
        "On the way home {n} of the {x} are lost, but {other} finds {m} near the {y}.",
        "A friend called {other} wants {n} {x} for the school fair and pays {m} coins for each.",
        "Every morning {who} counts the {x}, and after {n} days there are {m} more than before.",
        "The shop in {place} sells a {y} for {n} coins, or three of them for {m} coins.",
    ]
    out = []
    for _ in range(count):
        who, x = word().capitalize(), word()
        story = [
            fact.format(
                who=who,
                other=word().capitalize(),
                x=x,
                y=word(),
                place=word().capitalize(),
                n=rng.randint(2, 90),
                m=rng.randint(2, 90),
            )
            for fact in rng.sample(facts, rng.randint(3, 4))
        ]
        out.append(" ".join(story) + f" How many {x} does {who} have in the end?")
    return out


def truth(texts: list[str]) -> Found:
    """All pairs, by a sparse product of the shingle matrix with itself."""
    numbers: dict[str, int] = {}
    rows = [[numbers.setdefault(one, len(numbers)) for one in shingles(text)] for text in texts]
    sizes = np.array([len(row) for row in rows])
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    ones = np.ones(offsets[-1], dtype=np.int32)
    matrix = sparse.csr_matrix((ones, np.concatenate(rows), offsets), shape=(len(texts), len(numbers)))
    turned = matrix.T.tocsr()
    found: Found = set()
    for first in range(0, len(texts), 500):
        both = (matrix[first : first + 500] @ turned).tocoo()
        later = both.row + first
        near = both.data >= THRESHOLD * (sizes[later] + sizes[both.col] - both.data) - 1e-9
        found.update(later[near & (both.col < later)].tolist())
    return found


def ours(texts: list[str]) -> Found:
    return set(np.flatnonzero(near_duplicates(token_stream(texts), THRESHOLD).duplicate).tolist())


def by_datasketch(texts: list[str]) -> Found:
    from datasketch import MinHash, MinHashLSH

    index = MinHashLSH(threshold=THRESHOLD, num_perm=128)
    empty = MinHash(num_perm=128)
    found = set()
    for number, text in enumerate(texts):
        sketch = empty.copy()
        sketch.update_batch([one.encode() for one in shingles(text)])
        if index.query(sketch):
            found.add(number)
        index.insert(number, sketch, check_duplication=False)
    return found


def by_datatrove(texts: list[str]) -> Found:
    from datatrove.data import Document
    from datatrove.pipeline.dedup import MinhashDedupBuckets, MinhashDedupCluster, MinhashDedupSignature
    from datatrove.pipeline.dedup.minhash import MinhashConfig
    from loguru import logger

    class Signature(MinhashDedupSignature):  # type: ignore[misc]
        def get_shingles(self, text: str) -> np.ndarray[tuple[int, int], np.dtype[np.uint64]]:
            return np.array([[self._hash_func(one)] for one in shingles(text)], dtype=np.uint64)

    logger.disable("datatrove")
    config = MinhashConfig(n_grams=5)
    with TemporaryDirectory() as folder:
        signatures, pairs, clusters = (f"{folder}/{name}" for name in ("signatures", "pairs", "clusters"))
        documents = (Document(text=text, id=str(number)) for number, text in enumerate(texts))
        # The language only chooses a word splitter, which is not used here; this one loads nothing.
        Signature(signatures, config, language="ace_Arab").run(documents, 0, 1)
        for bucket in range(config.num_buckets):
            step = MinhashDedupBuckets(signatures, pairs, config=config, lines_to_buffer=-1)
            step.run(None, bucket, config.num_buckets)
        MinhashDedupCluster(pairs, clusters, config=config, save_cluster_id=True, lines_to_buffer=-1).run()
        # Which member of a cluster datatrove keeps is its own affair: all but the earliest count as found.
        file = Path(clusters) / "000000.clusters"
        members = np.frombuffer(file.read_bytes() if file.exists() else b"", dtype="<u4").reshape(-1, 2)
    _, earliest = np.unique(members[:, 1], return_index=True)
    return set(np.delete(members[:, 0], earliest).tolist())


def measure(name: str, tool: Callable[[list[str]], Found], prompts: Prompts, true: Found) -> float:
    tool(prompts.texts[:200])
    started = perf_counter()
    found = tool(prompts.texts)
    seconds = perf_counter() - started
    recall = len(found.intersection(prompts.planted)) / len(prompts.planted)
    precision = len(found & true) / len(found) if found else float("nan")
    print(f"{name:<12} {seconds:8.2f} s   recall {recall:7.2%}   precision {precision:7.2%}   found {len(found):,}")
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pool", nargs="?", type=Path)
    parser.add_argument("--n", type=int, default=30_000)
    arguments = parser.parse_args()
    if arguments.pool:
        texts = [sample.prompt for sample in read_records(arguments.pool, Sample)][: arguments.n]
    else:
        texts = word_problems(arguments.n)
    prompts = plant(texts)
    true = truth(prompts.texts)
    print(f"{len(texts):,} prompts, {len(prompts.planted):,} planted near duplicates, {len(true):,} in all")
    mine = measure("ours", ours, prompts, true)
    others = [
        measure("datasketch", by_datasketch, prompts, true),
        measure("datatrove", by_datatrove, prompts, true),
    ]
    print(f"ours is {min(others) / mine:.0f} to {max(others) / mine:.0f} times as fast")


if __name__ == "__main__":
    main()
