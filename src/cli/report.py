"""The verb `report`: the RC1 report of a run, as a page and as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..core.errors import BadInput
from . import options, show
from .quickstart import ProfileFlag, last_run

if TYPE_CHECKING:
    from ..config.profile import Profile
    from ..pages.rc1.contents import Rc1

RC1_PAGE, RC1_JSON = Path("reports/rc1/RC1.html"), Path("reports/rc1/RC1.json")


def report(
    profile: ProfileFlag = None,
    evaluation: Annotated[
        Path | None,
        typer.Option("--evaluation", help="Report of `evaluate`; left out: the newest reports/ppo_eval_*.json."),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Write the RC1 report. A page that opens from disk, and its JSON; exit code 0 only where all passed."""
    from ..config.profile import load_profile

    if evaluation is not None and not evaluation.is_file():
        raise BadInput(
            "no such file", where=str(evaluation), remedy="name a report that `askgate evaluate` has written"
        )
    found = write_rc1(load_profile(profile or last_run()), evaluation)
    if as_json:
        show.print_json(found)
    else:
        for one in found.verdict:
            show.say(f"{'PASSED' if one.passed else 'FAILED'} {one.name} {one.name_zh}: {one.told}")
        show.say(f"wrote {RC1_PAGE}")
        show.say(f"wrote {RC1_JSON}")
    if not found.passed:
        raise typer.Exit(1 if all(one.genuine for one in found.verdict) else 2)


def write_rc1(profile: Profile, evaluation: Path | None = None) -> Rc1:
    """Both files or neither."""
    from ..core.files import atomic_files, json_bytes
    from ..core.paths import EVAL_METRICS, METRICS, newest_evaluation
    from ..pages.rc1.gather import gather
    from ..pages.rc1.page import rc1_page
    from ..pages.results import log_lines

    found = gather(profile, evaluation or newest_evaluation(), log_lines(METRICS), log_lines(EVAL_METRICS))
    with atomic_files() as start:
        start(RC1_PAGE).write(rc1_page(found))
        start(RC1_JSON).write(json_bytes(found))
    return found
