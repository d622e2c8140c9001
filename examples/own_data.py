"""Turn your own word problems into held-out samples and a training pool, and read two samples.

    python examples/own_data.py                             # the problems in examples/own_data/gsm8k/
    python examples/own_data.py --data-dir own --out data   # your own files in own/gsm8k/*.jsonl

The records have the format of GSM8K: a question and a solution with `<<48/2=24>>` marks.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from askgate.core.jsonl import read_records
from askgate.data.pool.build import build_pool
from askgate.data.pool.plan import BuildPlan
from askgate.data.pool.shadow_set import materialize_shadow
from askgate_env.types import Sample

HERE = Path(__file__).parent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", "--data_dir", type=Path, default=HERE / "own_data")
    parser.add_argument("--out", type=Path, default=Path("data"))
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    held_out, pool = arguments.out / "own_shadow.jsonl", arguments.out / "own_pool.jsonl"

    def plan(n: int) -> BuildPlan:
        return BuildPlan(
            n=n,
            mix={"gsm8k": 1.0},
            seed=20250820,
            langs=(),
            templates_dir=Path("templates/pack_v2"),
            clarify_rate=0.3,
            source="dir",
            data_dir=arguments.data_dir,
        )

    materialize_shadow(plan(16), stratify=True, out=held_out, manifest=None, tag="own_data")
    build_pool(plan(80), pool)

    samples = list(read_records(pool, Sample))
    incomplete = [sample for sample in samples if sample.needs_clarification]
    complete = [sample for sample in samples if not sample.needs_clarification]
    print(f"{len(samples)} samples in {pool}, {len(incomplete)} of them incomplete; held out: {held_out}")
    show("complete", complete[0])
    show("incomplete: the assistant has to ask", incomplete[3])
    print(f"\nNext: askgate validate-pool {pool} --leak-check {held_out} --by-task gsm8k")


def show(title: str, sample: Sample) -> None:
    print(f"\n--- {title}; gold answer {sample.answer}")
    for turn in sample.dialogue:
        print(f"{turn.by:>9} [{turn.tool or turn.act}] {turn.text}")


if __name__ == "__main__":
    main()
