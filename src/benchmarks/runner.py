"""Runs a benchmark (`askgate eval --bench NAME`): runs all rows, writes the result, and finds comparable ones.

    reports/benchmarks/NAME-MODEL-KEY.json            the result
    reports/benchmarks/NAME-MODEL-KEY.rows.jsonl      dialogues and outcome of every row
    reports/benchmarks/NAME-MODEL-KEY.answers.jsonl   replies of the model, appended as they come
    reports/benchmarks/judge.sqlite, judge.jsonl      cache and ledger of the judge
    reports/benchmarks/index.html                     all results

KEY of a result is a hash of model, data, number of rows, settings and judge; KEY of replies leaves out the number of
rows and the judge. So a killed run resumes, a longer run continues a shorter one, and another judge grades the same
replies. The judge has its own cache and ledger here, because those of the gates are evidence of a training run.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from askgate_env.actions import parse
from askgate_env.tools import calc, wiki

from .. import __version__
from ..chat.policies import Policy, open_policy
from ..config.judge_config import ScoringSection
from ..config.loader import load_config
from ..core.errors import BadInput
from ..core.files import atomic_write, read_json, sha256_file, write_json
from ..core.jsonl import write_records
from ..core.paths import REPORTS
from ..pages.render import opened_in, render_page
from ..runtime.disk import RUN_AGAIN, explain_disk_errors
from ..runtime.lock import write_lock
from ..runtime.progress import TO_LOG, Reporter
from ..scoring.chat_server import Reply
from ..scoring.judge import Judge, Session, open_session
from ..scoring.providers import LOCAL, address, settings_for
from .askbench import AskMind, AskOverconfidence
from .base import Benchmark, Complete, Grade, Measure, Messages, Outcome, RowSteps, Step, Turn
from .clamber import Clamber
from .gsm8k import Gsm8k, Gsm8kInsufficient
from .questbench import QuestBench
from .umwp import Umwp

BENCHMARKS: dict[str, Benchmark] = {
    one.name: one
    for one in (QuestBench(), AskMind(), AskOverconfidence(), Clamber(), Umwp(), Gsm8kInsufficient(), Gsm8k())
}
FOLDER = REPORTS / "benchmarks"
PAGE = "index.html"
MAX_TOOL_CALLS = 8
"""Tool calls of a model in one turn (`--actions`)."""
YES = 0.5
"""Score from which a judge's answer counts as yes."""
EXAMPLE = "example by AskGate"
"""Field `origin` of rows that stand in for a benchmark's own."""


class JudgeUsed(Struct, frozen=True):
    """The judge of a result."""

    provider: str
    model: str
    server: str
    votes: str
    """Votes per question: `3 to 7` if disagreement asks for more."""
    prompts: tuple[str, ...]


class BenchmarkResult(Struct, frozen=True):
    """Contents of a result file."""

    benchmark: str
    model: str
    fingerprint: str
    data: str
    data_sha256: str
    n: int
    """Number of rows that were run: the first ones of the file."""
    of: int
    """Number of rows of the file."""
    setting: dict[str, Any]
    judge: JudgeUsed | None
    measures: tuple[Measure, ...]
    example_rows: int
    """Number of rows that were written for AskGate (field `origin`). With any, there is no score."""
    not_graded: int
    """Number of rows for which the judge gave no verdict."""
    note: str
    """Differences between our grading by the authors' rule and their program; empty if there are none."""
    askgate: str

    def is_comparable(self, other: BenchmarkResult) -> bool:
        """Same benchmark, file, rows, settings, judge and figures: only the model may differ."""
        return self.comparison == other.comparison

    @property
    def comparison(self) -> bytes:
        """Encoding of everything that must be equal for two results to be comparable."""
        prompt = {name: value for name, value in self.setting.items() if name != "reply_tokens"}
        figures = [(one.name, one.rule) for one in self.measures]  # other versions of AskGate may have others
        return msgspec.json.encode((self.benchmark, self.data_sha256, self.n, prompt, self.judge, figures))


