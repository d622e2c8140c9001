"""Paths of a training run: checkpoints, logs, episodes and reports. The one module that knows them.

    checkpoints/{local,rc1}/[seed_S/]    step_00042/, latest, best/, warm_start/, final_model/, control/ (the model of
                                         control.jsonl below); rc1 is for gated runs
    logs/metrics.jsonl, logs/eval.jsonl  figures of every step, and of every evaluation on held-out samples
    logs/train.log, tensorboard/, judged/   log, curves, and the scores of live-scored episodes
    logs/episodes/[seed_S/]              training episodes, step_00042.jsonl; tokens of some, step_00042.tokens.json
    logs/eval/[seed_S/]                  held-out episodes, step_00042.jsonl (step 0: the base), control.jsonl,
                                         control_time.jsonl, key.json
    reports/config_effective.yaml        every setting as it took effect
    reports/ppo_eval_TAG.{json,html}     base against trained policy
    reports/preflight/round2_pass.json   copy of the ticket, of a gated run

The `seed_S` folders are there where a run has several seeds.

Each run has these in a folder of its own, `runs/<time>-<random>/`. In the project folder the same names are links to
the run that was started or resumed last; `checkpoints/local` and `checkpoints/rc1` link to the last run of their kind.
So a new run changes nothing of an earlier one. `open_run` makes the links and `run_of` follows them; no other link is
followed. An unpacked package has files in place of the links, and its run folder is the project folder itself.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from .errors import BadInput

CHECKPOINTS = Path("checkpoints")
LOCAL_CHECKPOINTS, GATED_CHECKPOINTS = CHECKPOINTS / "local", CHECKPOINTS / "rc1"
FINAL_MODEL, WARM_START = "final_model", "warm_start"
"""Folders of models, for `transformers`: the trained policy, and the one that the strategy started from."""

LOGS = Path("logs")
TRAIN_LOG = LOGS / "train.log"
METRICS, EVAL_METRICS = LOGS / "metrics.jsonl", LOGS / "eval.jsonl"
EPISODES, EVAL_EPISODES = LOGS / "episodes", LOGS / "eval"
JUDGED, TENSORBOARD = LOGS / "judged", LOGS / "tensorboard"

REPORTS = Path("reports")
EFFECTIVE_CONFIG = REPORTS / "config_effective.yaml"
LIVE_SCORES = REPORTS / "rc1" / "scores.jsonl"
"""Output of `askgate score`."""
EVALUATION = "ppo_eval_"
"""Beginning of the names of reports on base against trained policy; the rest is their tag."""

RUNS = Path("runs")
LATEST_RUN = RUNS / "latest"
_ADOPTING = RUNS / ".adopting"
"""Link to the run folder that the files of an older version are being moved to."""
RUN_FOLDERS = (EPISODES, EVAL_EPISODES, JUDGED, TENSORBOARD)
RUN_FILES = (METRICS, EVAL_METRICS, TRAIN_LOG, EFFECTIVE_CONFIG)
LINKS = (*RUN_FOLDERS, *RUN_FILES, LOCAL_CHECKPOINTS, GATED_CHECKPOINTS)
"""Names in the project folder that are links into a run folder; the reports `ppo_eval_*` are links too."""
_RUN_ID = "[0-9]*T[0-9]*Z-*"
HERE = Path(".")

ABLATION_SIDES = ("without", "with")
"""The two policies of an ablation: trained without the penalty and with it."""
ABLATION_WORK = Path(".askgate/ablation")


def step_name(step: int) -> str:
    return f"step_{step:05d}"


def step_file(folder: Path, step: int) -> Path:
    """File with the episodes of a step."""
    return folder / f"{step_name(step)}.jsonl"


def token_file(episodes: Path) -> Path:
    """File with the tokens of some episodes of a step, beside that of its episodes.

    >>> token_file(Path("logs/episodes/step_00042.jsonl")).as_posix()
    'logs/episodes/step_00042.tokens.json'
    """
    return episodes.with_name(f"{episodes.stem}.tokens.json")


def seed_folder(folder: Path, seed: int, seeds: Sequence[int]) -> Path:
    """Folder of one seed: `folder` itself where the run has only one."""
    return folder / f"seed_{seed}" if len(seeds) > 1 else folder


def final_models(seeds: Sequence[int], checkpoints: Path = GATED_CHECKPOINTS) -> list[Path]:
    """Folders of the final models, one a seed."""
    return [seed_folder(checkpoints, seed, seeds) / FINAL_MODEL for seed in seeds]


def newest_final_model() -> Path | None:
    """Folder of a final model of the newest finished run; None if no run has one."""
    models = (model for run in all_runs() for model in sorted((run / CHECKPOINTS).glob(f"**/{FINAL_MODEL}")))
    return next(models, None)


def evaluation_report(tag: str) -> tuple[Path, Path]:
    """Report of base against trained policy: JSON and page."""
    return REPORTS / f"{EVALUATION}{tag}.json", REPORTS / f"{EVALUATION}{tag}.html"


def probe_report(profile: str) -> Path:
    """Report of the last probe of a profile's judge."""
    return REPORTS / "rc1" / f"probe_{profile}.json"


def evaluations(run: Path) -> list[Path]:
    """Reports and pages of base against trained policy in a run folder."""
    return sorted((run / REPORTS).glob(f"{EVALUATION}*"))


