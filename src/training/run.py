"""The run of a training config, top to bottom: preflight, then for each seed prepare, fit and evaluate, then report.

    python -m train.ppo_runner --config configs/ppo_scale.yaml     # gated: `run_gated`
    askgate train --config configs/train_local.yaml                # local: `run`

The loop over steps is the engine's (`engines/pure_pt.py`); everything around a step is a callback. An error after
the preflight leaves a report in `reports/`. Under torchrun only rank 0 does all of this; the other ranks follow it
(`follow`).
"""

from __future__ import annotations

import logging
import os
import shlex
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from rich.console import Console

from ..callbacks.checkpoint import Checkpoints, Deferred, DeferredStop
from ..callbacks.eval_shadow import EvalShadow, EvaluationRollout, HasPolicy
from ..callbacks.logging import Logging, ProgressBar, Trackers
from ..callbacks.reward_hacking_watch import Watch
from ..checkpoint.seal import SEAL_FILE, Seal, final_seals
from ..checkpoint.store import HACKING, LATEST, STOPPED, Checkpoint, CheckpointStore
from ..config.loader import write_effective
from ..config.train_config import TrainConfig
from ..core import paths
from ..core.api import Callback, Engine, StepResult, Stop
from ..core.errors import BadInput
from ..core.files import atomic_write, json_bytes, sha256_file, sweep
from ..engines.base import machine
from ..engines.distributed import END, leave, ranks
from ..engines.job import TrainJob
from ..engines.models import load_policy, load_trained
from ..eval.metrics import figures, flat
from ..eval.trial import TrialReport
from ..gates.admission import Admission, admit, require_trial
from ..gates.final_models import settings_of
from ..gates.manifest import Manifest
from ..gates.ticket import ROUND1, TICKET, read_round
from ..gates.verify import measure_again
from ..reward.live_share import LiveShare, RunJudge
from ..runtime.disk import explain_disk_errors
from ..runtime.lock import lock_folder
from ..runtime.logs import ConsoleLog, StepLog, logging_to, write_error_report
from ..runtime.progress import TO_LOG, Reporter
from . import resume as resumption
from .components import make_callbacks, make_engine, make_strategy, open_judge
from .data import held_out
from .preflight import Ready, preflight
from .results import CONTROL_FILE, TIME_CONTROL_FILE, open_run_of, write_results
from .sft_control import control, tokens_seen
from .verify_results import verify_results

LATEST_GATED = paths.GATED_CHECKPOINTS / LATEST
TARGETS = "lora_targets"
"""Mark of a checkpoint: the layers that have an adapter."""

log = logging.getLogger(__name__)


def run_gated(
    path: Path,
    resume_from: Path | None,
    overrides: Sequence[str] | None = None,
    reporter: Reporter = TO_LOG,
    warm_start_only: bool = False,
) -> TrialReport | None:
    """A gated run. Checks the ticket and measures every gate again; no option skips that."""
    admission = admit(path, overrides)
    if resume_from is not None:
        resumption.require_gated_folder(resume_from)
    measure_again([read_round(ROUND1), read_round(TICKET)], log.info)
    return run(path, resume_from is not None, admission, overrides, reporter, warm_start_only)


