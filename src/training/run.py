"""One run of a training config: seed after seed, logged, resumable, and with a report of what went wrong if it does."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console

from ..checkpoint.store import HACKING, STOPPED
from ..config.loader import write_effective
from ..config.train_config import TrainConfig
from ..core.api import Stop
from ..core.defaults import RESUME
from ..core.errors import BadInput
from ..core.files import sweep
from ..runtime.disk import explain_disk_errors
from ..runtime.lock import lock_folder
from ..runtime.logs import StepLog, add_link, logging_to, write_error_report
from . import data as train_data
from .control import control, tokens_seen
from .facts import as_admitted, digest, evaluation_key, open_evaluations, same_sources, sources
from .outcome import Outcome, write_report
from .parts import make_callbacks, make_job, make_strategy, told_by
from .paths import mirror_of, of_seed, roots, told_roots
from .preflight import Ready, preflight
from .resume import GATED, SOURCES, goes_on, refuse_no_way_on, require_begun, same_config, same_gate
from .reward import open_judge, unstable_weights

if TYPE_CHECKING:
    from ..checkpoint.store import CheckpointStore
    from ..core.api import Callback, Engine
    from ..core.types import Episode
    from ..engines.job import LiveJudge, TrainJob
    from ..gates.ticket import Admission
    from ..reward.live_share import CourtRoom

LOGS, REPORTS = Path("logs"), Path("reports")
LOG = LOGS / "train.log"
METRICS, EVAL = LOGS / "metrics.jsonl", LOGS / "eval.jsonl"
EPISODES, EVAL_EPISODES, CURVES = LOGS / "episodes", LOGS / "eval", LOGS / "tensorboard"
JUDGED = LOGS / "judged"
OF_A_RUN = (METRICS, EVAL, EPISODES, EVAL_EPISODES, JUDGED, CURVES)
STEP_LINES = "callbacks.logging"
TARGETS = "lora_targets"
"""Mark of a checkpoint: the layers that got an adapter."""

log = logging.getLogger(__name__)


def run(
    path: Path, resume: bool, admission: Admission | None = None, overrides: Sequence[str] | None = None
) -> list[Outcome]:
    """Refuses what cannot run before it writes anything; after that every exception leaves a report.

    With an admission it is a gated run, which only `train_gated` starts. It goes on by itself where it was broken off.
    """
    # A user's own strategy or engine lies in the folder that the command is run in.
    sys.path.insert(0, os.getcwd())
    ready = preflight(path, admission, overrides)

    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    console = Console(stderr=True, markup=False, highlight=False, emoji=False, soft_wrap=True)
    held = lock_folder(LOGS)
    try:
        for written in OF_A_RUN:
            sweep(written)
        if admission and resume:
            require_begun(ready.config)
        by_itself = admission is not None and not resume and goes_on(ready.config, admission)
        with logging_to(LOG, _Said(console)), _reported(ready), explain_disk_errors(LOGS, only_full=True):
            if by_itself:
                log.info("this run has begun before; to begin anew, move %s away", told_roots(ready.config))
            return _run_seeds(ready, resume or by_itself, console)
    finally:
        os.close(held)


def _run_seeds(ready: Ready, resume: bool, console: Console) -> list[Outcome]:
    config = ready.config
    with open_judge(config, resume, make_strategy(config).group_size) as room:
        made: dict[int, _Prepared] = {}
        if not resume:
            # What cannot be built is refused while the run before still lies where it lay.
            made[config.seeds[0]] = _prepare(ready, config.seeds[0], ready.targets, room)
            set_aside(config)
        write_effective(config)
        add_link(REPORTS / METRICS.name, METRICS)
        outcomes = [_run_seed(ready, seed, resume, console, made, room) for seed in config.seeds]
        log.info("wrote %s", write_report(outcomes, config, REPORTS))
        return outcomes


@dataclass(frozen=True)
class _Prepared:
    """All of a seed's run but the checkpoints."""

    engine: Engine
    job: TrainJob
    stands_on: dict[str, str]
    stores: list[CheckpointStore] = field(default_factory=list)
    """The one that the run rolls back with, once it is open."""


def _prepare(ready: Ready, seed: int, targets: tuple[str, ...], room: CourtRoom | None = None) -> _Prepared:
    from ..data.pool.meta import read_meta
    from ..runtime.device import prepare_device
    from .sampler import open_sampler

    config = ready.config
    stores: list[CheckpointStore] = []

    def last_good(before: int) -> Path | None:
        found = stores[0].latest_good(before)
        return found.path if found else None

    with told_by(ready.path, config):
        weights = unstable_weights(config)
        sampler = open_sampler(config.seed_pool, config.shadow_set, config.priority_sampling, seed, weights=weights)
        job = make_job(
            config,
            seed,
            model=ready.model,
            renderer=ready.renderer,
            sampler=sampler,
            last_good=last_good,
            tools=read_meta(config.seed_pool).tools,
            device=ready.device,
            dtype=ready.dtype,
            targets=targets,
            judge=_judge_share(config, seed, room) if room else None,
        )
        prepare_device(ready.device)
        engine = ready.engine(job)
        if config.eval.control:
            tokens_seen(engine)
    stands_on = sources(ready)
    as_admitted(stands_on, ready)
    return _Prepared(engine, job, stands_on, stores)


def _judge_share(config: TrainConfig, seed: int, room: CourtRoom) -> LiveJudge:
    from ..reward.live_share import LiveShare

    group_size = make_strategy(config).group_size
    return LiveShare(room, config.reward.live_share, seed, group_size, of_seed(config, JUDGED, seed))