def run_benchmark(
    name: str, data: Path, model: str, limit: int | None = None, actions: bool = False, reporter: Reporter = TO_LOG
) -> tuple[BenchmarkResult, Path]:
    """Runs a benchmark with a model. Returns the result and the path of its file."""
    if name not in BENCHMARKS:
        raise BadInput(f"{name!r} is no benchmark", where="--bench", remedy=f"choose from {', '.join(BENCHMARKS)}")
    benchmark = BENCHMARKS[name]
    rows = benchmark.read(data)
    chosen = rows[:limit]
    with ExitStack() as stack:
        # The judge first: wrong settings are refused before the model is loaded.
        prompts = benchmark.judge_prompts(chosen)
        session = stack.enter_context(_session(reporter)) if prompts else None
        policy = stack.enter_context(open_policy(model))
        setting = {"actions": actions, "temperature": 0, "reply_tokens": policy.reply_tokens}
        judge = _judge_used(session, prompts) if session else None
        facts: dict[str, Any] = {
            "benchmark": name,
            "model": model,
            "fingerprint": policy.fingerprint(),
            "data": data.name,
            "data_sha256": sha256_file(data),
            "n": len(chosen),
            "of": len(rows),
            "setting": setting,
            "judge": judge,
        }
        result_file = FOLDER / f"{name}-{_slug(model)}-{_key(facts)}.json"
        # Replies do not depend on the number of rows, and those of the first turn not on the judge.
        shared = {one: facts[one] for one in ("benchmark", "fingerprint", "data_sha256", "setting")}
        answer_file = FOLDER / f"{name}-{_slug(model)}-{_key(shared)}.answers.jsonl"
        with explain_disk_errors(FOLDER, RUN_AGAIN):
            FOLDER.mkdir(parents=True, exist_ok=True)
        with write_lock(answer_file):
            answers = Answers(answer_file)
            if answers.replies:
                reporter.message(f"resuming: {len(answers.replies)} replies are in {answers.path}")
            runner = RowRunner([benchmark.run_row(row, actions) for row in chosen], policy, answers, actions, reporter)
            outcomes = asyncio.run(runner.run(session))
        result = BenchmarkResult(
            **facts,
            measures=tuple(benchmark.measures(outcomes)),
            example_rows=sum(row.get("origin") == EXAMPLE for row in chosen),
            not_graded=sum(one.get("graded") is False for one in outcomes),
            note=benchmark.note if prompts or not benchmark.prompts else "",
            askgate=__version__,
        )
    if outcomes and result.not_graded == len(outcomes):
        raise BadInput(
            f"the judge graded none of {len(outcomes)} rows; the last reason: {runner.failure}",
            where=f"{session.provider.name} {session.provider.model}" if session else name,
            remedy="check the judge with `askgate probe-scorer --live`, then run the same command again",
        )
    with atomic_write(result_file.with_suffix(".rows.jsonl")) as handle:
        ran = zip(chosen, runner.dialogues, outcomes, strict=True)
        write_records(handle, ({"row": row, "dialogues": made, "outcome": outcome} for row, made, outcome in ran))
    write_json(result_file, result)
    groups: dict[bytes, list[BenchmarkResult]] = {}
    for one in read_results():
        groups.setdefault(one.comparison, []).append(one)
    with atomic_write(FOLDER / PAGE) as handle:
        handle.write(opened_in(render_page("benchmarks.html", groups=list(groups.values()))))
    return result, result_file


class Answers:
    """Replies of the model on disk, by a hash of the messages that they answer."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.replies: dict[str, Reply] = {}
        with explain_disk_errors(path, RUN_AGAIN):
            whole = path.read_bytes() if path.exists() else b""
            end = whole.rfind(b"\n") + 1
            if end < len(whole):
                os.truncate(path, end)  # a crash left an incomplete line
        for line in whole[:end].splitlines():
            row = msgspec.json.decode(line)
            self.replies[row["key"]] = Reply(row["text"], row["thought"])

    def add(self, messages: Messages, reply: Reply) -> None:
        key = self.key(messages)
        self.replies[key] = reply
        line = msgspec.json.encode({"key": key, "text": reply.text, "thought": reply.thought})
        with explain_disk_errors(self.path, RUN_AGAIN), open(self.path, "ab") as handle:
            handle.write(line + b"\n")

    def get(self, messages: Messages) -> Reply | None:
        return self.replies.get(self.key(messages))

    @staticmethod
    def key(messages: Messages) -> str:
        return hashlib.sha256(msgspec.json.encode(messages)).hexdigest()[:32]


@dataclass
class RowRunner:
    """Runs all rows of a benchmark. The same step of all rows is done together."""

    rows: Sequence[RowSteps]
    policy: Policy
    answers: Answers
    actions: bool
    reporter: Reporter
    failure: str = ""
    """The last reason why the judge gave no verdict."""
    dialogues: list[list[Messages]] = field(default_factory=list)
    """The dialogues of every row, up to the model's last reply. A row has two if the two rules need different ones."""

    async def run(self, session: Session | None) -> list[Outcome]:
        """The outcomes of the rows, in their order."""
        if session is None:
            return await self._rounds(None)
        async with session.client() as client:
            return await self._rounds(session.judge(client))

    async def _rounds(self, judge: Judge | None) -> list[Outcome]:
        """Runs all rows step by step: first the replies of the model, then the judge's part."""
        self.dialogues = [[] for _ in self.rows]
        outcomes: dict[int, Outcome] = {}
        results: dict[int, Any] = dict.fromkeys(range(len(self.rows)))
        turn = 0
        while results:
            steps: dict[int, Step] = {}
            for index, result in results.items():
                try:
                    steps[index] = self.rows[index].send(result)
                except StopIteration as end:
                    outcomes[index] = end.value
            prompts = {index: step.messages for index, step in steps.items() if isinstance(step, Complete)}
            turn += bool(prompts)
            results = self._complete(prompts, turn)
            judged = {index: step for index, step in steps.items() if not isinstance(step, Complete)}
            results |= await self._judge(judge, judged) if judge is not None and judged else {}
        return [outcomes[index] for index in range(len(self.rows))]

    def _complete(self, prompts: dict[int, Messages], turn: int) -> dict[int, Turn]:
        """Turns of the model by row, from stored and new replies. With actions, tool calls are answered in between."""
        turns: dict[int, Turn] = {}
        for _ in range(MAX_TOOL_CALLS + 1):
            self._generate(list(prompts.values()), turn)
            calls: dict[int, Messages] = {}
            for index, messages in prompts.items():
                reply = self.answers.get(messages)
                assert reply is not None, "every prompt has a reply now"
                dialogue = (*messages, {"role": "assistant", "content": reply.text})
                turns[index] = Turn(reply, dialogue)
                self.dialogues[index] = _add_dialogue(self.dialogues[index], dialogue)
                action = parse(reply.text)
                if self.actions and action.kind == "call":
                    result = calc(action.text) if action.tool == "calc" else wiki((), action.text)
                    calls[index] = (*dialogue, {"role": "tool", "content": result})
            if not calls:
                break
            prompts = calls
        return turns

    def _generate(self, prompts: Sequence[Messages], turn: int) -> None:
        """Gets the model's replies to those prompts that have none yet."""
        new = list({Answers.key(one): one for one in prompts if self.answers.get(one) is None}.values())
        if not new:
            return
        with self.reporter.progress(f"turn {turn}: replies of the model", len(new)) as progress:

            def finished(index: int, reply: Reply) -> None:
                self.answers.add(new[index], reply)
                progress(1)

            self.policy.complete(new, finished)

    async def _judge(self, judge: Judge, steps: dict[int, Any]) -> dict[int, Any]:
        """Results of the judge's steps by row."""
        with self.reporter.progress("verdicts and replies of the judge", len(steps)) as progress:
            # One text at a time for the local judge: a vote on another text in between would make it read the first one
            # again, which takes most of the time.
            at_once = asyncio.Semaphore(1 if judge.tally.provider.name == LOCAL else max(1, len(steps)))

            async def one(index: int, step: Any) -> tuple[int, Any]:
                result: Any
                async with at_once:
                    if isinstance(step, Grade):
                        entry = await judge.grade(f"row {index + 1}", step.text, step.version)
                        failure = entry.failure
                        result = None if failure else {name: mark >= YES for name, mark in entry.scores.items()}
                    else:
                        text, failure = await judge.write(step.text, step.version)
                        result = text or None
                self.failure = failure or self.failure
                progress(1)
                return index, result

            return dict(await asyncio.gather(*(one(index, step) for index, step in steps.items())))