def new_run(at: datetime | None = None) -> Path:
    """Name of a new run folder. Names sort by time."""
    time = (at or datetime.now(UTC)).strftime("%Y%m%dT%H%M%S%f")[:-3]
    return RUNS / f"{time}Z-{secrets.token_hex(2)}"


def all_runs(root: Path = HERE) -> list[Path]:
    """Folders of all runs, newest first."""
    return sorted((path for path in (root / RUNS).glob(_RUN_ID) if not path.is_symlink()), reverse=True)


def run_of(link: Path) -> Path:
    """Folder of the run that a link such as `checkpoints/rc1` leads to; the project folder if it is no link.

    Raises BadInput if the link leads anywhere else than to the file of that name in a run folder.
    """
    if not link.is_symlink():
        return HERE
    target = Path(os.path.normpath(link.parent / os.readlink(link)))
    run = Path(*target.parts[:2])
    if run.parent != RUNS or not run.match(_RUN_ID) or target != (run if link == LATEST_RUN else run / link):
        raise BadInput(f"is a link to {target}, which no run made", where=str(link), remedy="remove this link")
    return run


def in_run(path: Path) -> Path:
    """The name of a file inside its run folder, which is its name in a package too.

    >>> in_run(Path("runs/20260101T000000000Z-ab12/logs/eval.jsonl")).as_posix()
    'logs/eval.jsonl'
    """
    return Path(*path.parts[2:]) if path.is_relative_to(RUNS) else path


def run_folder(path: Path) -> Path | None:
    """Folder of the run that contains a path; None if no run does.

    >>> run_folder(Path("runs/20260101T000000000Z-ab12/logs/eval.jsonl")).as_posix()
    'runs/20260101T000000000Z-ab12'
    """
    return Path(*path.parts[:2]) if path.is_relative_to(RUNS) and len(path.parts) > 2 else None


def has_gated_run() -> bool:
    return GATED_CHECKPOINTS.is_symlink() or GATED_CHECKPOINTS.is_dir()


def certified_run() -> Path:
    """The run that `askgate report`, `verify` and `package` are about: the last gated one, else the last one."""
    return run_of(GATED_CHECKPOINTS if has_gated_run() else LATEST_RUN)


def certified_id() -> str:
    """Id of that run (`certified_run`); empty if there is none, and in an unpacked package."""
    try:
        return certified_run().name
    except BadInput:
        return ""


def open_run(run: Path, checkpoints: Path) -> None:
    """Makes the folders of a run and points the links to it. `checkpoints`: the name for checkpoints of its kind."""
    for folder in (*RUN_FOLDERS, checkpoints, REPORTS):
        (run / folder).mkdir(parents=True, exist_ok=True)
    for name in (checkpoints, *RUN_FOLDERS, *RUN_FILES):
        point(name, run / name)
    point(REPORTS / METRICS.name, METRICS)
    point(LATEST_RUN, run)


def point(link: Path, target: Path) -> None:
    """Makes or replaces a link, atomically. It is relative, so that the folder can be moved. Never replaces a file."""
    relative = os.path.relpath(target, link.parent)
    if link.is_symlink() and os.readlink(link) == relative:
        return
    if link.exists() and not link.is_symlink():
        return
    new = link.with_name(f".{link.name}.{secrets.token_hex(4)}")
    try:
        link.parent.mkdir(parents=True, exist_ok=True)
        new.symlink_to(relative)
        new.replace(link)
    except OSError as error:
        remedy = "run in a folder on a disk with symbolic links; checkpoint.mirror may be on a drive without them"
        raise BadInput(f"a link cannot be made here ({error.strerror})", where=str(link), remedy=remedy) from None


def adopt_run(move_mirror: Callable[[Path], None] = lambda run: None) -> Path | None:
    """Moves a run whose files are in place of the links, as in older versions and packages, into a run folder.

    `move_mirror` is called with that folder. A kill meanwhile leaves a link to it, so that the next call moves the rest
    there too.
    """
    found = [name for name in (*LINKS, *evaluations(HERE)) if not name.is_symlink() and name.exists()]
    files = [file for name in found for file in _files(name)]
    for name in found:
        if not any(_files(name)):  # an empty folder that the user made in advance
            for path in [*sorted(name.rglob("*"), reverse=True), name]:
                path.rmdir()
    if _ADOPTING.is_symlink():
        run = RUNS / os.readlink(_ADOPTING)
    elif files:
        run = new_run(datetime.fromtimestamp(max(file.stat().st_mtime for file in files), UTC))
        point(_ADOPTING, run)
    else:
        return None
    for name in found:
        if name.exists():
            (run / name).parent.mkdir(parents=True, exist_ok=True)
            name.rename(run / name)
    for name in (*LINKS, *(path.relative_to(run) for path in evaluations(run))):
        if (run / name).exists():
            point(name, run / name)
    move_mirror(run)
    _ADOPTING.unlink()
    return run


def _files(path: Path) -> Iterator[Path]:
    return (file for file in (path.rglob("*") if path.is_dir() else [path]) if file.is_file())


def ablation_file(folder: Path, seed: int, side: str) -> Path:
    """Held-out episodes of one side of an ablation, for one seed."""
    return folder / f"seed_{seed}" / f"{side}.jsonl"


def ablation_seal(folder: Path, seed: int, side: str) -> Path:
    """Copy of the seal of the final model that made these episodes."""
    return folder / f"seed_{seed}" / f"{side}.seal.json"
