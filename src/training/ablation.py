"""The verb `overclar_penalty`: what needless asks cost, and whether that price is worth having (--ablation)."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from ..cli import options, parse, show
from ..core.defaults import SEED
from ..core.errors import BadInput

if TYPE_CHECKING:
    from ..config.profile import Thresholds
    from ..config.train_config import TrainConfig
    from ..core.check import Report
    from ..eval.ablation import Arms
    from ..eval.compare import Change
    from .ablation_run import Arm

CONFIG = Path("configs/quickstart.yaml")
WORK = Path(".askgate/ablation")
REPORTS = Path("reports")
SIDES = ("without", "with")
ROWS = {
    "overclar_rate": "over-clarification",
    "avg_turns": "mean turns",
    "success": "success",
    "need_ask_success": "need-ask success",
}


@dataclass(frozen=True)
class Order:
    """One ablation."""

    config: Path
    alpha: float
    cap: int
    steps: int
    seeds: tuple[int, ...]
    n: int | None
    """Held-out samples; None: all."""
    episodes: Path
    """Folder: `seed_<s>/` with a file for each of SIDES."""
    tag: str
    overrides: tuple[str, ...] = ()
    """What `--set` says, `key=value` each."""


def overclar_penalty(
    alpha: Annotated[
        float | None, typer.Option("--alpha", min=0, max=1, help="Price of a needless ask; left out: the config's.")
    ] = None,
    cap: Annotated[
        int | None, typer.Option("--cap", min=0, max=64, help="Asks that are counted, most; left out: the config's.")
    ] = None,
    ablation: Annotated[
        bool, typer.Option("--ablation", help="Train with and without it, and compare on held-out samples.")
    ] = False,
    config: Annotated[Path, typer.Option("--config", help="The training config that both arms are made from.")] = (
        CONFIG
    ),
    steps: Annotated[int, typer.Option("--steps", min=1, max=2000, help="Of an arm.")] = 20,
    seeds: Annotated[str, typer.Option("--seeds", help="Of the runs, with commas.")] = str(SEED),
    n: Annotated[
        int | None, typer.Option("--n", min=1, help="Held-out samples that both arms play; left out: all.")
    ] = None,
    episodes: Annotated[
        Path | None, typer.Option("--episodes", help="Folder for their episodes; left out: data/episodes/TAG_ablation.")
    ] = None,
    tag: Annotated[str, typer.Option("--tag", help="In the report's name; left out: the config's name.")] = "",
    overrides: options.Set = None,
    as_json: options.Json = False,
) -> None:
    """Price needless asks, and ablate the price. Two policies from one base, with and without, on the same seeds."""
    from ..config.loader import load_config, load_train_config
    from ..config.profile import profile_for

    section = load_config().overclar
    alpha, cap = section.alpha if alpha is None else alpha, section.cap if cap is None else cap
    if not ablation:
        _show_prices(alpha, cap, as_json)
        return
    if not alpha or not cap:
        raise BadInput("with it nothing costs anything", where="--alpha, --cap", remedy="give values above 0")
    limits = profile_for(load_train_config(config, overrides)).thresholds
    name = parse.tag(tag) or config.stem
    folder = episodes or Path("data/episodes") / f"{name}_ablation"
    order = Order(config, alpha, cap, steps, parse.seeds(seeds), n, folder, name, tuple(overrides or ()))
    report, path = ablate(order, limits)
    if not as_json:
        _show_arms(report)
    show.finish(report, as_json, path)


def ablate(order: Order, limits: Thresholds) -> tuple[Report, Path]:
    """Both arms trained, looked at and compared. What is there of an earlier, broken-off call is not made again."""
    from ..config.loader import config_files, load_train_config
    from ..core.check import evidence, now, report
    from ..core.files import shipped, write_json
    from ..eval.ablation import ABLATION_THRESHOLDS, ablation_checks, ablation_figures
    from . import data as train_data

    started, config = now(), load_train_config(order.config, order.overrides)
    train_data.require(config)
    train_data.build_missing(config)
    _refuse_too_few(config, order)
    arms = {name: _trained(config, order, name, penalty) for name, penalty in (("without", False), ("with", True))}
    files, compared = _kept(arms, order)
    changes, figures = ablation_figures(compared, SEED)
    arguments = {
        "alpha": order.alpha,
        "cap": order.cap,
        "steps": order.steps,
        "seeds": list(order.seeds),
        "n": order.n,
        **({"set": list(order.overrides)} if order.overrides else {}),
        **limits.model_dump(include=ABLATION_THRESHOLDS),
    }
    given = [
        shipped(path) for path in (*config_files(order.config), config.reward.weights, config.reward.unstable) if path
    ]
    inputs = [*given, config.seed_pool, config.shadow_set]
    proof = evidence(inputs, files, {**arguments, "base_sha256": base_sha256(config)}, started)
    whole = report("overclar_ablation", ablation_checks(changes, limits), {**arguments, **figures}, proof)
    path = REPORTS / f"overclar_ablation_{order.tag}.json"
    write_json(path, whole)
    return whole, path


def _trained(config: TrainConfig, order: Order, name: str, penalty: bool) -> Arm:
    from .ablation_run import Arm, arm_config

    made = arm_config(
        config,
        penalty=penalty,
        alpha=order.alpha,
        cap=order.cap,
        steps=order.steps,
        seeds=order.seeds,
        n=order.n,
    )
    arm = Arm(WORK / order.tag, name, made)
    show.complain(f"{name} the penalty: {order.steps} steps, seeds {', '.join(map(str, order.seeds))}, in {arm.folder}")
    arm.run()
    return arm


def _kept(arms: dict[str, Arm], order: Order) -> tuple[list[Path], list[Arms]]:
    """The episodes in the folder that was asked for: they outlive the work folder, and the gates count them again."""
    from ..core.files import atomic_files
    from ..core.jsonl import write_records
    from ..eval.ablation import Arms

    files: list[Path] = []
    compared: list[Arms] = []
    drop_other_seeds(order)
    with atomic_files() as start:
        for seed in order.seeds:
            sides = {name: arms[name].episodes(seed) for name in SIDES}
            for name, played in sides.items():
                files.append(order.episodes / f"seed_{seed}" / f"{name}.jsonl")
                write_records(start(files[-1]), played)
            compared.append(Arms(seed, sides["without"], sides["with"]))
    return files, compared


def drop_other_seeds(order: Order) -> None:
    """Episodes of an earlier call with other seeds: the gates would take them for a part of this one."""
    ours = {f"{side}.jsonl" for side in SIDES}
    for folder in order.episodes.glob("seed_*"):
        if folder.name in {f"seed_{seed}" for seed in order.seeds}:
            continue
        strange = [path for path in folder.iterdir() if path.name not in ours] if folder.is_dir() else [folder]
        if strange:
            raise BadInput(
                f"{strange[0]} was not made by an ablation, so nothing here is removed",
                where="--episodes",
                remedy="name a folder for the ablation alone",
            )
        shutil.rmtree(folder)


def base_sha256(config: TrainConfig) -> str:
    from ..core.files import shipped
    from ..core.model_files import model_sha256

    folder = shipped(Path(config.base_model))
    return model_sha256(folder) if folder.is_dir() else config.base_model


def _refuse_too_few(config: TrainConfig, order: Order) -> None:
    from ..core.jsonl import read_records
    from ..core.types import Sample

    there = sum(1 for _ in read_records(config.shadow_set, Sample))
    if order.n is not None and order.n > there:
        raise BadInput(f"{config.shadow_set} has {there} samples", where="--n", remedy=f"give at most {there}")


def _show_prices(alpha: float, cap: int, as_json: bool) -> None:
    from ..reward.overclar_penalty import over_clarification_penalty

    prices = {asks: over_clarification_penalty(False, asks, alpha, cap) for asks in range(cap + 3)}
    if as_json:
        show.print_json({"alpha": alpha, "cap": cap, "penalty": {str(asks): cost for asks, cost in prices.items()}})
        return
    table = Table("asks where nothing is missing", "penalty", box=None, pad_edge=False)
    for asks, cost in prices.items():
        table.add_row(str(asks), show.number(cost))
    show.print_table(table)
    show.say("an ask that is needed costs nothing; --ablation trains with and without")


def _show_arms(report: Report) -> None:
    from ..eval.metrics import is_share

    found = report.figures
    table = Table(f"{found['steps']} steps, {len(found['seeds'])} seeds", box=None, pad_edge=False)
    for column in (*SIDES, "change", "95% interval"):
        table.add_column(column, justify="right")
    for name, label in ROWS.items():
        change: Change = found["changes"][name]
        shown = [change.base.value, change.trained.value]
        share = is_share(name)
        interval = "-" if change.low is None else f"{_cell(change.low, share, '+')} to {_cell(change.high, share, '+')}"
        table.add_row(label, *(_cell(value, share) for value in shown), _cell(change.delta, share, "+"), interval)
    show.print_table(table)
    show.say(f"{found['samples']} held-out samples, the same for all; shares in percent")


def _cell(value: float | None, percent: bool, sign: str = "") -> str:
    if value is None:
        return "-"
    return f"{100 * value:{sign}.1f}" if percent else f"{value:{sign}.2f}"
