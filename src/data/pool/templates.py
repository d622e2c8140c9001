"""Template packs: how users word a task and reply to a question. The schema is in `templates/README.md`.

The assistant's side is not in a pack: it has one voice for all of them (`pool.voice`).

A pack is written by people, so it is read strictly: an error names file, template and field. Templates stay plain
strings, so a pack can be pickled to worker processes.

An alternative is text with `{{ variable }}` in it, nothing more. A template engine would let a template shorten, change
or withhold the question, and no check can prove that it does not.
"""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta

from askgate_env.types import LANGS, TASKS, Lang, Record, Task

from ...core.errors import BadInput
from ...core.files import read_json, sha256_file

Name = Annotated[str, Meta(min_length=1)]
Alternatives = Annotated[tuple[str, ...], Meta(min_length=1)]

OFFERED = {"user": "question", "clue": "clue", "topic": "topic", "reply": "span"}
"""The one variable of each field. It must occur exactly once, or a part of the task would be lost."""


class Template(Record, frozen=True):
    """Fields of every template."""

    id: Name
    lang: Lang
    role: Name
    register: Name


class TaskTemplate(Template, frozen=True):
    """A user's wording of a task."""

    user: Alternatives
    clue: Alternatives
    topic: Alternatives


class ClarifyTemplate(Template, frozen=True):
    """A user's reply to a clarifying question."""

    reply: Alternatives


T = TypeVar("T", bound=Template)


class Pack(Record, frozen=True):
    """A template pack. Every list has at least one template, in the order of the files."""

    tasks: dict[Task, dict[Lang, tuple[TaskTemplate, ...]]]
    clarify: dict[Task, dict[Lang, tuple[ClarifyTemplate, ...]]]

    def choose(self, rng: Random, task: Task, lang: Lang) -> TaskTemplate:
        return rng.choice(self.tasks[task][lang])

    def choose_clarify(self, rng: Random, task: Task, lang: Lang, role: str) -> ClarifyTemplate:
        """A clarification template of the same role where the pack has one, else of any role."""
        templates = self.clarify[task][lang]
        return rng.choice([one for one in templates if one.role == role] or templates)


def load_pack(folder: Path) -> Pack:
    """The pack in `folder`, every alternative checked. Takes milliseconds."""
    _refuse_unknown_files(folder)
    seen: dict[str, Path] = {}
    return Pack(
        tasks={task: _read(folder / f"{task}.json", TaskTemplate, seen) for task in TASKS},
        clarify={task: _read(folder / f"clarify_{task}.json", ClarifyTemplate, seen) for task in TASKS},
    )


def pack_fingerprints(folder: Path) -> dict[str, str]:
    """SHA-256 of every file of a pack by name, for the sidecar of a pool."""
    return {path.name: sha256_file(path) for path in sorted(folder.glob("*.json"))}


def render(alternative: str, **values: str) -> str:
    """The alternative with its variables filled in. Braces in the values mean nothing."""
    return _VARIABLE.sub(lambda found: values[found[1]], alternative)


def begins_with_question(alternative: str) -> bool:
    """Whether an alternative has no lead, no text before its variable."""
    return _VARIABLE.match(alternative) is not None


_VARIABLE = re.compile(r"\{\{ *(\w+) *\}\}")
_OTHER_BRACES = re.compile(r"\{[{%#]|[}%#]\}")


def _refuse_unknown_files(folder: Path) -> None:
    """Refuses misspelt file names, which would be ignored otherwise."""
    if not folder.is_dir():
        raise BadInput("no such folder of templates", where=str(folder), remedy="check --templates-dir")
    known = {f"{prefix}{task}.json" for prefix in ("", "clarify_") for task in TASKS}
    for path in sorted(folder.glob("*.json")):
        if path.name not in known:
            remedy = f"name it one of {', '.join(sorted(known))}"
            raise BadInput("not a file of a template pack", where=str(path), remedy=remedy)


def _read(path: Path, kind: type[T], seen: dict[str, Path]) -> dict[Lang, tuple[T, ...]]:
    found = read_json(path, remedy="a pack has six files; see templates/README.md")
    if not isinstance(found, list):
        raise BadInput("must be a list of templates", where=str(path), remedy="put [ ] around the templates")
    templates = []
    for number, raw in enumerate(found, start=1):
        template = _convert(raw, kind, f"{path}, template {_label(raw, number)}")
        _check_alternatives(template, f"{path}, template {template.id}")
        if template.id in seen:
            what = f"id is used twice, first in {seen[template.id].name}"
            remedy = "give every template of the pack an id of its own"
            raise BadInput(what, where=f"{path}, template {template.id}, field id", remedy=remedy)
        seen[template.id] = path
        templates.append(template)
    by_lang = {lang: tuple(one for one in templates if one.lang == lang) for lang in LANGS}
    for lang, spoken in by_lang.items():
        if not spoken:
            raise BadInput(f"no template with lang {lang!r}", where=str(path), remedy="add one for every language")
    return by_lang


def _label(raw: Any, number: int) -> str:
    """The id of a template if it has one, else its position in the file."""
    name = raw.get("id") if isinstance(raw, dict) else None
    return name if isinstance(name, str) and name else f"#{number}"


def _convert(raw: Any, kind: type[T], where: str) -> T:
    try:
        return msgspec.convert(raw, kind)
    except msgspec.ValidationError as error:
        remedy = f"a template has exactly the fields {', '.join(kind.__struct_fields__)}; see templates/README.md"
        raise BadInput(str(error), where=where, remedy=remedy) from None


def _check_alternatives(template: Template, where: str) -> None:
    for field, value in msgspec.structs.asdict(template).items():
        if field in OFFERED:
            for number, alternative in enumerate(value, start=1):
                _check_alternative(alternative, field, f"{where}, field {field}, alternative {number}")


def _check_alternative(alternative: str, field: str, where: str) -> None:
    offered = OFFERED[field]
    offer = f"this field offers {{{{ {offered} }}}} and nothing else"
    parts = _VARIABLE.split(alternative)
    texts, named = parts[0::2], parts[1::2]
    for before, after in pairwise(texts):
        if before.endswith("{") or after.startswith("}"):
            raise BadInput("more than two braces around a variable", where=where, remedy="write two; " + offer)
    for text in texts:
        if found := _OTHER_BRACES.search(text):
            what = f"{found[0]} is no part of a plain variable: filters, conditions, comments and code are not read"
            raise BadInput(what, where=where, remedy="write plain text; " + offer)
    if unknown := sorted(set(named) - {offered}):
        raise BadInput(f"unknown variable {', '.join(unknown)}", where=where, remedy=offer)
    if len(named) != 1:
        times = "never" if not named else f"{len(named)} times"
        raise BadInput(f"shows {offered} {times}", where=where, remedy=f"use {{{{ {offered} }}}} exactly once")
