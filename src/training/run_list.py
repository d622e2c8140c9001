"""The training runs of a folder: their settings, state and results; names, tags and removal (`askgate runs`).

Names and tags are in `runs/names.json`, outside the run folders, so that naming a run changes none of its files.
"""

from __future__ import annotations

import shlex
import shutil
import tarfile
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import msgspec
import yaml
from msgspec import Struct

from ..config.loader import load_train_config
from ..core import paths
from ..core.errors import BadInput
from ..core.files import HOME, PACKAGE_FACTS, last_bytes, read_json, read_record, write_json
from ..core.model_files import model_sha256
from ..runtime.lock import is_locked

NAMES = paths.RUNS / "names.json"
RELEASES = paths.REPORTS / "rc1"
DELETED = ".deleted-"
"""Start of the name of a run folder that is being removed."""
HEADLINE = ("need_ask_success", "overclar_rate", "success")
State = Literal["running", "finished", "stopped"]
_LIST = "`askgate runs` lists the runs"


class Label(Struct, frozen=True):
    """Name and tags that a user gave a run."""

    name: str = ""
    tags: tuple[str, ...] = ()


class RunInfo(Struct, frozen=True):
    """One run of the folder."""

    id: str
    name: str
    tags: tuple[str, ...]
    state: State
    profile: str
    base_model: str
    strategy: str
    step: int
    """Last step that was logged."""
    steps: int
    """`steps` of its config."""
    figures: dict[str, tuple[float | None, float | None]]
    """Headline figures of base and trained policy, from the run's newest evaluation."""
    passed: bool | None
    """Whether the checks on the trained policy passed. None: not evaluated."""
    gated: bool
    """Whether it was trained with a ticket."""
    certified: bool
    """Whether `askgate report`, `verify` and `package` are about this run."""


def list_runs() -> list[RunInfo]:
    """All runs of this folder, newest first."""
    labels, busy = _labels(), _busy_run()
    certified = paths.run_of(paths.GATED_CHECKPOINTS) if paths.GATED_CHECKPOINTS.is_symlink() else None
    return [_info(run, labels.get(run.name, Label()), busy, certified) for run in paths.all_runs()]


def find_run(given: str) -> Path:
    """The run with this name, id, or unambiguous beginning of an id; `latest` is the last one."""
    runs, labels = paths.all_runs(), _labels()
    if given == "latest" and paths.LATEST_RUN.is_symlink():
        return paths.run_of(paths.LATEST_RUN)
    found = [run for run in runs if labels.get(run.name, Label()).name == given or run.name == given]
    found = found or [run for run in runs if given and run.name.startswith(given)]
    if len(found) != 1:
        what = f"there is no run {given!r}" if not found else f"{given!r} is the beginning of {len(found)} runs"
        raise BadInput(what, where="RUN", remedy=_LIST)
    return found[0]


def name_run(run: Path, name: str) -> None:
    """Names a run; an empty name removes its name."""
    labels = _labels()
    taken = next((one for one, label in labels.items() if name and label.name == name and one != run.name), None)
    if taken:
        raise BadInput(f"{name!r} is the name of {taken}", where="--name", remedy="choose another name")
    if name == "latest" or name[:1].isdigit():
        raise BadInput(
            f"{name!r} would be taken for an id", where="--name", remedy="start the name with another letter"
        )
    _save(run, msgspec.structs.replace(labels.get(run.name, Label()), name=name))


def tag_run(run: Path, add: list[str], remove: list[str]) -> None:
    label = _labels().get(run.name, Label())
    tags = [*label.tags, *(tag for tag in add if tag not in label.tags)]
    _save(run, msgspec.structs.replace(label, tags=tuple(tag for tag in tags if tag not in remove)))


def require_deletable(run: Path) -> None:
    """Refuses a run that is being written, and one whose model a report or package of a release names."""
    if run == _busy_run():
        raise BadInput("is running", where=str(run), remedy="wait until it has ended, or end it")
    named = _released_models()
    if named:
        for final in (run / paths.CHECKPOINTS).glob(f"**/{paths.FINAL_MODEL}"):
            if file := named.get(model_sha256(final)):
                remedy = f"keep it; to give up this release, remove {file} first"
                raise BadInput(f"{file} names the model of this run", where=str(run), remedy=remedy)


def delete_run(run: Path) -> None:
    """Removes a run with its checkpoints. Links in the project folder to it then lead to the newest other run."""
    require_deletable(run)
    names = (*paths.LINKS, paths.LATEST_RUN, *(paths.REPORTS / one.name for one in paths.evaluations(run)))
    for link in (name for name in names if name.is_symlink() and paths.run_of(name) == run):
        target = Path() if link == paths.LATEST_RUN else link
        other = next((one for one in paths.all_runs() if one != run and (one / target).exists()), None)
        if other is None:
            link.unlink()
        else:
            paths.point(link, other / target)
    run.rename(run.with_name(f"{DELETED}{run.name}"))  # atomic: a kill leaves no half-deleted run
    for gone in paths.RUNS.glob(f"{DELETED}*"):  # also of a deletion that was killed
        shutil.rmtree(gone)
    _save(run, Label())


