"""The chat page: a dialogue with a policy of the runs. A person types, or the user simulator plays.

There is one dialogue at a time; a new one ends the one before. A thread runs the policy, so that pages stay fast. Only
folders that the page lists can be opened, and nothing is written.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from random import Random
from typing import Literal

from markupsafe import Markup

from askgate_env.reward import TrainingReward
from askgate_env.types import Episode, Lang, Sample, Turn
from askgate_env.users import User, rules

from ..agents.trajectory import Job
from ..chat.policies import Policy, open_policy
from ..chat.samples import DRAWN, held_out_samples, typed_sample
from ..core.defaults import SEED
from ..core.errors import BadInput
from ..core.files import HOME
from ..core.model_files import ADAPTER
from ..core.paths import FINAL_MODEL, WARM_START, all_runs
from ..eval.metrics import is_lucky, is_right
from .index import find_sample, held_out_ids, reading
from .render import render
from .run_files import is_inside
from .runs import Board

MAX_TURNS = 12
LONGEST = 4000  # characters of a message
REPLY_SECONDS = 1800.0  # time after which a dialogue ends in which nobody replies
OFFERED = 30  # samples of the run that the page offers
TYPED, BUILTIN = "typed", "builtin-"  # values of the field `task` that are no id of a sample
State = Literal["empty", "loading", "working", "waiting", "ended", "failed"]


class Ended(Exception):
    """Another dialogue has begun, or nobody replied."""


class Dialogue:
    """One dialogue: who answers, who asks, and the turns so far."""

    def __init__(self, policy: str, folder: Path, task: str, text: str, person: bool) -> None:
        self.policy, self.folder, self.task, self.text = policy, folder, task, text
        self.person = person or task == TYPED
        self.state: State = "loading"
        self.turns: list[Turn] = []
        self.error = ""
        self.sample: Sample | None = None
        self.episode: Episode | None = None
        self.reward: dict[str, float] = {}
        self.replies: queue.Queue[str | None] = queue.Queue()  # messages of the person; None ends the dialogue

    @property
    def known(self) -> Sample | None:
        """The sample if its gold answer and hidden information are known; None for a typed task."""
        return self.sample if self.task != TYPED else None

    def user(self, sample: Sample, ask: str, before: Sequence[Turn]) -> str:
        """The user of the environment whom a person plays: waits for the reply to a question."""
        self.state = "waiting"
        try:
            said = self.replies.get(timeout=REPLY_SECONDS)
        except queue.Empty:
            said = None
        if said is None:
            raise Ended
        self.state = "working"
        return said


class Chat:
    """The dialogue of this board, and the policy that is loaded."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self.dialogue: Dialogue | None = None
        self._lock = threading.Lock()
        self._working = threading.Lock()
        self._loaded: tuple[Path, AbstractContextManager[Policy], Policy] | None = None

    def start(self, policy: str, task: str, text: str, person: bool) -> str:
        """Begins a dialogue. Returns the field of the form that is wrong, empty if none is."""
        folder = policy_folders(self.board).get(policy)
        if folder is None or (task == TYPED and not text.strip()):
            return "policy" if folder is None else "text"
        dialogue = Dialogue(policy, folder, task, text.strip()[:LONGEST], person)
        with self._lock:
            if self.dialogue is not None:
                self.dialogue.replies.put(None)
            self.dialogue = dialogue
        threading.Thread(target=self._run, args=(dialogue,), daemon=True).start()
        return ""

    def say(self, text: str) -> str:
        """Takes a message of the person: the reply to a question, or the next task.

        Returns `text` for an empty message, `busy` while the policy works, and else an empty string.
        """
        now, said = self.dialogue, text.strip()[:LONGEST]
        if now is None or not said:
            return "text"
        if now.state == "waiting":
            now.state = "working"
            now.replies.put(said)
            return ""
        if now.state in ("ended", "failed"):
            return self.start(now.policy, TYPED, said, person=True)
        return "busy"

    def _run(self, dialogue: Dialogue) -> None:
        with self._working:
            if dialogue is not self.dialogue:
                return
            try:
                dialogue.sample = self._sample(dialogue)
                policy = self._policy(dialogue.folder)
                dialogue.turns.append(Turn("user", "say", dialogue.sample.prompt))
                dialogue.state = "working"
                user: User = dialogue.user if dialogue.person else rules
                [episode] = policy.rollout([Job(dialogue.sample)], MAX_TURNS, user, dialogue.turns.append)
                dialogue.reward = TrainingReward()(episode, dialogue.sample)
                dialogue.episode, dialogue.state = episode, "ended"
            except Ended:
                dialogue.state = "ended"
            except BadInput as error:
                dialogue.error, dialogue.state = str(error), "failed"
            except Exception as error:
                dialogue.error, dialogue.state = f"{type(error).__name__}: {error}", "failed"

    def _sample(self, dialogue: Dialogue) -> Sample:
        if dialogue.task == TYPED:
            return typed_sample(dialogue.text, ())
        if dialogue.task.startswith(BUILTIN):
            lang: Lang = "zh" if dialogue.task.endswith("zh") else "en"
            return Random().choice(held_out_samples(DRAWN, lang, SEED))
        found = _find_sample(self.board, dialogue.task)
        if found is None:
            raise BadInput("no pool in data/ has this sample", where=dialogue.task, remedy="choose another one")
        return found

    def _policy(self, folder: Path) -> Policy:
        """The policy in a folder. The policy loaded before is closed first, so that only one model is in memory."""
        if self._loaded is None or self._loaded[0] != folder:
            if self._loaded is not None:
                self._loaded[1].__exit__(None, None, None)
                self._loaded = None
            opened = open_policy(str(folder))
            self._loaded = folder, opened, opened.__enter__()
        return self._loaded[2]


