"""Real weights and real data for `bench/learning.py`: SmolLM2-135M-Instruct on GSM8K, HotpotQA, StrategyQA, UMWP and
AmbigNQ.

    python bench/real_models.py model --out DIR/smollm2            weights of the local judge (GGUF) as a model folder
    python bench/real_models.py data --data_dir OFFICIAL --out DIR [--tools wiki,calc] [--builtin 10000]
    python bench/learning.py run --config bench/smollm2.yaml --device cuda --model DIR/smollm2 --data DIR \\
        --out results --arm sft --seed 1 --save DIR/sft1
    python bench/learning.py run ... --arm sft_grpo --seed 1 --start DIR/sft1 --set strategy_options.group_size=6
    python bench/learning.py table results

The GGUF is dequantized (Q4_1), so the weights are those of SmolLM2 rounded to 4 bits, kept in float16.

*Pool*: the records of the train part that the readers accept, in the wording of `BUILDS` seeds. Few real records lack
information, so each is used once per seed, with other words around it; the printed counts say how often. *Held out*:
records of the shadow part (one in seven, by a hash of the source id), each once; all that lack information, and a
number of complete ones. Of UMWP only the categories 1 (missing information) and 2 (ambiguous amount) are used.
`--builtin N` adds N generated English samples to the pool, not to the held-out samples.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import torch
from gguf import GGUFReader
from msgspec.structs import replace
from transformers import AutoModelForCausalLM, LlamaConfig

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "packages/askgate-env/src")]

from askgate_env.actions import TOOLS  # noqa: E402
from askgate_env.types import Sample, Task  # noqa: E402
from bench.learning import source_of  # noqa: E402
from src.core.defaults import TEMPLATES  # noqa: E402
from src.core.files import json_bytes, sidecar  # noqa: E402
from src.core.jsonl import read_records  # noqa: E402
from src.data.pool.build import build_pool  # noqa: E402
from src.data.pool.meta import PoolMeta  # noqa: E402
from src.data.pool.plan import BuildPlan  # noqa: E402
from src.release.gguf_tokenizer import read_tokenizer  # noqa: E402
from src.scoring.local_judge import cache_folder, judge_weights  # noqa: E402

BUILDS = (1, 2, 3)
"""Seeds of the builder, one wording of each record per seed."""
MIX: dict[Task, float] = {"gsm8k": 0.7, "strategyqa": 0.17, "hotpotqa": 0.13}
TRAIN = {"dir": 1300, "umwp": 800, "ambignq": 250}
"""Samples per source and build; half of them are to lack information, and as many do as there are such records."""
SHADOW = {"dir": 480, "umwp": 220, "ambignq": 250}
"""Of UMWP nearly all that the readers accept."""
COMPLETE = {"gsm8k": 90, "strategyqa": 50, "hotpotqa": 50, "umwp": 70, "ambignq": 30}
"""Complete held-out samples by source."""
CATEGORIES = frozenset({"umwp-1", "umwp-2"})
BUILTIN_MIX: dict[Task, float] = {"gsm8k": 0.6, "hotpotqa": 0.2, "strategyqa": 0.2}
"""Tasks of the generated samples: the real need-ask records are mostly word problems."""


def make_model(out: Path) -> None:
    """A model loaded from a GGUF file refuses `save_pretrained`, so its weights go into a fresh one."""
    path = judge_weights(None, cache_folder(os.environ), print)
    loaded = AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=torch.float32)
    config = loaded.config.to_dict()
    del config["quantization_config"]
    auto: Any = AutoModelForCausalLM
    model = auto.from_config(LlamaConfig(**config))
    model.load_state_dict(loaded.state_dict())
    model.half().save_pretrained(out)
    read_tokenizer(GGUFReader(path)).save_pretrained(out)


def make_data(data_dir: Path, out: Path, tools: tuple[str, ...], builtin: int) -> None:
    out.mkdir(parents=True, exist_ok=True)
    train, metas = _built(data_dir, "train", TRAIN, tools)
    if builtin:
        generated, meta = _generated(builtin, tools)
        train, metas = [*train, *generated], [*metas, meta]
    _write(out / "pool.jsonl", train, metas)
    shadow, metas = _built(data_dir, "shadow", SHADOW, tools)
    _write(out / "held_out.jsonl", _held_out(shadow), metas)


def _built(
    data_dir: Path, split: str, sizes: dict[str, int], tools: tuple[str, ...]
) -> tuple[list[Sample], list[PoolMeta]]:
    samples: list[Sample] = []
    metas: list[PoolMeta] = []
    with TemporaryDirectory() as folder:
        for seed in BUILDS:
            for source, n in sizes.items():
                plan = BuildPlan(
                    n=n, mix=MIX, seed=seed, langs=(), templates_dir=TEMPLATES, clarify_rate=0.5, source=source,
                    data_dir=data_dir, split="train" if split == "train" else "shadow", tools=tools,
                )  # fmt: skip
                file = Path(folder) / f"{source}{seed}.jsonl"
                metas.append(build_pool(plan, file))
                samples += [one for one in read_records(file, Sample) if _is_used(one)]
    return samples, metas


def _generated(n: int, tools: tuple[str, ...]) -> tuple[list[Sample], PoolMeta]:
    """Samples of the built-in worlds in English, 40% of them need-ask."""
    with TemporaryDirectory() as folder:
        plan = BuildPlan(
            n=n, mix=BUILTIN_MIX, seed=BUILDS[0], langs=("en",), templates_dir=TEMPLATES, clarify_rate=0.4, tools=tools
        )
        file = Path(folder) / "builtin.jsonl"
        meta = build_pool(plan, file)
        return list(read_records(file, Sample)), meta


def _is_used(sample: Sample) -> bool:
    return sample.provenance.source != "umwp" or not sample.ambiguity or bool(CATEGORIES & {*sample.ambiguity})


def _held_out(samples: Sequence[Sample]) -> Iterator[Sample]:
    """One sample per record: all that lack information, then complete ones."""
    used: set[str] = set()
    counts: Counter[str] = Counter()
    for needs in (True, False):
        for sample in samples:
            group, source = sample.provenance.source_id.partition("/")[0], source_of(sample)
            if (
                sample.needs_clarification != needs
                or group in used
                or (not needs and counts[source] >= COMPLETE[source])
            ):
                continue
            used.add(group)
            counts[source] += not needs
            yield sample


def _write(path: Path, samples: Sequence[Sample] | Iterator[Sample], metas: Sequence[PoolMeta]) -> None:
    """A pool from several sources, with the sidecar that a trainer asks for."""
    kept = list(samples)
    lines = b"".join(msgspec.json.encode(sample) + b"\n" for sample in kept)
    path.write_bytes(lines)
    files = {name: digest for meta in metas for name, digest in meta.sources_sha256.items()}
    # The trainer refuses a pool whose sources are not those of the held-out samples. Generated samples cannot be copies
    # of real ones, so the sidecar leaves them out, although they are in the pool.
    sources = "+".join(dict.fromkeys(meta.source for meta in metas if meta.source != "builtin"))
    sha256 = hashlib.sha256(lines).hexdigest()
    meta = replace(metas[0], sha256=sha256, n=len(kept), source=sources, sources_sha256=files, data_dir="")
    sidecar(path).write_bytes(json_bytes(meta))
    records = {(source_of(one), one.needs_clarification, one.provenance.source_id) for one in kept}
    print(f"{path}: {len(kept)} samples")
    for source, needs in sorted({(source, needs) for source, needs, _ in records}):
        count = sum(source_of(one) == source and one.needs_clarification == needs for one in kept)
        distinct = sum(key[:2] == (source, needs) for key in records)
        print(f"  {source}, {'need-ask' if needs else 'complete'}: {count} samples of {distinct} records")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    model = verbs.add_parser("model", help="SmolLM2 as a model folder")
    model.add_argument("--out", type=Path, required=True)
    data = verbs.add_parser("data", help="pool and held-out samples")
    data.add_argument("--data_dir", type=Path, required=True, help="folder of the official files")
    data.add_argument("--out", type=Path, required=True)
    data.add_argument("--tools", default=",".join(TOOLS))
    data.add_argument("--builtin", type=int, default=0, help="generated samples to add to the pool")
    arguments = parser.parse_args()
    if arguments.verb == "model":
        make_model(arguments.out)
    else:
        tools = tuple(filter(None, arguments.tools.split(",")))
        make_data(arguments.data_dir, arguments.out, tools, arguments.builtin)


if __name__ == "__main__":
    main()
