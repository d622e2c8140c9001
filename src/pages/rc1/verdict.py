"""The verdict on a release candidate: five questions, each answered from the files and none from what somebody says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from ...config.train import TrainConfig
from ...core.errors import BadInput
from ...core.files import sha256_file
from ...eval.trial import TrialReport
from ...gates.final_models import final_models
from ...gates.report import REFUSAL, ROUND1, TICKET, Round, read_round
from ...gates.verify import verify
from .contents import Point

EVIDENCE = "Evidence"


def verdict(profile: str, evaluation: TrialReport | None) -> list[Point]:
    return [
        _round("Round 1", "第一轮预检", profile, (ROUND1,)),
        _round("Round 2", "第二轮预检", profile, (TICKET, REFUSAL)),
        _answered(EVIDENCE, "证据核验", _evidence, "" if ROUND1.exists() else "nothing to look at yet 尚无证据"),
        _behind(evaluation),
        _trial(evaluation),
    ]


def holds(points: Sequence[Point]) -> bool:
    """Whether the evidence does, the owner's signature included where the profile wants one."""
    return any(one.name == EVIDENCE and one.passed for one in points)


def rounds_there() -> list[Round]:
    """Reports of rounds that can be read; what does not hold of them is the verdict's business."""
    found = []
    for path in (ROUND1, TICKET, REFUSAL):
        try:
            found.append(read_round(path))
        except BadInput:
            continue
    return found


def _round(name: str, name_zh: str, profile: str, paths: Sequence[Path]) -> Point:
    path = next((one for one in paths if one.exists()), None)
    if path is None:
        return Point(name, name_zh, False, "not run yet 尚未运行")
    try:
        report = read_round(path)
    except BadInput as error:
        return Point(name, name_zh, False, str(error), genuine=False)
    told = f"{len(report.findings) - len(report.failed)} of {len(report.findings)} checks passed"
    if report.profile != profile:
        return Point(name, name_zh, False, f"it is of profile {report.profile}, not {profile}")
    return Point(name, name_zh, report.passed and not report.failed, told)


def _answered(name: str, name_zh: str, question: Callable[[], str], lacking: str) -> Point:
    """`lacking`: why there is nothing yet that could be false; what has not happened is no forgery."""
    if lacking:
        return Point(name, name_zh, False, lacking)
    try:
        return Point(name, name_zh, True, question())
    except BadInput as error:
        return Point(name, name_zh, False, str(error), genuine=False)


def _evidence() -> str:
    told: list[str] = []
    verify(False, told.append)
    return "; ".join(told[1:3])


def _behind(evaluation: TrialReport | None) -> Point:
    name, name_zh = "Trained behind this ticket", "持此票训练"
    if evaluation is None:
        return Point(name, name_zh, False, "not trained yet 尚未训练")
    if not evaluation.gated:
        return Point(name, name_zh, False, "the run that was evaluated had no ticket 所评测的训练无票")
    return _answered(name, name_zh, lambda: _ticket_of(evaluation), "")


def _ticket_of(evaluation: TrialReport) -> str:
    """The model's own seal, and the evaluation, name the ticket that lies here."""
    if not TICKET.exists() or evaluation.ticket != sha256_file(TICKET):
        raise BadInput("the run that was evaluated had another ticket", remedy="train and evaluate again")
    folders = final_models(TrainConfig.model_validate(evaluation.config))
    return f"{len(folders)} model{'s' if len(folders) > 1 else ''}, every byte as it was saved"


def _trial(evaluation: TrialReport | None) -> Point:
    name, name_zh = "Gates after the trial", "试跑后闸门"
    if evaluation is None:
        return Point(name, name_zh, False, "not measured yet 尚未测量")
    passed = sum(one.passed for one in evaluation.checks)
    told = f"{passed} of {len(evaluation.checks)} passed, on {evaluation.figures['held_out']:,} held-out samples"
    return Point(name, name_zh, evaluation.passed and passed == len(evaluation.checks) > 0, told)
