"""Rendering: text is escaped, an unknown name is an error, and everything that is shown has a label."""

from __future__ import annotations

import re

import pytest
from jinja2 import UndefinedError

from askgate_env.types import TASKS
from src.eval.metrics import HARD_READING
from src.gates.gate import GATES
from src.pages import render
from src.pages.difficulty import BUCKET_BOUNDS
from src.pages.rc1_report import GROUPS


def test_templates_escape_text() -> None:
    shown = render.environment().from_string("{{ text }} {{ bilingual(text, text) }}").render(text="<b>")
    assert shown == '&lt;b&gt; <span lang="en">&lt;b&gt;</span><span class="zh" lang="zh"> &lt;b&gt;</span>'


def test_an_unknown_name_in_a_template_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        render.environment().from_string("{{ nothing }}").render()


def test_the_stylesheet_loads_nothing() -> None:
    assert not re.search(r"url\(|@import|https?:", render.stylesheet())


def test_everything_that_is_shown_has_a_label() -> None:
    labels = render.LABELS
    assert tuple(labels["gates"]) == tuple(GATES)
    assert tuple(labels["outcomes"]) == GROUPS
    assert set(labels["trial_scopes"]) == {"", *TASKS, "easy", "medium", "hard", HARD_READING}
    assert set(BUCKET_BOUNDS) <= set(labels["difficulty_metrics"])
    assert all(len(label) == 2 for name, group in labels.items() if name != "not_shares" for label in group.values())


def test_the_alarm_of_a_share_is_in_percent() -> None:
    made = render.environment().from_string(
        '{% from "macros.html" import alarm %}{{ alarm(kpi, true) }}; {{ alarm(kpi, false) }}'
    )
    kpi = {"alarm": {"rule": ">=", "limit": 0.95, "on": False}}
    with render.one_language("en"):
        shown = made.render(kpi=kpi)
    assert "alarm at &gt;= 95%" in shown
    assert "alarm at &gt;= 0.95" in shown
