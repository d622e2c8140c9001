"""The verdict on a release candidate: five questions, all answered from the files of the run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from ..config.train_config import TrainConfig
from ..core.errors import BadInput
from ..core.files import sha256_file
from ..eval.trial import TrialReport
from ..gates.ticket import REFUSAL, ROUND1, TICKET, Round, final_models, read_round
from ..gates.verify import verify

EVIDENCE = "Evidence"


class VerdictPoint(Struct, frozen=True):
    """A part of the verdict. What was not measured has not passed."""

    name: str
    name_zh: str
    passed: bool
    told: str
    """The finding in one line."""
    genuine: bool = True
    """False: a file is not what it claims to be, which is worse than a figure that missed its threshold."""


def verdict(profile: str, evaluation: TrialReport | None) -> list[VerdictPoint]:
    """The five parts of the verdict."""
    questions: list[tuple[str, str, Callable[[], tuple[bool, str]]]] = [
        ("Round 1", "第一轮预检", lambda: _round(profile, ROUND1)),
        ("Round 2", "第二轮预检", lambda: _round(profile, TICKET if TICKET.exists() else REFUSAL)),
        (EVIDENCE, "证据核验", _evidence),
        ("Trained behind this ticket", "凭此许可训练", lambda: _trained(evaluation)),
        ("Gates on the trained policy", "训练后闸门", lambda: _trial(evaluation)),
    ]
    points = []
    for name, name_zh, answer in questions:
        try:
            points.append(VerdictPoint(name, name_zh, *answer()))
        except BadInput as error:
            points.append(VerdictPoint(name, name_zh, False, str(error), genuine=False))
    return points


def evidence_holds(points: Sequence[VerdictPoint]) -> bool:
    """Whether the evidence was verified, including the owner's signature where the profile asks for one."""
    return any(one.name == EVIDENCE and one.passed for one in points)


def readable_rounds() -> list[Round]:
    """Reports of rounds that can be read. Whether they hold is part of the verdict."""
    rounds = []
    for path in (ROUND1, TICKET, REFUSAL):
        with suppress(BadInput):
            rounds.append(read_round(path))
    return rounds


def _round(profile: str, path: Path) -> tuple[bool, str]:
    if not path.exists():
        return False, "not run yet 尚未运行"
    report = read_round(path)
    if report.profile != profile:
        return False, f"it belongs to profile {report.profile}, not {profile}"
    counted = f"{len(report.findings) - len(report.failed)} of {len(report.findings)} checks passed"
    return report.passed and not report.failed, counted


def _evidence() -> tuple[bool, str]:
    if not ROUND1.exists():
        return False, "no evidence yet 尚无证据"
    lines: list[str] = []
    verify(False, lines.append)
    return True, "; ".join(lines[1:3])


def _trained(evaluation: TrialReport | None) -> tuple[bool, str]:
    """Whether the seals of the models, and the evaluation, name the ticket in this run folder."""
    if evaluation is None:
        return False, "not trained yet 尚未训练"
    if not evaluation.gated:
        return False, "the run that was evaluated had no ticket 所评测的训练无票"
    if not TICKET.exists() or evaluation.ticket != sha256_file(TICKET):
        raise BadInput("the run that was evaluated had another ticket", remedy="train and evaluate again")
    folders = final_models(TrainConfig.model_validate(evaluation.config))
    return True, f"{len(folders)} model{'s' if len(folders) > 1 else ''}, every byte as it was saved"


def _trial(evaluation: TrialReport | None) -> tuple[bool, str]:
    if evaluation is None:
        return False, "not measured yet 尚未测量"
    passed = sum(one.passed for one in evaluation.checks)
    counted = f"{passed} of {len(evaluation.checks)} passed, on {evaluation.figures['held_out']:,} held-out samples"
    return evaluation.passed and passed == len(evaluation.checks) > 0, counted