def _info(run: Path, label: Label, busy: Path | None, certified: Path | None) -> RunInfo:
    config = effective_config(run)
    reports = [path for path in paths.evaluations(run) if path.suffix == ".json"]
    report: dict[str, Any] = {}
    if reports:
        with suppress(BadInput):
            report = read_json(max(reports, key=lambda path: path.stat().st_mtime), "")
    changes = (report.get("pooled") or {}).get("changes") or {}
    finished = any((run / paths.CHECKPOINTS).glob(f"**/{paths.FINAL_MODEL}/config.json"))
    return RunInfo(
        id=run.name,
        name=label.name,
        tags=label.tags,
        state="running" if run == busy else "finished" if finished else "stopped",
        profile=str(config.get("profile", "")),
        base_model=str(config.get("base_model", "")),
        strategy=str(config.get("strategy", "")),
        step=_last_step(run / paths.METRICS),
        steps=int(config.get("steps", 0)),
        figures={
            name: (changes[name]["base"]["value"], changes[name]["trained"]["value"])
            for name in HEADLINE
            if name in changes
        },
        passed=report.get("passed"),
        gated=bool(report.get("gated")),
        certified=run == certified,
    )


def effective_config(run: Path) -> dict[str, Any]:
    """Every setting of a run as it took effect; empty where its file is missing or cannot be read."""
    try:
        read = yaml.safe_load((run / paths.EFFECTIVE_CONFIG).read_bytes())
    except (OSError, yaml.YAMLError):
        return {}
    return read if isinstance(read, dict) else {}


def config_of(run: Path) -> Path:
    """Config of a run: the first file with the settings that took effect, else the record of these settings."""
    effective, here = effective_config(run), [Path().glob(pattern) for pattern in ("data/own/*/*.yaml", "*.yaml")]
    configs = {path.relative_to(HOME) for path in (HOME / "configs").glob("*.yaml")} | {*Path("configs").glob("*.yaml")}
    for path in (*sorted(configs), *(path for paths_here in here for path in sorted(paths_here))):
        with suppress(BadInput):
            # A config of profile `local` that runs with a ticket has the profile of the ticket.
            if load_train_config(path).model_dump(mode="json") | {"profile": effective.get("profile")} == effective:
                return path
    return run / paths.EFFECTIVE_CONFIG


def resume_command(refused: Path) -> str:
    """Command that resumes the newest stopped local run of this folder; empty if there is none, or only with the config
    `refused`."""
    for one in list_runs():
        run = paths.RUNS / one.id
        is_local = not one.gated and (run / paths.LOCAL_CHECKPOINTS).is_dir()
        if one.state == "stopped" and is_local and (config := config_of(run)) != refused:
            return shlex.join(["askgate", "train", "--resume", "--config", str(config)])
    return ""


def _last_step(metrics: Path) -> int:
    """Step of the last whole line of a log."""
    for line in reversed(last_bytes(metrics, 65_536).splitlines()):
        with suppress(msgspec.MsgspecError, KeyError, TypeError):
            return int(msgspec.json.decode(line)["step"])
    return 0


def _busy_run() -> Path | None:
    """The run that a process is writing at the moment."""
    return paths.run_of(paths.LATEST_RUN) if paths.LATEST_RUN.is_symlink() and is_locked(paths.LOGS) else None


def _released_models() -> dict[str, Path]:
    """SHA-256 of the models that a release report or package names, each with that file."""
    named: dict[str, Path] = {}
    for path in sorted(RELEASES.glob("RC1.json")):
        named |= dict.fromkeys((read_json(path, "write it again: askgate report").get("models") or {}).values(), path)
    for path in sorted(RELEASES.glob("*.tgz")):
        with suppress(tarfile.TarError, KeyError), tarfile.open(path) as packed:
            facts = packed.extractfile(PACKAGE_FACTS.as_posix())
            if facts is not None:
                named |= dict.fromkeys(msgspec.json.decode(facts.read())["models"].values(), path)
    return named


def _labels() -> dict[str, Label]:
    return read_record(NAMES, dict[str, Label], "remove this file", "has no names of runs") if NAMES.exists() else {}


def _save(run: Path, label: Label) -> None:
    labels = {**_labels(), run.name: label}
    write_json(NAMES, {one: found for one, found in labels.items() if found != Label()})