def run(
    path: Path,
    resume: bool,
    admission: Admission | None = None,
    overrides: Sequence[str] | None = None,
    reporter: Reporter = TO_LOG,
    warm_start_only: bool = False,
) -> TrialReport | None:
    """Trains every seed and reports on all of them. With an admission it is a gated run, which resumes by itself.

    `warm_start_only`: ends the run after its warm start and returns None. It can be resumed without this option.
    """
    ready = preflight(path, admission, overrides, reporter)
    ranks().announce("open", path, admission, overrides, ready.forecast)
    if warm_start_only and not ready.config.warm_start:
        remedy = "add the section, such as warm_start: {steps: 8, tokens: 200000}"
        raise BadInput("there is no warm start in this config", where=f"{path}: warm_start", remedy=remedy)
    console = Console(stderr=True, markup=False, highlight=False, emoji=False, soft_wrap=True)
    lock = lock_folder(paths.LOGS)
    try:
        if paths.adopt_run(lambda run: _adopt_mirror(ready.config, run)) is None:
            _adopt_mirror(ready.config, paths.new_run())
        resumed = resumption.find_run(ready, resume)
        seals = [*resumption.newest_seals(ready.config, resumed).values()] if resumed else []
        for seal in seals:
            resumption.require_same_run(seal, ready)
        # The trial is verified when a run begins, and when a run that began as the trial itself resumes as the run at
        # scale: the two may differ in their steps only.
        settings = settings_of(ready.config.model_dump(mode="json"))
        has_begun = resumed and all(settings_of(seal.marks["config"]) == settings for seal in seals)
        if admission and not has_begun and (trial := require_trial(path, admission)):
            _verify_trial(*trial)
        folder = resumed or paths.new_run()
        for written in (*paths.RUN_FOLDERS, *paths.RUN_FILES):
            sweep(folder / written)
        try:
            with (
                logging_to(folder / paths.TRAIN_LOG, ConsoleLog(console)),
                _explain_early_end(ready, folder, overrides or (), warm_start_only),
                explain_disk_errors(paths.LOGS, only_full=True),
            ):
                if resumed and not resume:
                    names = " and ".join(map(str, [folder, *resumption.checkpoint_roots(ready.config, folder)[1:]]))
                    log.info("this run has begun before and is resumed; to start again, move %s away", names)
                report = _run_seeds(ready, folder, resume or resumed is not None, console, warm_start_only)
                leave()
                return report
        except Stop:
            leave()
            raise
        finally:
            if resumed is None and not (folder / paths.EFFECTIVE_CONFIG).exists():
                shutil.rmtree(folder, ignore_errors=True)  # refused before it began
    finally:
        os.close(lock)


def _verify_trial(config: TrainConfig, report: Path) -> None:
    """Refuses a trial whose report does not follow from its episodes and models."""
    open_run_of(config)
    if verify_results(False, log.info, report) is None:
        what, remedy = "is not of a trial with this ticket", "run the trial and `askgate eval` on it again"
        raise BadInput(what, where=str(report), remedy=remedy)


def _run_seeds(ready: Ready, folder: Path, resume: bool, console: Console, warm_start_only: bool) -> TrialReport | None:
    config, first_seed = ready.config, ready.config.seeds[0]
    seals = resumption.newest_seals(config, folder) if resume else {}
    if ready.forecast:
        remaining = ready.forecast.after([seal.step for seal in seals.values()], config.warm_steps)
        for name, text in remaining.rows():
            log.info("forecast: %s: %s", name, text)
    with open_judge(config, folder if resume else None, make_strategy(config).group_size) as run_judge:
        # The first seed is prepared before a file or a link of the run changes: what cannot be built or resumed is
        # refused here.
        lora_targets = _lora_targets(ready, seals.get(first_seed))
        prepared = {first_seed: _prepare_seed(ready, first_seed, lora_targets, run_judge)}
        for seal in seals.values():
            recorded = seal.marks.get(resumption.SOURCES, {})
            resumption.require_same_sources(prepared[first_seed].sources, recorded, ready.path, ready.admission)
        paths.open_run(folder, config.checkpoint_root)
        log.info("run %s", folder)
        write_effective(config)
        if ready.admission and TICKET.exists():  # the next rounds replace the one in `reports/preflight`
            with atomic_write(folder / TICKET) as file:
                file.write(TICKET.read_bytes())
        for seed in config.seeds:
            _run_seed(ready, seed, resume, console, run_judge, prepared, warm_start_only)
        if warm_start_only:
            return None
        report, files = write_results(config, f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}")
        if ready.admission:
            record_outputs(folder, folder / files[0])
        log.info("wrote %s", files[0])
        return report


@dataclass
class _Rollbacks:
    """Finds the checkpoints that an engine rolls back to. The engine is made before the checkpoint store is open."""

    warm_steps: int
    store: CheckpointStore | None = None
    loaded: list[Checkpoint] = field(default_factory=list)
    """The checkpoints that it found so far."""

    def last_good(self, before: int) -> Path | None:
        """See `TrainJob.last_good`."""
        assert self.store is not None
        checkpoint = self.store.latest_good(before)
        if checkpoint is None or checkpoint.step < self.warm_steps:
            return None  # the engine itself has the result of the warm start
        self.loaded.append(checkpoint)
        return checkpoint.path


