"""Verbs of the gates: round, verify, sign-off. Training behind the gates is `ppo_runner` in train.py."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.table import Table
from rich.text import Text

from ..core.errors import BadInput
from . import options, show

if TYPE_CHECKING:
    from ..gates.ticket import Round


def run_round(
    number: Annotated[int, typer.Option("--round", min=1, max=2, help="Which round: 1, then 2.")],
    profile: Annotated[
        Literal["quickstart", "rc1"], typer.Option("--profile", help="Profile in configs/gates/ with the thresholds.")
    ] = "rc1",
    as_json: options.Json = False,
) -> None:
    """Measure every gate again from the evidence. A passed round 2 writes the ticket that training needs."""
    from ..gates.rounds import run_round as run

    with show.scoring_progress(f"round {number}: scoring") as progress:
        report, path = run(number, profile, os.environ, show.complain, progress)
    if as_json:
        show.print_json(report)
    else:
        _show_round(report)
        show.say(f"wrote {path}")
    if not report.passed:
        raise typer.Exit(report.exit_code)


def verify(
    deep: Annotated[bool, typer.Option("--deep", help="Also compute every gate again and compare.")] = False,
) -> None:
    """Check all evidence again from the files alone. Names the first file that does not match."""
    from ..gates.verify import verify as check

    rounds = check(deep, show.say)
    show.say(f"VERIFIED: {', '.join(one.round for one in rounds)}{', derived again' if deep else ''}")


def sign_off(
    key: Annotated[Path, typer.Option("--key", help="The owner's private Ed25519 key (PEM).")],
) -> None:
    """Sign the ticket in this folder as its owner. All evidence is verified first."""
    from ..gates.sign_off import sign_off as sign
    from ..gates.ticket import ENVELOPE, TICKET
    from ..gates.verify import verify as check

    ticket = next((one for one in check(False, show.say, signed=False) if one.round == "round2" and one.passed), None)
    if ticket is None:
        raise BadInput("there is no ticket to sign", where=str(TICKET), remedy="run both rounds first")
    show.say(f"wrote {sign(key, show.password_of(key), TICKET, ticket.profile, ticket.run, ENVELOPE)}")


def _show_round(report: Round) -> None:
    table = Table("gate", "check", "value", "must be", "", box=None, pad_edge=False)
    for one in report.findings:
        value = "not measured" if one.value is None else show.number(one.value, beside=one.threshold)
        limit = f"{one.rule} {show.number(one.threshold)}"
        table.add_row(one.gate, Text(one.name), value, limit, "" if one.passed else "FAILED")
    show.print_table(table)
    for one in report.failed:
        show.say(f"FAILED {one.gate}: {one.name}")
        show.say(f"  What to do: {one.remedy}")
        show.say(f"  怎么办：{one.remedy_zh}")
    verdict = "PASSED" if report.passed else "FAILED"
    failed = "" if report.passed else f", {len(report.failed)} failed"
    show.say(f"{verdict} {report.round} ({report.profile}): {len(report.findings)} checks{failed}")
