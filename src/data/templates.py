"""Template packs: how people word a task and how an assistant thinks aloud. The schema is in `templates/README.md`.

A pack is written by people, so reading it is strict: what does not fit is named with file, template and field. The
templates stay plain strings, so a pack can be pickled to worker processes; `render` compiles each string once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Annotated, Any, TypeVar

import msgspec
from jinja2 import StrictUndefined, TemplateError, meta
from jinja2.sandbox import SandboxedEnvironment
from msgspec import Meta

from ..core.errors import BadInput
from ..core.files import read_json, sha256_file
from ..core.types import LANGS, TASKS, Lang, Record, Task

Name = Annotated[str, Meta(min_length=1)]
Alternatives = Annotated[tuple[str, ...], Meta(min_length=1)]

OFFERED: dict[str, str] = {
    "user": "question",
    "clue": "clue",
    "topic": "topic",
    "open": "name",
    "search": "name",
    "compute": "expression",
    "answer": "answer",
    "ask": "missing",
    "reply": "span",
    "thanks": "",
}
"""The one variable that each field may use."""
MUST_SHOW = ("user", "clue", "topic", "ask", "reply")
"""Fields that would lose a part of the task if they did not show their variable exactly once."""

MIN_TEMPLATES, MIN_ROLES, MIN_REGISTERS = 6, 4, 3


class TaskTemplate(Record, frozen=True):
    """One person's voice for a task, and the thoughts of the assistant that serves that person."""

    id: Name
    lang: Lang
    role: Name
    register: Name
    user: Alternatives
    clue: Alternatives
    topic: Alternatives
    open: Alternatives
    search: Alternatives
    compute: Alternatives
    answer: Alternatives


class ClarifyTemplate(Record, frozen=True):
    """An ask, the user's reply to it, and the assistant's thought after the reply."""

    id: Name
    lang: Lang
    role: Name
    register: Name
    ask: Alternatives
    reply: Alternatives
    thanks: Alternatives


AnyTemplate = TaskTemplate | ClarifyTemplate
T = TypeVar("T", TaskTemplate, ClarifyTemplate)


class Pack(Record, frozen=True):
    """Every list has at least one template; their order is the order in the files."""

    tasks: dict[Task, dict[Lang, tuple[TaskTemplate, ...]]]
    clarify: dict[Task, dict[Lang, tuple[ClarifyTemplate, ...]]]

    def choose(self, rng: Random, task: Task, lang: Lang) -> TaskTemplate:
        return rng.choice(self.tasks[task][lang])

    def choose_clarify(self, rng: Random, task: Task, lang: Lang, role: str) -> ClarifyTemplate:
        """The same person goes on speaking where the pack knows them; else anyone does."""
        found = self.clarify[task][lang]
        return rng.choice([one for one in found if one.role == role] or found)


def load_pack(folder: Path) -> Pack:
    """The pack in `folder`, every alternative checked. Takes milliseconds, so a worker process may simply call it."""
    _refuse_strange_files(folder)
    seen: dict[str, Path] = {}
    return Pack(
        tasks={task: _read(folder / f"{task}.json", TaskTemplate, seen) for task in TASKS},
        clarify={task: _read(folder / f"clarify_{task}.json", ClarifyTemplate, seen) for task in TASKS},
    )


def pack_fingerprints(folder: Path) -> dict[str, str]:
    """File name -> SHA-256: what a pool's sidecar says about its templates."""
    return {path.name: sha256_file(path) for path in sorted(folder.glob("*.json"))}


def pack_requirements(pack: Pack) -> list[str]:
    """What the pack lacks of a full one: enough templates, roles and registers, per task, kind and language."""
    problems = []
    for where, templates in _groups(pack):
        counts = {
            "templates": (len(templates), MIN_TEMPLATES),
            "roles": (len({one.role for one in templates}), MIN_ROLES),
            "registers": (len({one.register for one in templates}), MIN_REGISTERS),
        }
        problems += [
            f"{where}: {n} {what}, at least {least} wanted" for what, (n, least) in counts.items() if n < least
        ]
    return problems


def _groups(pack: Pack) -> Iterator[tuple[str, tuple[AnyTemplate, ...]]]:
    for task in TASKS:
        for lang in LANGS:
            yield f"{task}.json ({lang})", pack.tasks[task][lang]
            yield f"clarify_{task}.json ({lang})", pack.clarify[task][lang]


def render(alternative: str, **values: str) -> str:
    """The alternative with its variables filled in. Values are only ever values: braces in them mean nothing."""
    return _compiled(alternative)(values)


def _environment() -> SandboxedEnvironment:
    """Nothing to call and nothing random in reach: a template's text depends on its variables alone."""
    made = SandboxedEnvironment(autoescape=False, undefined=StrictUndefined, keep_trailing_newline=True)
    made.globals.clear()
    del made.filters["random"]
    return made


