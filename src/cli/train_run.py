"""One run of a training config: seed after seed, logged, resumable, and with a report of what went wrong if it does."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console

from ..config.loader import write_effective
from ..config.train import TrainConfig
from ..core.api import Stop
from ..core.errors import BadInput
from ..runtime.errors import write_error_report
from ..runtime.logs import logged
from ..runtime.steplog import StepLog, also_reachable
from . import train_data
from .train_control import control, tokens_seen
from .train_outcome import Outcome, write_report
from .train_parts import make_callbacks, make_job, told_by
from .train_preflight import Ready, preflight

if TYPE_CHECKING:
    from ..core.api import Callback, Engine
    from ..core.checkpoint import Store
    from ..core.episode import Episode
    from ..engines.job import TrainJob

LOGS, REPORTS = Path("logs"), Path("reports")
LOG = LOGS / "train.log"
METRICS, EVAL = LOGS / "metrics.jsonl", LOGS / "eval.jsonl"
EPISODES, EVAL_EPISODES, CURVES = LOGS / "episodes", LOGS / "eval", LOGS / "tensorboard"
STEP_LINES = "callbacks.logging"
FREE_TO_CHANGE = ("steps", "checkpoint", "eval", "device_pref", "build")
"""What a resumed run may have otherwise than the run it goes on with."""

log = logging.getLogger(__name__)


def run(path: Path, resume: bool) -> list[Outcome]:
    """Refuses what cannot run before it writes anything; after that every exception leaves a report."""
    # A user's own strategy or engine lies in the folder that the command is run in.
    sys.path.insert(0, os.getcwd())
    ready = preflight(path)

    from transformers.utils import logging as transformers_logging

    from ..core.shelf import lock

    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    console = Console(stderr=True, markup=False, highlight=False, emoji=False, soft_wrap=True)
    held = lock(LOGS)
    try:
        with logged(LOG, _Said(console)), _reported(ready):
            if not resume:
                _set_aside(ready.config)
            write_effective(ready.config)
            also_reachable(REPORTS / METRICS.name, METRICS)
            outcomes = [_run_seed(ready, seed, resume, console) for seed in ready.config.seeds]
            log.info("wrote %s", write_report(outcomes, ready.config, REPORTS))
            return outcomes
    finally:
        os.close(held)


def _run_seed(ready: Ready, seed: int, resume: bool, console: Console) -> Outcome:
    from ..core.checkpoint import Store
    from ..data.training import open_sampler
    from ..runtime.device import settle

    config = ready.config
    mirror = _of_seed(config, _mirrored(config), seed) if config.checkpoint.mirror else None
    with Store(config.checkpoints(seed), mirror, config.checkpoint.keep) as store:
        start = store.newest() if resume and store.last_step is not None else None
        if start:
            _same_config(start.marks, ready)
        else:
            store.require_new()
        with told_by(ready.path, config):
            sampler = open_sampler(config.seed_pool, config.shadow_set, config.priority_sampling, seed)
            job = make_job(
                config,
                seed,
                model=ready.model,
                renderer=ready.renderer,
                sampler=sampler,
                store=store,
                device=ready.device,
                dtype=ready.dtype,
                targets=ready.targets,
            )
            settle(ready.device)
            engine = ready.engine(job)
        if start:
            engine.load(start.path)
        _announce(ready, seed, engine, resume)
        return _fit(ready, seed, engine, job, store, console)


def _fit(ready: Ready, seed: int, engine: Engine, job: TrainJob, store: Store, console: Console) -> Outcome:
    from ..callbacks.checkpoint import Checkpoints
    from ..callbacks.eval_shadow import EvalShadow, Play
    from ..callbacks.logging import Logging
    from ..callbacks.progress import Bar
    from ..callbacks.tensorboard import TensorBoard
    from ..eval.metrics import figures, flat

    config = ready.config
    play = Play(job, *train_data.held_out(config), greedy=config.eval.greedy)
    folder = _of_seed(config, EVAL_EPISODES, seed)

    def measure(episodes: Sequence[Episode]) -> dict[str, float]:
        return flat(figures(episodes))

    shadow = EvalShadow(seed, config.steps, config.eval.every_steps, play, measure, StepLog(EVAL), folder)
    bar = Bar(f"seed {seed}", config.steps, console)
    callbacks: list[Callback] = [
        shadow,
        Logging(seed, config.steps, StepLog(METRICS), _of_seed(config, EPISODES, seed)),
        TensorBoard(_of_seed(config, CURVES, seed)),
        bar,
        *make_callbacks(config),
        Checkpoints(
            store, config.checkpoint.every_steps, config.checkpoint.every_minutes, _marks(config), "eval/reward"
        ),
    ]
    with ExitStack() as end:
        end.callback(bar.stop)
        engine.fit(callbacks)
    beside = None
    if config.eval.control:
        tokens = tokens_seen(StepLog(METRICS), seed, config.batch_size)
        beside = control(config, job, play, tokens, folder / "control.jsonl")
    return Outcome(seed, engine.step, shadow.episodes(0), shadow.episodes(engine.step), beside)


def _mirrored(config: TrainConfig) -> Path:
    """A folder of this profile inside the mirror, which may be the root of a drive."""
    assert config.checkpoint.mirror
    return config.checkpoint.mirror / config.profile


def _of_seed(config: TrainConfig, folder: Path, seed: int) -> Path:
    return folder / f"seed_{seed}" if config.several_seeds else folder


def _marks(config: TrainConfig) -> dict[str, Any]:
    """No gate has seen this run, so no release takes its checkpoints."""
    return {"gated": False, "releasable": False, "profile": config.profile, "config": config.model_dump(mode="json")}


def _same_config(marks: dict[str, Any], ready: Ready) -> None:
    """A run that goes on with other settings would be a run that nobody can repeat."""
    now, then = ready.config.model_dump(mode="json"), marks["config"]
    for key in [*now, *then]:
        if key not in FREE_TO_CHANGE and now.get(key) != then.get(key):
            raise BadInput(
                "is not what the run began with",
                where=f"{ready.path}: {key}",
                remedy="put the old value back (checkpoints/.../manifest.json has it), or start anew without --resume",
            )


def _announce(ready: Ready, seed: int, engine: Engine, resume: bool) -> None:
    config = ready.config
    if engine.step:
        log.info("seed %d: going on after step %d of %d", seed, engine.step, config.steps)
    elif resume:
        log.info("seed %d: no checkpoint in %s yet, so it starts at the beginning", seed, config.checkpoints(seed))
    log.info(
        "seed %d: %s by %s from %s on %s, %d steps of %d episodes; %s, %s",
        seed,
        config.strategy,
        config.engine,
        config.base_model,
        config.seed_pool,
        config.steps,
        config.batch_size,
        ready.device.type,
        str(ready.dtype).removeprefix("torch."),
    )


def _set_aside(config: TrainConfig) -> None:
    """What an earlier run left moves out of the way. Nothing is written over, and `train.log` goes on."""
    stamp = f"before_{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    old = [path for path in (METRICS, EVAL, EPISODES, EVAL_EPISODES, CURVES) if path.exists()]
    if old:
        aside = LOGS / stamp
        aside.mkdir(parents=True)
        for path in old:
            path.rename(aside / path.name)
        log.info("the logs of the run before are in %s now", aside)
    for folder in (Path("checkpoints") / config.profile, *([_mirrored(config)] if config.checkpoint.mirror else [])):
        if folder.exists():
            moved = folder.rename(folder.with_name(f"{folder.name}_{stamp}"))
            log.info("the checkpoints of the run before are in %s now", moved)


class _Said(logging.Handler):
    """The log on standard error; on a terminal without the line of each step, which the bar shows there."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        self.console = console

    def emit(self, record: logging.LogRecord) -> None:
        if not (self.console.is_terminal and record.levelno == logging.INFO and record.name.endswith(STEP_LINES)):
            self.console.print(self.format(record))


@contextmanager
def _reported(ready: Ready) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        log.warning("stopped by hand; --resume goes on from the newest checkpoint")
        raise
    except Stop as reason:
        log.error("a callback ended the run: %s; --resume goes on from the newest checkpoint", reason)
        raise typer.Exit(1) from None
    except Exception as error:
        log.error("%s: %s", type(error).__name__, error)
        facts = {"config": str(ready.path), "effective_config": ready.config.model_dump_json()}
        log.error("report of the failure: %s", write_error_report(error, LOG, REPORTS, facts))
        raise
