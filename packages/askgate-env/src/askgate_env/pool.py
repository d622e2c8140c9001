"""Pools: JSONL files with one `Sample` per line. A small one comes with the package."""

from __future__ import annotations

from pathlib import Path

import msgspec

from .types import Sample

DEMO_POOL = Path(__file__).parent / "demo_pool.jsonl"
"""60 generated samples, half of them with missing information, in English and Chinese:
`askgate build-rollout-pool --n 60 --clarify-rate 0.5 --seed 7`."""


def load_pool(path: Path | str | None = None) -> list[Sample]:
    """The samples of a pool, by default those of `DEMO_POOL`. Raises ValueError with file and line for a bad one."""
    file, decoder = Path(path or DEMO_POOL), msgspec.json.Decoder(Sample)
    samples = []
    with open(file, "rb") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                samples.append(decoder.decode(line))
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                raise ValueError(f"{file}:{number}: not a sample ({error})") from None
    return samples
