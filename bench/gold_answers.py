"""Gold answers computed again, by a program that shares no code with the pool builder.

    python bench/gold_answers.py POOL...                       built-in samples, from their text alone
    python bench/gold_answers.py --data-dir data POOL...       samples of dataset files, against these files

`gold_articles.py` answers questions over articles, `gold_problems.py` word problems.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.gold_articles import Row, Solver
from bench.gold_problems import WordProblem, written

IDS = {"hotpotqa": "_id", "strategyqa": "qid", "ambignq": "id"}


def builtin(sample: Row) -> set[str]:
    """All answers that a built-in sample allows, with its hidden fact."""
    return WordProblem(sample).results() if sample["task"] == "gsm8k" else Solver(sample).answers(sample["question"])


class SourceFiles:
    """The records of the dataset files, by their id or by the words of their question."""

    def __init__(self, folder: Path) -> None:
        self.gsm8k = {_flat(row["question"]): row for row in _rows(folder / "gsm8k")}
        self.situatedqa: dict[str, list[Row]] = defaultdict(list)
        for row in _rows(folder / "situatedqa"):
            self.situatedqa[_flat(row["question"])].append(row)
        self.by_id = {name: {row[key]: row for row in _rows(folder / name)} for name, key in IDS.items()}

    def answers(self, sample: Row) -> set[str]:
        """The answers that the source file has for what the sample asks, hidden fact included."""
        name, _, key = sample["provenance"]["source_id"].partition(":")
        if name == "gsm8k":
            text = self.gsm8k[_flat(sample["original"])]["answer"]
            final = _amount(text.rpartition("####")[2])
            return {written(final)} if final == _amount(re.findall(r"<<[^<>=]*=([^<>]*)>>", text)[-1]) else set()
        if name == "situatedqa":
            return self._dated_or_placed(sample)
        record = self.by_id[name][key.partition("/")[0]]
        if name == "ambignq":
            return self._reading(record, sample)
        answer = {True: "yes", False: "no"}.get(record["answer"]) or record["answer"].strip()
        return {answer} if _flat(record["question"]).strip("?. ") in _flat(sample["prompt"]) else set()

    def _reading(self, record: Row, sample: Row) -> set[str]:
        readings = [one for some in record["disambiguations"] for one in some]
        if sample["hidden"]:
            # The reading that says what the user would say: the words of the hidden fact, in a row if one has them so.
            said = [word for word in re.findall(r"\w+", sample["hidden"]["span"].lower()) if word not in ("the", "one")]
            asked = [(re.findall(r"\w+", one["question"].lower()), one["answer"][0]) for one in readings]
            exact = {answer for words, answer in asked if f" {' '.join(said)} " in f" {' '.join(words)} "}
            return exact or {answer for words, answer in asked if set(said) <= set(words)}
        question = _flat(sample["question"]).rstrip("?")
        if _flat(record["question"]).rstrip("?") == question and record["answer"]:
            return {record["answer"][0]}
        return {one["answer"][0] for one in readings if _flat(one["question"]).rstrip("?") == question}

    def _dated_or_placed(self, sample: Row) -> set[str]:
        """The answer for the year or place that the user would say; without one, that of all years if they agree."""
        rows = self.situatedqa[_flat(sample["question"]).rstrip("?")]
        if sample["hidden"]:
            said = {name.lower() for name in sample["hidden"]["readings"][0]}
            return {row["answer"][0] for row in rows if (row.get("date") or row["location"]).lower() in said}
        answers = [row["answer"][0] for row in rows if len(row.get("date", "")) == 4]
        bare = {re.sub(r"\b(?:the|a|an)\b|\W", "", answer.lower()) for answer in answers}
        return {sample["answer"]} if len(bare) == 1 and sample["answer"] in answers else set(answers)


def _rows(folder: Path) -> list[Row]:
    rows: list[Row] = []
    for path in sorted(folder.glob("*.json*")):
        if path.suffix == ".jsonl":
            rows += map(json.loads, path.read_text().splitlines())
        elif isinstance(found := json.loads(path.read_text()), list):
            rows += found
    return rows


def _flat(text: str) -> str:
    return re.sub(r"\s+(?=[?,.])", "", " ".join(text.split())).lower()


def _amount(text: str) -> Fraction:
    return Fraction(re.sub(r"[^\d.\-]", "", text).rstrip("."))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pools", nargs="+", type=Path)
    parser.add_argument("--data-dir", type=Path, help="folder of the dataset files")
    wanted = parser.parse_args()
    files = SourceFiles(wanted.data_dir) if wanted.data_dir else None
    seen: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for line in (line for path in wanted.pools for line in path.read_text().splitlines()):
        sample = json.loads(line)
        group = f"{sample['provenance']['source_id'].partition(':')[0]} {sample['task']} {sample['lang']}"
        group += " incomplete" if sample["hidden"] else " complete"
        found = files.answers(sample) if files else builtin(sample)
        seen[group] += 1
        right[group] += found == {sample["answer"]}
        if found != {sample["answer"]}:
            print(f"{sample['id']}: gold {sample['answer']!r}, found {sorted(found)}\n    {sample['prompt']}")
    for group in sorted(seen):
        print(f"{group}: {right[group]} of {seen[group]} agree")
    print(f"{seen.total() - right.total()} of {seen.total()} differ")
    sys.exit(seen != right)


if __name__ == "__main__":
    main()
