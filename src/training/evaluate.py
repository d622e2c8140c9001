"""The verb `evaluate`: what a finished run came to, derived from the held-out episodes that it left, and its gates."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from ..cli import options, parse, show
from ..core.defaults import RESUME
from ..core.errors import BadInput

if TYPE_CHECKING:
    from ..config.profile import Thresholds
    from ..config.train_config import TrainConfig
    from ..core.types import Episode
    from ..eval.trial import About, Compared, SeedRun, TrialReport

CONFIG = Path("configs/quickstart.yaml")
ROWS = {
    "need_ask_success": "need-ask success",
    "overclar_rate": "over-clarification",
    "success": "success",
    "avg_turns": "mean turns",
    "success_hard_hotpotqa_strategyqa": "success, hard reading",
    "ask_precision": "ask precision",
    "ask_recall": "ask recall",
}
_AGAIN = f"run the training to its end; with {RESUME} it makes up for evaluations that are missing"


def evaluate(
    config: Annotated[Path, typer.Option("--config", help="The training config of a run that has ended.")] = CONFIG,
    tag: Annotated[str, typer.Option("--tag", help="In the report's name; left out: the config's name.")] = "",
    overrides: options.Set = None,
    as_json: options.Json = False,
) -> None:
    """Judge a finished run. Base, control and trained policy on the same held-out samples; JSON and a page."""
    from ..config.loader import load_train_config
    from .run import REPORTS

    name = parse.tag(tag) or config.stem
    found = as_it_ran(load_train_config(config, overrides))
    runs, inputs = recorded(found)
    report, paths = write_trial(runs, found, inputs, REPORTS, name)
    if not as_json:
        show_trial(report)
        show.say(f"wrote {paths[1]}")
    show.finish(report, as_json, paths[0])


def as_it_ran(config: TrainConfig) -> TrainConfig:
    """A config for local runs that had a ticket ran gated, as a run of the ticket's profile.

    Where there are final models of both kinds, it is the newer one that was asked about.
    """
    kinds = (config, config.model_copy(update={"profile": "quickstart"}) if config.profile == "local" else config)
    seals = [seal for one in kinds if (seal := _seal(one)).exists()]
    if not seals:
        return config
    newest = max(seals, key=lambda seal: seal.stat().st_mtime)
    return config.model_copy(update={"profile": _marks(newest)["profile"]})


def _seal(config: TrainConfig, seed: int | None = None) -> Path:
    from ..checkpoint.seal import MANIFEST

    return config.checkpoints(config.seeds[0] if seed is None else seed) / "final_model" / MANIFEST


def _marks(manifest: Path) -> dict[str, Any]:
    """What the seal says of its run. One that was edited says nothing."""
    from ..checkpoint.seal import Damaged, read_seal

    try:
        return read_seal(manifest.parent).marks
    except Damaged as error:
        raise BadInput(str(error), where=str(manifest.parent), remedy=_AGAIN) from None


def recorded(config: TrainConfig) -> tuple[list[SeedRun], list[Path]]:
    """The episodes that the run left in `logs/eval`, and all files that were read. Refuses those of another run."""
    from ..eval.trial import SeedRun
    from .facts import KEY
    from .paths import of_seed
    from .run import EVAL_EPISODES

    runs: list[SeedRun] = []
    inputs: list[Path] = [config.shadow_set]
    for seed in config.seeds:
        folder = of_seed(config, EVAL_EPISODES, seed)
        _refuse_other_run(config, folder / KEY, seed)
        names = {"base": "step_00000.jsonl", "trained": f"step_{config.steps:05d}.jsonl", "control": "control.jsonl"}
        files = {who: folder / name for who, name in names.items() if who != "control" or config.eval.control}
        sides = {who: _episodes(file) for who, file in files.items()}
        runs.append(SeedRun(seed, config.steps, sides["base"], sides["trained"], sides.get("control")))
        final = _seal(config, seed)
        inputs += [folder / KEY, *files.values(), *([final] if final.exists() else [])]
    return runs, inputs


def write_trial(
    runs: list[SeedRun], config: TrainConfig, inputs: list[Path], reports: Path, tag: str
) -> tuple[TrialReport, tuple[Path, Path]]:
    """`ppo_eval_<tag>.json` and `.html`, both or neither. They say themselves whether a gate has seen the run."""
    from ..config.profile import profile_for
    from ..core.check import evidence, now
    from ..core.files import atomic_files, json_bytes
    from ..eval.trial import trial_report
    from ..pages.trial import trial_page
    from ..runtime.logs import StepLog
    from .run import EVAL

    started, limits = now(), profile_for(config).thresholds
    proof = evidence([*inputs, *([EVAL] if EVAL.exists() else [])], [], _arguments(config, tag, limits), started)
    report = trial_report(runs, _about(config), limits, proof)
    lines = [line for run in runs for line in StepLog(EVAL).lines(run.seed)]
    paths = reports / f"ppo_eval_{tag}.json", reports / f"ppo_eval_{tag}.html"
    with atomic_files() as start:
        start(paths[0]).write(json_bytes(report))
        start(paths[1]).write(trial_page(report, lines))
    return report, paths


def _arguments(config: TrainConfig, tag: str, limits: Thresholds) -> dict[str, Any]:
    from ..eval.trial import stated_limits

    return {"tag": tag, "seeds": list(config.seeds), "steps": config.steps, **stated_limits(limits)}


def _about(config: TrainConfig) -> About:
    """Whether the run was gated, and its config, is what the seals of its final models say: the file may be another by
    now."""
    from ..core.check import now
    from ..eval.trial import About

    seals = [_seal(config, seed) for seed in config.seeds]
    marks = [_marks(path) for path in seals if path.exists()]
    gated = len(marks) == len(seals) and all(one.get("gated") for one in marks)
    ticket = marks[0].get("ticket") if gated else None
    ran = marks[0].get("config") if marks else None
    return About(now(), config.profile, gated, ticket, ran or config.model_dump(mode="json"))


def _episodes(file: Path) -> list[Episode]:
    from ..core.jsonl import read_records
    from ..core.types import Episode

    if not file.exists():
        raise BadInput("no such evaluation", where=str(file), remedy=_AGAIN)
    return list(read_records(file, Episode))


def _refuse_other_run(config: TrainConfig, key: Path, seed: int) -> None:
    """Evaluations lie beside what they were made with; those of another set, seed or setting compare nothing."""
    from ..core.files import read_json, sha256_file

    found = read_json(key, _AGAIN)
    wanted = {
        "shadow_set": sha256_file(config.shadow_set),
        "n": config.eval.n,
        "greedy": config.eval.greedy,
        "seed": seed,
    }
    for name, value in wanted.items():
        if found.get(name) != value:
            raise BadInput(f"these evaluations were made with another {name}", where=str(key), remedy=_AGAIN)


def show_trial(report: TrialReport) -> None:
    """One table: every seed in its row, or with a single seed every figure."""
    pooled = report.pooled
    if pooled.changes is None:
        show.say("nobody looked at base and trained policy")
        return
    several = len(report.seeds) > 1
    title = f"{len(report.seeds)} seeds" if several else f"seed {report.seeds[0].seed}"
    table = Table(f"{title}, {pooled.steps} steps", box=None, pad_edge=False)
    for column in ("base", *(["SFT control"] if pooled.over_control else []), "trained", "change", "95% interval"):
        table.add_column(column, justify="right")
    for name, label in ROWS.items():
        _add(table, label, name, pooled)
        if several:
            for one in report.seeds:
                _add(table, f"  seed {one.seed}", name, one)
    show.print_table(table)
    show.say(f"{report.figures['held_out']} held-out samples, the same for all; shares in percent")


def _add(table: Table, label: str, name: str, found: Compared) -> None:
    from ..eval.metrics import is_share

    if found.changes is None:
        return
    change, share = found.changes[name], is_share(name)
    beside = [_cell(found.over_control[name].base.value, share)] if found.over_control else []
    interval = "-" if change.low is None else f"{_cell(change.low, share, '+')} to {_cell(change.high, share, '+')}"
    base, trained, delta = change.base.value, change.trained.value, change.delta
    table.add_row(label, _cell(base, share), *beside, _cell(trained, share), _cell(delta, share, "+"), interval)


def _cell(value: float | None, share: bool, sign: str = "") -> str:
    """Shares in percent, also where there is nothing to compare them with."""
    if value is None:
        return "-"
    return f"{100 * value:{sign}.1f}" if share else f"{value:{sign}.2f}"