def _run_seed(
    ready: Ready, seed: int, resume: bool, console: Console, made: dict[int, _Prepared], room: CourtRoom | None
) -> Outcome:
    from ..checkpoint.store import CheckpointStore

    config = ready.config
    with CheckpointStore(config.checkpoints(seed), mirror_of(config, seed), config.checkpoint.keep) as store:
        start = store.newest() if resume and store.last_step is not None else None
        targets = ready.targets
        if start:
            same_config(start.marks, ready)
            same_gate(start.marks, ready)
            refuse_no_way_on(start, ready)
            targets = tuple(start.marks.get(TARGETS, targets))
        else:
            store.require_new()
        run = made.pop(seed, None) or _prepare(ready, seed, targets, room)
        run.stores.append(store)
        if start:
            same_sources(run.stands_on, start.marks.get(SOURCES, {}), ready.path)
            run.engine.load(start.path)
        _announce(ready, seed, run.engine, resume)
        return _fit(ready, run, store, console)


def _fit(ready: Ready, run: _Prepared, store: CheckpointStore, console: Console) -> Outcome:
    from ..callbacks.checkpoint import Checkpoints, Deferred, DeferredStop
    from ..callbacks.eval_shadow import EvalShadow, EvaluationRollout, HasPolicy
    from ..callbacks.logging import Logging, ProgressBar, TensorBoard
    from ..callbacks.watch import Watch
    from ..engines.models import load_policy
    from ..eval.metrics import figures, flat

    config, engine, job, seed = ready.config, run.engine, run.job, run.job.seed
    play = EvaluationRollout(job, *train_data.held_out(config), greedy=config.eval.greedy)
    folder = of_seed(config, EVAL_EPISODES, seed)
    key = evaluation_key(ready, job, run.stands_on)
    open_evaluations(folder, key)

    def measure(episodes: Sequence[Episode]) -> dict[str, float]:
        return flat(figures(episodes))

    looks = config.eval
    shadow = EvalShadow(seed, config.steps, looks.every_steps, play, measure, StepLog(EVAL), folder, looks.base)
    watch = Watch(seed, config.watch, StepLog(METRICS))
    bar = ProgressBar(f"seed {seed}", config.steps, console)
    ending = DeferredStop()
    callbacks: list[Callback] = [
        shadow,
        watch,
        Logging(seed, config.steps, StepLog(METRICS), of_seed(config, EPISODES, seed)),
        TensorBoard(of_seed(config, CURVES, seed)),
        bar,
        *(Deferred(own, ending) for own in make_callbacks(config)),
        Checkpoints(
            store,
            config.checkpoint.every_steps,
            config.checkpoint.every_minutes,
            _marks(ready, run),
            best_by="eval/reward",
            valued_by=digest(key),
            ending=lambda: {STOPPED: ending.reason, HACKING: watch.breach},
        ),
        ending,
        watch.stopper,
    ]
    with ExitStack() as end:
        end.callback(bar.stop)
        engine.fit(callbacks)
    beside = None
    if config.eval.control:
        on = {"seed_pool": run.stands_on["seed_pool"]}
        beside = control(config, job, play, tokens_seen(engine), folder / "control.jsonl", key | on)
    if not isinstance(engine, HasPolicy):
        return Outcome(seed, engine.step, None, None, beside)
    trained = shadow.episodes_or_rollout(engine.policy, engine.step)
    base = shadow.episodes(0)
    if base is None and config.eval.base:
        base = shadow.episodes_or_rollout(
            load_policy(job.model, job.finetune, job.lora_targets, job.device, job.dtype), 0
        )
    return Outcome(seed, engine.step, base, trained, beside)


def _marks(ready: Ready, run: _Prepared) -> dict[str, Any]:
    """A release takes no checkpoint of a run that no gate has seen."""
    return {
        GATED: ready.admission is not None,
        "releasable": ready.admission is not None,
        "ticket": ready.admission.ticket_sha256 if ready.admission else None,
        "profile": ready.config.profile,
        "config": ready.config.model_dump(mode="json"),
        SOURCES: run.stands_on,
        TARGETS: list(run.job.lora_targets),
    }


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


def set_aside(config: TrainConfig) -> None:
    """What an earlier run left moves out of the way. Nothing is written over, and `train.log` goes on."""
    stamp = f"before_{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    old = [path for path in OF_A_RUN if path.exists()]
    if old:
        aside = LOGS / stamp
        aside.mkdir(parents=True)
        for path in old:
            path.rename(aside / path.name)
        log.info("the logs of the run before are in %s now", aside)
    for folder in roots(config):
        if any(path.is_file() for path in folder.rglob("*")):  # an empty folder was made by hand, beforehand
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
        log.warning("stopped by hand; %s goes on from the newest checkpoint", RESUME)
        raise
    except Stop as reason:
        log.error("a callback ended the run: %s; %s goes on from the newest checkpoint", reason, RESUME)
        raise typer.Exit(1) from None
    except Exception as error:
        log.error("%s: %s", type(error).__name__, error)
        facts = {"config": str(ready.path), "effective_config": ready.config.model_dump_json()}
        try:
            log.error("report of the failure: %s", write_error_report(error, LOG, REPORTS, facts))
        except (BadInput, OSError) as refused:
            log.error("no report of the failure could be written: %s", refused)
        raise
