"""Commands of the gates before training: round, verify, anchor, sign-off."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from ..core.defaults import DIALOGUES, ProfileName
from ..core.errors import BadInput
from ..runtime.language import in_language as both
from ..utils.processes import rare_collections
from . import options, show

if TYPE_CHECKING:
    from ..gates.ticket import Round

ROUND_SETTINGS = {"RUN_MODE": "prod", "REWARD_LIVE_MODE": "1", "SCORER_PROVIDER": "local"}
"""Variables that a round needs, each with a value that works without a key."""


def run_round(
    number: Annotated[int | None, Argument(metavar="NUMBER", min=1, max=2)] = None,
    numbered: Annotated[int | None, Option("--round", min=1, max=2, hidden=True)] = None,
    profile: ProfileName | None = None,
    replaces: Annotated[str, Option("--replace", metavar="PROFILE")] = "",
    again: Annotated[bool, Option("--readmit")] = False,
    as_json: options.Json = False,
) -> None:
    """Check the gates before training: round 1 first, then round 2.

    A gate compares measured values with thresholds. Round 1 shows what you still have to fix. Round 2 needs a passed
    round 1, the same files and the same code. It measures every gate again, and the judge scores new samples. So
    nothing can be changed between the rounds, and the judge is tested twice. If round 2 passes, it writes the ticket
    that ppo-runner needs.

    Both rounds call the judge. A paid provider bills these calls.

    Each round needs RUN_MODE=prod (no simulated scores), REWARD_LIVE_MODE=1 (allows calls to the judge) and
    SCORER_PROVIDER (which judge).
    """
    from ..gates.readmit import readmit
    from ..gates.rounds import run_round as run

    number = number or numbered
    if (number is None) != again:
        raise BadInput(
            "give a number or --readmit, not both",
            where="askgate round",
            remedy="write `askgate round 1`, then `askgate round 2`",
        )
    if number is None:
        report, path = readmit(show.Terminal().message)
        options.say_profile(report.profile)
        show.result(report, as_json, _print_round, *([path] if report.passed else []))
        raise typer.Exit(report.exit_code)
    profile = options.chosen_profile(profile, "rc1")
    if missing := {name: value for name, value in ROUND_SETTINGS.items() if not os.environ.get(name, "").strip()}:
        typed = "export " + " ".join(f"{name}={value}" for name, value in missing.items())
        own = ", or name your own judge with SCORER_PROVIDER" if "SCORER_PROVIDER" in missing else ""
        raise BadInput("a round needs settings that are not set", where=", ".join(missing), remedy=typed + own)
    with show.Terminal().scoring(both(f"round {number}: scoring", f"第 {number} 轮预检: 评分")) as progress:
        report, path = run(number, profile, os.environ, show.note, progress, replaces)
    show.result(report, as_json, _print_round, path)
    if not report.passed:
        raise typer.Exit(report.exit_code)


def verify(
    deep: Annotated[bool, Option("--deep")] = False,
    owner_key: str = "",
    dialogues: Annotated[int, Option(min=1)] = DIALOGUES,
    tsa_root: str = "",
) -> None:
    """Verify the evidence of the rounds and the results of training. Names the first file or value that is wrong.

    Evidence: the files that gates read and wrote, with their SHA-256.
    """
    with rare_collections():
        from ..gates.verify import verify as check
        from ..training.verify_results import verify_results

        rounds = check(deep, show.say_translated, owner_key=owner_key, tsa_root=tsa_root)
        verify_results(deep, show.say_translated, dialogues=dialogues)
    names = ", ".join(one.round for one in rounds)
    show.say(
        f"VERIFIED: {names}{', measured again' if deep else ''}",
        f"VERIFIED 核验通过：{names}{'，已重新测量' if deep else ''}",
    )


def anchor(url: Annotated[str, Argument(metavar="URL")], root: Annotated[Path, Option()]) -> None:
    """Get a timestamp for the evidence from a timestamp authority. Only one hash is sent."""
    from ..gates.anchor import ANCHORS, make_anchor

    make_anchor(url, root, show.say_translated)
    show.wrote(ANCHORS)


def sign_off(key: Path | None = None, amber: str = "", by: str = "", reason: str = "") -> None:
    """Sign the ticket of this folder, or sign off (accept) an amber.

    The command verifies the evidence first. A ticket needs a signature only if the profile names an owner key.

    An amber is a caveat of a stage that passed, such as judge_auc (the judge's scores do not tell successes from
    failures). One light can have several. Before `askgate package`, every amber must be signed off separately (--amber
    NAME). The light stays amber. If an amber is signed off twice, both records are kept.

    One amber cannot be signed off: weaker_thresholds. It means that your profile is less strict than AskGate's own (a
    weaker threshold, or fewer samples, votes or ablation steps), or has another seed or task mix. Such a run cannot be
    packaged. Restore the values, run both rounds and train again.
    """
    from ..config.profile import load_profile
    from ..gates.sign_off import require_owner_key
    from ..gates.sign_off import sign_off as sign
    from ..gates.ticket import ENVELOPE, TICKET
    from ..gates.verify import verify as check

    ticket = next(
        (one for one in check(False, show.say_translated, signed=False) if one.round == "round2" and one.passed), None
    )
    if ticket is None:
        raise BadInput("there is no ticket to sign", where=str(TICKET), remedy="run both rounds first")
    profile, password, by, reason = load_profile(ticket.profile), show.password_of(key), by.strip(), reason.strip()
    if amber:
        from ..gates.ambers import ambers, sign_amber

        # Shown so that the signer knows what is accepted. `sign_amber` refuses an unknown name.
        show.print_ambers([one.fact for one in ambers(profile) if one.name == amber])
        by = by or show.ask("your name", "你的姓名")
        reason = reason or show.ask(f"why {amber} is acceptable", f"为何可以接受 {amber}")
        show.wrote(sign_amber(profile, amber, key, password, by, reason))
        return
    if key is None:
        raise BadInput("is missing", where="--key", remedy="name the owner's private key, or an amber with --amber")
    if profile.owner_key is None:
        raise BadInput(
            "names no owner key, so nothing would check the signature",
            where=f"profile {profile.name}",
            remedy="set owner_key in the profile and run both rounds again, then sign",
        )
    require_owner_key(profile, key, password)
    show.wrote(sign(key, password, TICKET, ticket.profile, ticket.run, ENVELOPE, by, reason))


def _print_round(report: Round) -> None:
    from ..pages.render import LABELS

    gates = {one.gate: both(one.gate, LABELS["gates"][one.gate][1]) for one in report.findings}
    columns = (both("gate", "闸门"), both("check", "检查"), both("value", "实测"), both("must be", "要求"), "")
    rows = (
        [gates[one.gate], one.name, show.measured(one), show.limit(one), "" if one.passed else both("FAILED", "未通过")]
        for one in report.findings
    )
    show.print_table(columns, rows, text=columns)
    for one in report.failed:
        show.print_failure(f"{gates[one.gate]}{both(': ', '：')}{one.name}", one)
    show.print_ambers(report.ambers)
    verdict = both("PASSED", "通过") if report.passed else both("FAILED", "未通过")
    failed = "" if report.passed else f", {len(report.failed)} failed"
    checks = both(
        f"{len(report.findings)} checks{failed}", f"{len(report.findings)} 项检查，{len(report.failed)} 项未过"
    )
    show.say(f"{verdict} {report.round} ({report.profile}): {checks}")
