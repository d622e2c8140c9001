"""Verbs that make the small fixed sets: shadow_run (the shadow set) and make_min_data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..core.errors import BadInput
from . import options, parse, show


def shadow_run(
    n: Annotated[int, typer.Option("--n", min=1, help="Samples of the shadow set.")] = 245,
    seed: options.Seed = options.SEED,
    stratify: Annotated[bool, typer.Option("--stratify", help="Give every task exactly its share.")] = False,
    materialize: Annotated[Path | None, typer.Option("--materialize", help="Write the shadow set here.")] = None,
    dump_manifest: Annotated[Path | None, typer.Option("--dump-manifest", help="Write the list of samples here.")] = (
        None
    ),
    tag: Annotated[str, typer.Option("--tag", help="A label for the manifest.")] = "",
    source: options.Source = "builtin",
    data_dir: options.DataDir = None,
    mix: options.Mix = options.MIX,
    lang: options.Lang = "",
    templates_dir: options.TemplatesDir = options.TEMPLATES,
    as_json: options.Json = False,
) -> None:
    """Materialize the shadow set. Held-out samples that no pool may contain."""
    if materialize is None:
        raise BadInput(
            "comparing rewards needs recorded episodes of a policy, and this version only materializes the shadow set",
            where="--materialize",
            remedy="name the file to write, for example --materialize data/shadow_eval_245.jsonl",
        )
    from ..data.plan import BuildPlan
    from ..data.shadow import materialize_shadow

    plan = BuildPlan(
        n=n,
        mix=parse.mix(mix),
        seed=seed,
        langs=parse.langs(lang),
        templates_dir=templates_dir,
        source=source,
        data_dir=data_dir,
        split="shadow",
    )
    meta = materialize_shadow(plan, stratify, out=materialize, manifest=dump_manifest, tag=tag)
    files = [materialize, *([dump_manifest] if dump_manifest else [])]
    show.made(files, as_json, left_aside=meta.left_aside)


def make_min_data(as_json: options.Json = False) -> None:
    """Make the smallest training and evaluation data. data/train_min.jsonl and data/eval_min.jsonl."""
    from ..data.minimal import make_minimal

    show.made(make_minimal(Path("data")), as_json)