_JINJA = _environment()
_PLAIN = re.compile(r"\{\{ *(" + "|".join(sorted({name for name in OFFERED.values() if name})) + r") *\}\}")
_JINJA_OPENS = re.compile(r"\{(?:[{%#]|$)")


@cache
def _compiled(alternative: str) -> Callable[[dict[str, str]], str]:
    """Nearly every alternative puts one value between two texts; joining these is ten times faster than jinja."""
    if _needs_jinja(alternative):
        return _JINJA.from_string(alternative).render
    before, *rest = _PLAIN.split(alternative)
    if not rest:
        return lambda values: before
    name, after = rest
    return lambda values: before + values[name] + after


def _needs_jinja(alternative: str) -> bool:
    texts = _PLAIN.split(alternative)[0::2]
    return len(texts) > 2 or any(_JINJA_OPENS.search(text) for text in texts)


def _refuse_strange_files(folder: Path) -> None:
    """A misspelt file would otherwise be left out in silence."""
    if not folder.is_dir():
        raise BadInput("no such folder of templates", where=str(folder), remedy="check --templates_dir")
    known = {f"{prefix}{task}.json" for prefix in ("", "clarify_") for task in TASKS}
    for path in sorted(folder.glob("*.json")):
        if path.name not in known:
            raise BadInput(
                "not a file of a template pack", where=str(path), remedy=f"name it one of {', '.join(sorted(known))}"
            )


def _read(path: Path, kind: type[T], seen: dict[str, Path]) -> dict[Lang, tuple[T, ...]]:
    found = read_json(path, remedy="a pack has six files; see templates/README.md")
    if not isinstance(found, list):
        raise BadInput("must be a list of templates", where=str(path), remedy="put [ ] around the templates")
    templates = []
    for number, raw in enumerate(found, start=1):
        template = _convert(raw, kind, f"{path}, template {_label(raw, number)}")
        _check_alternatives(template, f"{path}, template {template.id}")
        if template.id in seen:
            raise BadInput(
                f"id is used twice, first in {seen[template.id].name}",
                where=f"{path}, template {template.id}, field id",
                remedy="give every template of the pack an id of its own",
            )
        seen[template.id] = path
        templates.append(template)
    by_lang = {lang: tuple(one for one in templates if one.lang == lang) for lang in LANGS}
    for lang, spoken in by_lang.items():
        if not spoken:
            raise BadInput(f"no template with lang {lang!r}", where=str(path), remedy="add one for every language")
    return by_lang


def _label(raw: Any, number: int) -> str:
    """The id where there is one, else the place in the file."""
    name = raw.get("id") if isinstance(raw, dict) else None
    return name if isinstance(name, str) and name else f"#{number}"


def _convert(raw: Any, kind: type[T], where: str) -> T:
    try:
        return msgspec.convert(raw, kind)
    except msgspec.ValidationError as error:
        remedy = f"a template has exactly the fields {', '.join(kind.__struct_fields__)}; see templates/README.md"
        raise BadInput(str(error), where=where, remedy=remedy) from None


def _check_alternatives(template: AnyTemplate, where: str) -> None:
    for field, value in msgspec.structs.asdict(template).items():
        if field in OFFERED:
            for number, alternative in enumerate(value, start=1):
                _check_alternative(alternative, field, f"{where}, field {field}, alternative {number}")


def _check_alternative(alternative: str, field: str, where: str) -> None:
    offered = OFFERED[field]
    offer = f"this field offers {{{{ {offered} }}}} and nothing else" if offered else "this field offers no variable"
    try:
        strange = _variables(alternative) - {offered}
    except TemplateError as error:
        raise BadInput(f"jinja error: {error}", where=where, remedy="correct the braces; " + offer) from None
    if strange:
        raise BadInput(f"unknown variable {', '.join(sorted(strange))}", where=where, remedy=offer)
    probe = "\ue000\ue001\ue000"
    try:
        shown = render(alternative, **({offered: probe} if offered else {})).count(probe)
    except Exception as error:  # A template is code that somebody wrote: whatever it raises is a fault of the template.
        raise BadInput(f"cannot be rendered ({error})", where=where, remedy=offer) from None
    if field in MUST_SHOW and shown != 1:
        times = "never" if shown == 0 else f"{shown} times"
        raise BadInput(f"shows {offered} {times}", where=where, remedy=f"use {{{{ {offered} }}}} exactly once")


def _variables(alternative: str) -> set[str]:
    """Variables that a text needs; those of plain texts are known without asking jinja, which is slow to parse."""
    if _needs_jinja(alternative):
        return meta.find_undeclared_variables(_JINJA.parse(alternative))
    return set(_PLAIN.findall(alternative))
