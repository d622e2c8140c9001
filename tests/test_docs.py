"""Everything that the pages name exists in both languages: commands, flags, make targets, files, links."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from src.cli.app import app, hyphens

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for pattern in (
        "*.md",
        "docs/*.md",
        "docs/internal/*.md",
        "templates/*.md",
        "models/*/*.md",
        "bench/*.md",
        "packages/*/*.md",
    )
    for path in ROOT.glob(pattern)
)
READMES = ("README.md", "README.zh-CN.md")
TREE = tuple("src packages tests scripts ops configs templates train docs notebooks bench models".split())
MADE = {"configs/weights.json", "configs/owner.pub.pem", "templates/pack_mine", "models/tiny-trained"}
"""In a folder of the tree, but made by a run or by the reader."""
DOORS = {
    "src.core.launch": "train",
    "train.ppo_runner": "ppo_runner",
    "scorecache-cli": "scorecache",
    **{f"src.evaluation.{verb}": verb for verb in ("shadow_run", "weight_calib", "overclar_penalty")},
}
OWN_FLAGS = {"make-base-model", "make-trained-model", "screenshots"}
"""Scripts that are no command."""
COMMAND = re.compile(
    r"(?:askgate |python -m (?=src\.|train\.)|python (?:scripts|ops)/|(?=scorecache-cli ))(?P<name>[a-z][\w.-]*)"
    r"(?P<rest>[^\n#&;()]*)"
)


def text(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def code(page: str) -> Iterator[str]:
    """Code blocks and spans. A line that ends in a backslash is joined with the next; diagrams are not code."""
    whole = text(page)
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```", whole, flags=re.S | re.M):
        if language != "mermaid":
            yield block.replace("\\\n", " ")
    yield from re.findall(r"`([^`]+)`", re.sub(r"^```.*?^```", "", whole, flags=re.S | re.M))


def commands(page: str) -> Iterator[tuple[str, set[str]]]:
    """Name and flags of every command on a page, under any of its names."""
    for part in code(page):
        for found in COMMAND.finditer(part):
            name = found["name"].removesuffix(".py")
            flags = re.findall(r"(?<![\w-])--[a-z][\w-]*", found["rest"])
            yield hyphens(DOORS.get(name, name)), set(map(hyphens, flags))


def flags_of(command: Any) -> set[str]:
    """Flags of a command; for a group, those of all its commands."""
    own = {flag for parameter in command.params for flag in parameter.opts}
    parts = command.commands.values() if isinstance(command, typer.core.TyperGroup) else ()
    return own.union(*map(flags_of, parts), {"--help"})


@pytest.mark.parametrize("page", PAGES)
def test_every_command_can_be_typed(page: str) -> None:
    verbs: Any = typer.main.get_command(app)
    for verb, flags in commands(page):
        if verb not in OWN_FLAGS and not verb.startswith("src."):
            assert verb in verbs.commands, verb
            assert flags <= flags_of(verbs.commands[verb]), verb


def test_commands_are_found_at_all() -> None:
    found = [one for page in PAGES for one in commands(page)]
    assert len(found) > 100
    assert ("validate-pool", {"--leak-check", "--by-task", "--out"}) in found
    assert {"shadow-run", "train", "ppo-runner", "scorecache", "make-min-data", "round"} <= {verb for verb, _ in found}


@pytest.mark.parametrize("page", PAGES)
def test_every_target_of_make_is_there(page: str) -> None:
    targets = set(re.findall(r"^([\w-]+):", text("Makefile"), flags=re.M))
    for part in code(page):
        for said in re.findall(r"(?:^|(?<=\s))make ((?:[a-z][\w-]*(?: |$|\n))+)", part, flags=re.M):
            assert set(said.split()) <= targets, said


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_somewhere(page: str) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", text(page)):
        if "://" not in target:
            assert (ROOT / page).parent.joinpath(target.partition("#")[0]).exists(), target


@pytest.mark.parametrize("page", PAGES)
def test_every_file_of_the_tree_is_there(page: str) -> None:
    """Accepts `eval/compare.py` for `src/eval/compare.py`, as pages on the code write it."""
    places = (ROOT, ROOT / "src", ROOT / "packages/askgate-env/src", (ROOT / page).parent)
    for part in code(page):
        for name in re.findall(rf"(?<![\w./-])(?:{'|'.join(TREE)})/[\w./-]*[\w/]", part):
            assert name in MADE or any((place / name).exists() for place in places), name
        if re.fullmatch(r"[a-z_]+/[a-z_/]+\.py", part):
            assert any((place / part).exists() for place in places), part


def test_both_readmes_show_the_same_commands() -> None:
    ours, theirs = (list(_blocks(page)) for page in READMES)
    assert ours == theirs


def test_both_readmes_list_every_verb() -> None:
    verbs: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    for page in READMES:
        assert [name for name, verb in verbs.items() if not verb.hidden and f"`{name}`" not in text(page)] == [], page


def test_both_readmes_lead_to_every_page() -> None:
    for page in READMES:
        for other in (one for one in PAGES if one.startswith("docs/")):
            assert f"]({other})" in text(page), other


def test_both_readmes_say_what_trains_and_what_infers() -> None:
    for page, sentences in zip(
        READMES,
        (
            (
                "Training uses PyTorch; TRL is optional",
                "Inference and offline evaluation can use llama.cpp with a GGUF file",
                "Online rollouts never use llama.cpp",
            ),
            (
                "训练用 PyTorch，TRL 可选",
                "推理和离线评测也可以用 llama.cpp 加 GGUF 文件",
                "在线 rollout 不用 llama.cpp",
            ),
        ),
        strict=True,
    ):
        said = " ".join(text(page).split())
        assert all(sentence in said for sentence in sentences), page


def test_the_changelog_begins_with_the_version_that_is_built() -> None:
    version = tomllib.loads(text("pyproject.toml"))["project"]["version"]
    first = re.search(r"^## (\S+)", text("CHANGELOG.md"), flags=re.M)
    assert first
    assert first[1] == version


def _blocks(page: str) -> Iterator[list[str]]:
    """The commands of a page, without comments."""
    for block in re.findall(r"^```(?:bash|yaml)\n(.*?)^```", text(page), flags=re.S | re.M):
        yield [line.partition(" #")[0].rstrip() for line in block.splitlines() if line.strip()]


def test_every_attack_names_tests_that_exist() -> None:
    table = text("docs/gates.md").partition("| attack | refused by | tests |\n|---|---|---|\n")[2].partition("\n\n")[0]
    rows = table.splitlines()
    assert len(rows) > 60
    for row in rows:
        named = re.findall(r"`([\w/]+\.py)::(test_\w+)`", row)
        assert named, row
        for file, name in named:
            assert f"def {name}(" in text(f"tests/{file}"), f"{file}::{name}"
