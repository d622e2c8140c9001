"""The gated run: `python -m train.ppo_runner`. The ticket is checked first, and no flag skips that."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..checkpoint.store import LATEST
from ..cli import options, show
from ..core.errors import BadInput

ROOT = Path("checkpoints/rc1")


def ppo_runner(
    config: Annotated[Path, typer.Option("--config", help="The training config that the ticket is for.")] = (
        Path("configs/ppo_scale.yaml")
    ),
    resume_from: Annotated[
        Path | None,
        typer.Option("--resume-from", help="Go on from the newest whole checkpoint: checkpoints/rc1/latest."),
    ] = None,
    overrides: options.Set = None,
    as_json: options.Json = False,
) -> None:
    """Train behind the gates. Refused, with the reason, unless both rounds passed on the files as they are now."""
    from ..gates.ticket import admit
    from .outcome import tell
    from .run import run

    admission = admit(config, overrides)
    if resume_from is not None:
        require_ours(resume_from)
    outcomes = run(config, resume_from is not None, admission, overrides)
    record(outcomes_of())
    if as_json:
        show.print_json([outcome.summary() for outcome in outcomes])
    else:
        for outcome in outcomes:
            tell(outcome)


def require_ours(folder: Path) -> None:
    """`checkpoints/rc1/latest`, that of a seed, or the folder it lies in. Each seed goes on from its newest, so a step
    that is named would not be the one."""
    inside = folder.absolute().is_relative_to(ROOT.absolute()) and folder.resolve().is_relative_to(ROOT.resolve())
    run = folder.parent if folder.name == LATEST else folder
    # A link need not be there: several seeds have one each, some drives have none, and the mirror may be all there is.
    if not folder.exists() and folder.name != LATEST:
        what = "there is no checkpoint here"
    elif not inside:
        what = f"a gated run goes on from what lies in {ROOT}"
    elif run.resolve() not in [one.resolve() for one in (ROOT, *ROOT.glob("seed_*"))]:
        what = "a run goes on from its newest checkpoint, and no other can be named"
    else:
        return
    raise BadInput(
        what, where=f"--resume-from {folder}", remedy=f"give {ROOT / LATEST}, or start without --resume-from"
    )


def outcomes_of() -> list[Path]:
    """What a run has left that others build on: seals of the final models, and the newest report on them."""
    from ..checkpoint.seal import MANIFEST

    seals = sorted(ROOT.glob(f"**/final_model/{MANIFEST}"))
    reports = sorted(Path("reports").glob("ppo_eval_*.json"), key=lambda path: path.stat().st_mtime)[-1:]
    return [*seals, *reports]


def record(made: list[Path]) -> None:
    from ..gates.manifest import Manifest

    Manifest().record(made)
