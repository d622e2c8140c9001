"""The page of `askgate demo`: two policies side by side on the same samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from askgate_env.types import Episode, Sample

from .render import render_page

Pair = tuple[Sample, Mapping[str, Episode]]
"""A sample, and the episodes of `base` and `trained`."""


def demo_page(
    models: Mapping[str, str],
    pairs: Sequence[Pair],
    counts: Mapping[str, Mapping[str, tuple[int, int]]],
    digests: Mapping[str, str],
) -> bytes:
    """`models`: names of the policies by side. `counts`: by side and figure, how many of how many samples."""
    return render_page("demo.html", models=models, pairs=pairs, counts=counts, digests=digests)
