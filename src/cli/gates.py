"""Verbs of the gates: round, verify, sign-off. Training behind the gates is `ppo_runner` in train.py."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from ..core.errors import BadInput
from . import options, show

if TYPE_CHECKING:
    from ..gates.ticket import Round


def run_round(
    number: Annotated[int, Option("--round", min=1, max=2, help="Number of the round: 1, then 2.")],
    profile: options.GateProfile = "rc1",
    as_json: options.Json = False,
) -> None:
    """Run a round of gates.

    Measures every gate from the files. A passed round 2 writes the ticket that ppo_runner needs.
    """
    from ..gates.rounds import run_round as run

    with show.Terminal().scoring(f"round {number}: scoring") as progress:
        report, path = run(number, profile, os.environ, show.complain, progress)
    show.result(report, as_json, _print_round, path)
    if not report.passed:
        raise typer.Exit(report.exit_code)


def verify(
    deep: Annotated[bool, Option("--deep", help="Also measure every gate again and compare the figures.")] = False,
) -> None:
    """Verify the evidence of the rounds against its checksums. Names the first file that does not match."""
    from ..gates.verify import verify as check

    rounds = check(deep, show.say)
    show.say(f"VERIFIED: {', '.join(one.round for one in rounds)}{', measured again' if deep else ''}")


def sign_off(key: Annotated[Path, Option(help="The owner's private Ed25519 key (PEM).")]) -> None:
    """Sign the ticket in this folder with the owner's key. Verifies the evidence first."""
    from ..gates.sign_off import sign_off as sign
    from ..gates.ticket import ENVELOPE, TICKET
    from ..gates.verify import verify as check

    ticket = next((one for one in check(False, show.say, signed=False) if one.round == "round2" and one.passed), None)
    if ticket is None:
        raise BadInput("there is no ticket to sign", where=str(TICKET), remedy="run both rounds first")
    show.wrote(sign(key, show.password_of(key), TICKET, ticket.profile, ticket.run, ENVELOPE))


def _print_round(report: Round) -> None:
    columns = ("gate", "check", "value", "must be", "")
    rows = (
        [one.gate, one.name, show.measured(one), show.limit(one), "" if one.passed else "FAILED"]
        for one in report.findings
    )
    show.print_table(columns, rows, text=columns)
    for one in report.failed:
        show.print_failure(f"{one.gate}: {one.name}", one)
    verdict = "PASSED" if report.passed else "FAILED"
    failed = "" if report.passed else f", {len(report.failed)} failed"
    show.say(f"{verdict} {report.round} ({report.profile}): {len(report.findings)} checks{failed}")