@dataclass(frozen=True)
class _SeedRun:
    """The run of one seed, before its checkpoints are opened."""

    engine: Engine
    job: TrainJob
    sources: dict[str, str]
    """SHA-256 of what the run is made from (`resume.source_hashes`)."""
    rollbacks: _Rollbacks


def _prepare_seed(
    ready: Ready, seed: int, lora_targets: tuple[str, ...], run_judge: RunJudge | None = None
) -> _SeedRun:
    config, rollbacks = ready.config, _Rollbacks(ready.config.warm_steps)
    judge = None
    if run_judge:
        folder = paths.seed_folder(paths.JUDGED, seed, config.seeds)
        judge = LiveShare(run_judge, config.reward.live_share, seed, make_strategy(config).group_size, folder)
    ranks().announce("make_engine", seed, lora_targets)
    engine, job = make_engine(ready, seed, lora_targets, judge, rollbacks.last_good)
    sources = resumption.source_hashes(ready)
    resumption.require_admitted_sources(sources, ready)
    return _SeedRun(engine, job, sources, rollbacks)


def _run_seed(
    ready: Ready,
    seed: int,
    resume: bool,
    console: Console,
    run_judge: RunJudge | None,
    prepared: dict[int, _SeedRun],
    warm_start_only: bool,
) -> None:
    config = ready.config
    run_folder = paths.run_of(config.checkpoint_root)
    own, *mirrors = (folder.path for folder in resumption.checkpoint_folders(config, seed, run_folder))

    def record(step: int, folder: Path) -> None:
        if ready.admission:
            Manifest().record_checkpoint(own / paths.step_name(step), sha256_file(folder / SEAL_FILE))

    with CheckpointStore(own, mirrors[0] if mirrors else None, config.checkpoint.keep, record) as store:
        start = store.newest() if resume and store.last_step is not None else None
        if start:
            resumption.require_same_run(start, ready)
            resumption.require_recorded(start, ready)
            resumption.log_changed_settings(start.marks, ready)
        else:
            store.require_new()
        # Taken out of the dict, so that the model of this seed is freed before the next one.
        seed_run = prepared.pop(seed, None) or _prepare_seed(ready, seed, _lora_targets(ready, start), run_judge)
        seed_run.rollbacks.store = store
        if start:
            recorded = start.marks.get(resumption.SOURCES, {})
            resumption.require_same_sources(seed_run.sources, recorded, ready.path, ready.admission)
            seed_run.engine.load(start.path)
            resumption.require_read_as_sealed(start)
        _log_start(ready, seed, seed_run.engine, resume)
        _fit_and_evaluate(ready, seed_run, store, console, warm_start_only)
        if ready.admission:
            # Again at the end: files such as the held-out samples were read after the start.
            sources = resumption.source_hashes(ready)
            resumption.require_same_sources(sources, seed_run.sources, ready.path, ready.admission)
        for checkpoint in seed_run.rollbacks.loaded:
            resumption.require_read_as_sealed(checkpoint)
            resumption.require_recorded(checkpoint, ready)


def _lora_targets(ready: Ready, start: Checkpoint | Seal | None) -> tuple[str, ...]:
    """Layers that get an adapter: those of the checkpoint, if the run resumes from one."""
    return tuple(start.marks.get(TARGETS, ready.lora_targets)) if start else ready.lora_targets


