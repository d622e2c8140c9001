"""The verb `review`: the weekly page."""

from __future__ import annotations

from typing import Annotated

import typer

from . import options, show
from .quickstart import ProfileFlag, last_run


def review(
    profile: ProfileFlag = None,
    days: Annotated[int, typer.Option("--days", min=1, help="How far to look back.")] = 7,
    as_json: options.Json = False,
) -> None:
    """Write the weekly review. Gates, KPIs and what moved, as Markdown and as a page with pictures."""
    from datetime import UTC, datetime

    from ..config.profile import load_profile
    from ..core.files import atomic_files, json_bytes
    from ..core.paths import newest_evaluation
    from ..loop.kpi import measure
    from ..pages.review import FOLDER, NAME
    from ..pages.review import review as look_back
    from ..pages.review_page import markdown, review_page

    now = datetime.now(UTC)
    found = look_back(now, days, measure(load_profile(profile or last_run()), newest_evaluation()))
    stem = FOLDER / now.strftime(NAME)
    made = {
        stem.with_suffix(".md"): markdown(found),
        stem.with_suffix(".html"): review_page(found),
        stem.with_suffix(".json"): json_bytes(found),
    }
    with atomic_files() as start:
        for path, content in made.items():
            start(path).write(content)
    if as_json:
        show.print_json(found)
        return
    show.say(
        f"in {days} days: stages measured {len(found.events)}, trained policies evaluated {len(found.evaluations)}"
    )
    for path in made:
        show.say(f"wrote {path}")