def policy_folders(board: Board) -> dict[str, Path]:
    """Model folders that can be talked with, newest run first: trained policies, warm starts, and `models/`."""
    found: dict[str, Path] = {}
    for number, (name, run) in enumerate(board.runs.items()):
        for folder in _model_folders(run.root):
            label = folder.relative_to(run.root).as_posix()
            found[label if number == 0 else f"{name}: {label}"] = folder
    for config in sorted((HOME / "models").glob("*/config.json")):
        found.setdefault(f"models/{config.parent.name}", config.parent)
    return found


def _model_folders(root: Path) -> Iterator[Path]:
    bases = [*(run / "checkpoints" for run in all_runs(root)), root / "checkpoints"]
    patterns = [(base, f"**/{kind}") for base in bases for kind in (FINAL_MODEL, WARM_START)]
    seen = set[Path]()
    for base, pattern in (*patterns, (root / "models", "*")):
        for folder in sorted(base.glob(pattern)):
            files = [(folder / name).relative_to(root).as_posix() for name in ("config.json", ADAPTER)]
            if folder.resolve() not in seen and any(is_inside(root, file) for file in files):
                seen.add(folder.resolve())
                yield folder


def chat_page(chat: Chat, query: Mapping[str, str], token: str) -> Markup:
    return render(
        "chat.html",
        policies=list(policy_folders(chat.board)),
        samples=_offered(chat.board, query.get("sample", "")),
        given={name: query.get(name, "") for name in ("policy", "sample", "wrong")},
        dialogue=chat.dialogue,
        part=chat_part(chat),
        token=token,
    )


def _offered(board: Board, wanted: str) -> list[tuple[str, Sample]]:
    """Samples to choose from: the wanted one, then held-out ones."""
    run = board.run("")
    with reading(run.indexer.path) as store:
        first = _find_sample(board, wanted) if wanted else None
        ids = [name for name in held_out_ids(store, OFFERED) if name != wanted]
        others = [(name, found) for name in ids if (found := find_sample(store, run.root, name))]
    return [*([(wanted, first)] if first else []), *others]


def _find_sample(board: Board, name: str) -> Sample | None:
    """The sample with this id in the pools of any run: episode pages of every run link to the chat."""
    for run in board.runs.values():
        with reading(run.indexer.path) as store:
            if found := find_sample(store, run.root, name):
                return found
    return None


def chat_part(chat: Chat) -> Markup:
    return render("chat_part.html", dialogue=chat.dialogue, is_right=is_right, is_lucky=is_lucky)