def _fit_and_evaluate(
    ready: Ready, seed_run: _SeedRun, store: CheckpointStore, console: Console, warm_start_only: bool
) -> None:
    """Trains one seed, then makes those evaluations for the report that are not stored yet."""
    config, engine, job, seed = ready.config, seed_run.engine, seed_run.job, seed_run.job.seed
    evaluations = paths.seed_folder(paths.EVAL_EPISODES, seed, config.seeds)
    key = resumption.evaluation_key(config, job.rollout, seed, seed_run.sources, str(job.dtype))
    resumption.open_evaluations(evaluations, key)
    rollout = EvaluationRollout(job, *held_out(config), greedy=config.eval.greedy, user=config.eval.user)
    shadow = EvalShadow(
        seed=seed,
        steps=config.steps,
        every_steps=config.eval.every_steps,
        rollout=rollout,
        measure=lambda episodes: flat(figures(episodes)),
        metrics=StepLog(paths.EVAL_METRICS),
        folder=evaluations,
        base=config.eval.base,
        warm_steps=config.warm_steps,
    )
    watch = Watch(seed, config.watch, StepLog(paths.METRICS))
    bar = ProgressBar(f"seed {seed}", config.steps, console)
    stop, hacking_stop = DeferredStop(), DeferredStop()
    callbacks: list[Callback] = [
        shadow,
        Deferred(watch, hacking_stop),
        Logging(seed, config.steps, StepLog(paths.METRICS), paths.seed_folder(paths.EPISODES, seed, config.seeds)),
        Trackers(
            config.trackers,
            paths.seed_folder(paths.TENSORBOARD, seed, config.seeds),
            label=f"{Path.cwd().name} seed {seed}",
        ),
        bar,
        *(Deferred(own, stop) for own in make_callbacks(config)),
        Checkpoints(
            store,
            config.checkpoint.every_steps,
            config.checkpoint.every_minutes,
            _marks(ready, seed_run),
            valued_by=sha256(json_bytes(key)).hexdigest(),
            ending=lambda: {STOPPED: stop.reason, HACKING: watch.breach},
            warm_steps=config.warm_steps,
        ),
        stop,
        hacking_stop,
    ]
    if warm_start_only:
        if engine.step >= config.warm_steps:
            log.info("seed %d: the warm start was complete already", seed)
            return
        callbacks.append(_EndOfWarmStart(config.warm_steps))
    try:
        engine.fit(callbacks)
    except WarmStartDone:
        log.info("seed %d: the warm start is complete: %s", seed, store.root / paths.WARM_START)
        return
    finally:
        bar.stop()
    if engine.step < config.steps:
        log.warning(
            "seed %d: the engine ended after step %d of %d; the report is about these", seed, engine.step, config.steps
        )
    if config.eval.control:
        controls = {CONTROL_FILE: tokens_seen(engine), TIME_CONTROL_FILE: config.eval.control_tokens}
        for name, tokens in controls.items():
            if tokens is not None:
                control_key = resumption.control_key(config, key, seed_run.sources["seed_pool"], tokens)
                control(config, job, rollout, tokens, evaluations / name, control_key, store)
    if isinstance(engine, HasPolicy):
        shadow.require_episodes(engine.policy, engine.step)
        if config.eval.base and not shadow.has_episodes(0):
            base = load_policy(job.model, job.finetune, job.lora_targets, job.device, job.dtype)
            shadow.require_episodes(base, 0)
        if 0 < config.warm_steps < engine.step and not shadow.has_episodes(config.warm_steps):
            warm = load_trained(store.root / paths.WARM_START, job.model, job.finetune, job.device, job.dtype)
            shadow.require_episodes(warm, config.warm_steps)


class WarmStartDone(Stop):
    """Ends a run that was started for its warm start only."""


class _EndOfWarmStart(Callback):
    """Ends the run after its warm start. The last callback: the step is logged and its checkpoint saved already."""

    def __init__(self, warm_steps: int) -> None:
        self.warm_steps = warm_steps

    def on_step(self, engine: Engine, result: StepResult) -> None:
        if result.step == self.warm_steps:
            raise WarmStartDone


def _marks(ready: Ready, seed_run: _SeedRun) -> dict[str, Any]:
    """Marks of a checkpoint. Only a gated run's checkpoints are releasable."""
    return {
        resumption.GATED: ready.admission is not None,
        "releasable": ready.admission is not None,
        "ticket": ready.admission.ticket_sha256 if ready.admission else None,
        "profile": ready.config.profile,
        "config": ready.config.model_dump(mode="json"),
        resumption.SOURCES: seed_run.sources,
        "earlier_code": list(ready.admission.earlier_code) if ready.admission else [],
        TARGETS: list(seed_run.job.lora_targets),
        "machine": machine(),
    }


def _log_start(ready: Ready, seed: int, engine: Engine, resume: bool) -> None:
    config = ready.config
    if engine.step:
        log.info("seed %d: resumed after step %d of %d", seed, engine.step, config.steps)
    elif resume:
        log.info("seed %d: no checkpoint in %s yet, so it starts at the beginning", seed, config.checkpoints(seed))
    if config.warm_steps >= config.steps:
        log.warning(
            "all %d steps are the warm start (SFT on demonstrations); there is no step of %s. To train with it, set "
            "steps above %d", config.steps, config.strategy, config.warm_steps,
        )  # fmt: skip
    log.info(
        "seed %d: %s by %s from %s on %s, %d steps of %d episodes; %s, %s", seed, config.strategy, config.engine,
        config.base_model, config.seed_pool, config.steps, config.batch_size, ready.device.type,
        str(ready.dtype).removeprefix("torch."),
    )  # fmt: skip


