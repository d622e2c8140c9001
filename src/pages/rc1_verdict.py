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
    return [
        _round_point("Round 1", "第一轮预检", profile, (ROUND1,)),
        _round_point("Round 2", "第二轮预检", profile, (TICKET, REFUSAL)),
        _evidence_point(),
        _ticket_point(evaluation),
        _trial_point(evaluation),
    ]


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


def _round_point(name: str, name_zh: str, profile: str, paths: Sequence[Path]) -> VerdictPoint:
    path = next((one for one in paths if one.exists()), None)
    if path is None:
        return VerdictPoint(name, name_zh, False, "not run yet 尚未运行")
    try:
        report = read_round(path)
    except BadInput as error:
        return VerdictPoint(name, name_zh, False, str(error), genuine=False)
    if report.profile != profile:
        return VerdictPoint(name, name_zh, False, f"it belongs to profile {report.profile}, not {profile}")
    counted = f"{len(report.findings) - len(report.failed)} of {len(report.findings)} checks passed"
    return VerdictPoint(name, name_zh, report.passed and not report.failed, counted)


def _answered(name: str, name_zh: str, question: Callable[[], str]) -> VerdictPoint:
    """A point that passes with the answer to `question`, and is not genuine where the answer is a refusal."""
    try:
        return VerdictPoint(name, name_zh, True, question())
    except BadInput as error:
        return VerdictPoint(name, name_zh, False, str(error), genuine=False)


def _evidence_point() -> VerdictPoint:
    if not ROUND1.exists():
        return VerdictPoint(EVIDENCE, "证据核验", False, "no evidence yet 尚无证据")

    def verified() -> str:
        lines: list[str] = []
        verify(False, lines.append)
        return "; ".join(lines[1:3])

    return _answered(EVIDENCE, "证据核验", verified)


def _ticket_point(evaluation: TrialReport | None) -> VerdictPoint:
    """Whether the seals of the models, and the evaluation, name the ticket in this run folder."""
    name, name_zh = "Trained behind this ticket", "凭此许可训练"
    if evaluation is None:
        return VerdictPoint(name, name_zh, False, "not trained yet 尚未训练")
    if not evaluation.gated:
        return VerdictPoint(name, name_zh, False, "the run that was evaluated had no ticket 所评测的训练无票")

    def sealed() -> str:
        if not TICKET.exists() or evaluation.ticket != sha256_file(TICKET):
            raise BadInput("the run that was evaluated had another ticket", remedy="train and evaluate again")
        folders = final_models(TrainConfig.model_validate(evaluation.config))
        return f"{len(folders)} model{'s' if len(folders) > 1 else ''}, every byte as it was saved"

    return _answered(name, name_zh, sealed)


def _trial_point(evaluation: TrialReport | None) -> VerdictPoint:
    name, name_zh = "Gates on the trained policy", "训练后闸门"
    if evaluation is None:
        return VerdictPoint(name, name_zh, False, "not measured yet 尚未测量")
    passed = sum(one.passed for one in evaluation.checks)
    counted = f"{passed} of {len(evaluation.checks)} passed, on {evaluation.figures['held_out']:,} held-out samples"
    return VerdictPoint(name, name_zh, evaluation.passed and passed == len(evaluation.checks) > 0, counted)