@contextmanager
def _session(reporter: Reporter) -> Iterator[Session]:
    """A session with the judge that the environment names, and cache and ledger of the benchmarks."""
    section = load_config().scoring
    files = {"cache": FOLDER / "judge.sqlite", "ledger": FOLDER / "judge.jsonl"}
    scoring = ScoringSection.model_validate({**section.model_dump(), **files})
    FOLDER.mkdir(parents=True, exist_ok=True)
    settings = settings_for(os.environ, scoring)
    # The yes-or-no questions are about AskGate's dialogues; benchmarks have their own prompts.
    families = tuple(one for one in settings.provider.families if one.response_format != "yes_no")
    provider = settings.provider.model_copy(update={"families": families})
    with open_session(replace(settings, provider=provider), reporter.message) as session:
        yield session


def _judge_used(session: Session, prompts: tuple[str, ...]) -> JudgeUsed:
    provider, votes = session.provider, session.settings.scoring.votes
    count = str(votes.k) if votes.k == votes.k_max else f"{votes.k} to {votes.k_max}"
    return JudgeUsed(provider.name, provider.model, address(provider.server), count, prompts)


def _key(facts: Mapping[str, Any]) -> str:
    """Hash of everything that can change the replies or their grades; names of model and file do not."""
    relevant = {name: value for name, value in facts.items() if name not in ("model", "data", "of")}
    return hashlib.sha256(msgspec.json.encode(relevant)).hexdigest()[:10]


def _slug(model: str) -> str:
    """The name of a model as part of a file name.

    >>> _slug("checkpoints/local/final_model"), _slug("http://127.0.0.1:8000/v1"), _slug("Qwen/Qwen3-1.7B")
    ('local-final_model', '127.0.0.1-8000', 'Qwen-Qwen3-1.7B')
    """
    bare = re.sub(r"^https?://|/v1/?$|/+$", "", model)
    return "-".join(part for part in re.split(r"[^\w.]+", bare) if part)[-40:].split("checkpoints-")[-1]


def _add_dialogue(dialogues: Sequence[Messages], new: Messages) -> list[Messages]:
    """The dialogues of a row with a further one. A dialogue that continues another one replaces it."""
    if any(one[: len(new)] == new for one in dialogues):
        return list(dialogues)
    return [*(one for one in dialogues if one != new[: len(one)]), new]


def read_results() -> list[BenchmarkResult]:
    """All results in the folder, by file name. Files that are no results of this version are left out."""
    found = []
    for path in sorted(FOLDER.glob("*.json")):
        try:
            found.append(msgspec.convert(read_json(path, "remove it"), BenchmarkResult))
        except msgspec.ValidationError:
            continue
    return found