def _adopt_mirror(config: TrainConfig, run: Path) -> None:
    """Moves the mirror of a run of an older version, which had no run folder, into a folder of the run's name."""
    mirror = config.checkpoint.mirror
    old = mirror / config.checkpoint_root.name if mirror else None
    if mirror and old and old.is_dir():
        (mirror / run.name).mkdir(parents=True, exist_ok=True)
        old.rename(mirror / run.name / old.name)


def record_outputs(run: Path, report: Path) -> None:
    """Records the outputs of a gated run in the manifest: seals of the final models, evaluations, logs of the steps,
    training episodes, report. If the run is killed before this, its next start only reports and records."""
    evaluations = [path for path in sorted((run / paths.EVAL_EPISODES).rglob("*.json*")) if path.is_file()]
    logs = [run / name for name in (paths.METRICS, paths.EVAL_METRICS, paths.EPISODES) if (run / name).exists()]
    Manifest().record([*final_seals(run / paths.GATED_CHECKPOINTS), *evaluations, *logs, report])


@contextmanager
def _explain_early_end(ready: Ready, folder: Path, overrides: Sequence[str], warm_start_only: bool) -> Iterator[None]:
    """Logs why a run ended early and the command that resumes it. An error also leaves `reports/ERROR_<time>.json`."""

    def advice() -> str:
        seals = resumption.newest_seals(ready.config, folder)
        if ready.admission is None:
            verb = ["sft" if warm_start_only else "train", *(["--resume"] if seals else [])]
        elif any(seal.marks.get(STOPPED) or seal.marks.get(HACKING) for seal in seals.values()):
            # Only then: in all other cases a gated run resumes by itself (`resumption.resumes_by_itself`).
            verb = ["ppo-runner", f"--resume-from={LATEST_GATED}"]
        else:
            verb = ["sft", "--gated"] if warm_start_only else ["ppo-runner"]
        flags = [word for one in overrides for word in ("--set", one)]
        command = shlex.join(["askgate", *verb, "--config", str(ready.path), *flags])
        several = len(ready.config.seeds) > 1
        steps = [f"{one.step} of seed {seed}" if several else f"{one.step}" for seed, one in seals.items()]
        resumes = f"to resume from the newest checkpoint, step {' and '.join(steps)}"
        return f"{resumes}: {command}" if seals else f"to start again: {command}"

    try:
        yield
    except KeyboardInterrupt:
        log.warning("interrupted; %s", advice())
        raise
    except Stop as reason:
        more = "" if "--resume" in str(reason) else f"; {advice()}"
        log.error("a callback ended the run: %s%s", reason, more)
        raise
    except Exception as error:
        # The command shows a refusal with its remedy. Before the run began there is nothing else to report.
        if isinstance(error, BadInput) and not (folder / paths.EFFECTIVE_CONFIG).exists():
            raise
        log.error("%s: %s", type(error).__name__, error.what if isinstance(error, BadInput) else error)
        facts = {"config": str(ready.path), "effective_config": ready.config.model_dump_json()}
        try:
            log.error("error report: %s", write_error_report(error, folder / paths.TRAIN_LOG, paths.REPORTS, facts))
        except (BadInput, OSError) as refused:
            log.error("the error report could not be written: %s", refused)
        raise


def follow() -> None:
    """On ranks other than 0: repeats on an engine of its own what rank 0 announces, until the run is over."""
    logging.disable(logging.WARNING)  # rank 0 logs the same
    engine: Any = None
    ready: Ready | None = None
    while True:
        match ranks().announced():
            case "open", (path, admission, overrides, forecast):
                ready = replace(preflight(path, admission, overrides), forecast=forecast)
            case "make_engine", (seed, lora_targets):
                assert ready is not None
                engine = None  # frees the engine of the seed before
                engine, _ = make_engine(ready, seed, lora_targets)
                if ready.admission:  # another node may have other files
                    resumption.require_admitted_sources(resumption.source_hashes(ready), ready)
            case call, _ if call == END:
                return leave()
            case call, arguments:
                getattr(engine, call)(*arguments)
