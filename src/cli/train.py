"""Commands of training: train, sft, ppo-runner; and `runs`, which lists, names, tags and deletes training runs."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from ..core.api import Stop
from ..core.errors import BadInput
from ..runtime.language import in_language as both
from . import options, show
from .evaluate import show_seeds

if TYPE_CHECKING:
    from ..eval.trial import TrialReport
    from ..training.own_data import OwnData
    from ..training.run_list import RunInfo
    from ..training.run_plan import RunPlan

LOCAL_CONFIG = Path("configs/train_local.yaml")
STATES = {"running": "运行中", "finished": "已完成", "stopped": "已停止"}


def train(
    config: Path = LOCAL_CONFIG,
    model: str = "",
    data: Path | None = None,
    overrides: options.Set = None,
    resume: options.Resume = False,
    planned: Annotated[bool, Option("--plan")] = False,
    as_json: options.Json = False,
) -> None:
    """Train a policy without a ticket: no gate is checked before training.

    A run has at most 2,000 steps, and its checkpoints cannot be packaged.

    `askgate train --model Qwen/Qwen3-4B --data my.jsonl` needs nothing else: it chooses full fine-tuning, LoRA or QLoRA
    for this machine, prints the plan, tries one step and trains (SFT, then PPO).
    """
    from ..training.preflight import plan, preflight
    from ..training.run import run

    if _follows():
        return
    if model and not data:
        overrides = [f"base_model={model}", *(overrides or ())]
    own = _plan_own_run(config, model, data, overrides, resume, planned, as_json) if data else nullcontext(config)
    with _naming_flags(config, model, data, resume), own as path:
        _say_profile_of(path, overrides)
        if planned:
            found = preflight(path, None, overrides, planned=True).forecast or plan(path, overrides)
            rows = found.rows()
            shown = [(show.translated(name), show.translated(text)) for name, text in rows]
            show.result(dict(rows), as_json, lambda _: show.print_table(("", str(path)), shown, text=(str(path),)))
            return
        _run(lambda: run(path, resume, overrides=overrides, reporter=show.Terminal()), as_json)
    if not as_json:
        _say_next(path, None if data else overrides)  # those of a run on --data are in its config


def sft(
    config: Path = options.QUICKSTART,
    overrides: options.Set = None,
    resume: options.Resume = False,
    gated: Annotated[bool, Option("--gated")] = False,
) -> None:
    """Run only the first part of a training run: SFT on the pool's demonstrations.

    The policy is written to `checkpoints/local/warm_start`; with several seeds, to
    `checkpoints/local/seed_S/warm_start`.
    To continue with RL, run `askgate train --resume --config FILE` with the same --config and the same --set flags.

    With --gated, it is written to `checkpoints/rc1` instead of `checkpoints/local`. To continue with RL, run
    `askgate ppo-runner --config FILE` with the same --config and the same --set flags.
    """
    from ..training.run import run, run_gated

    if _follows():
        return
    _say_profile_of(config, overrides, gated)
    try:
        if gated:
            run_gated(config, None, overrides, show.Terminal(), warm_start_only=True)
        else:
            run(config, resume, None, overrides, show.Terminal(), warm_start_only=True)
    except Stop:
        raise typer.Exit(1) from None
    verb = ("ppo-runner",) if gated else ("train", "--resume")
    typed = shlex.join(["askgate", *verb, "--config", str(config), *_set_flags(overrides)])
    show.say(f"the warm start is complete; to continue: {typed}", f"热启动已完成；继续训练：{typed}")


def ppo_runner(
    config: Path = Path("configs/ppo_scale.yaml"),
    overrides: options.Set = None,
    resume_from: Path | None = None,
    as_json: options.Json = False,
) -> None:
    """Train with a ticket (gated training). The config chooses PPO, GRPO or DPO.

    The ticket is a file that `askgate round 2` writes if every gate before training passed. If a file that the ticket
    covers has changed since, ppo-runner refuses to train.
    """
    from ..training.run import run_gated

    if _follows():
        return
    _say_profile_of(config, overrides, gated=True)
    _run(lambda: run_gated(config, resume_from, overrides, show.Terminal()), as_json)


def _follows() -> bool:
    """Whether torchrun started this process as another rank than 0. If so, the run is over when this returns."""
    if os.environ.get("RANK", "0") == "0":
        return False
    from ..training.run import follow

    follow()
    return True


def _say_next(config: Path, overrides: list[str] | None) -> None:
    """Prints the commands to type after a local run."""
    from ..config.loader import load_train_config
    from ..core.paths import FINAL_MODEL

    settings = load_train_config(config, overrides)
    compare = shlex.join(["askgate", "eval", "--config", str(config), *_set_flags(overrides)])
    model = settings.checkpoints(settings.seeds[0]) / FINAL_MODEL
    show.say(f"-> {both('check the gates', '检查闸门')}: {compare}")
    show.say(f"-> {both('curves and episodes', '曲线与对话记录')}: askgate board")
    show.say(f"-> {both('talk to it', '与它对话')}: askgate chat {model}")


def _set_flags(overrides: list[str] | None) -> list[str]:
    """The --set flags as they were typed."""
    return [word for one in overrides or () for word in ("--set", one)]


@contextmanager
def _naming_flags(config: Path, model: str, data: Path | None, resume: bool) -> Iterator[None]:
    """Names --model instead of the setting `base_model`, which the user has not typed, and --data, or the command that
    resumes a run, where the data of the config is missing."""
    try:
        yield
    except BadInput as error:
        from ..training.run_list import resume_command

        if error.what.endswith("is not there") and data is None:
            if resume and (command := resume_command(config)):
                remedy = f"resume the newest stopped run: {command}"
                raise BadInput(error.what, where=error.where, remedy=remedy) from error
            if model:
                remedy = f"give your own rows with --data FILE, or {error.remedy}"
                raise BadInput(error.what, where=error.where, remedy=remedy) from error
        if not model or not error.where.endswith("base_model"):
            raise
        raise BadInput(error.what, where="--model", remedy=error.remedy) from error


@contextmanager
def _plan_own_run(
    config: Path,
    model: str,
    data: Path,
    overrides: list[str] | None,
    resume: bool,
    planned: bool,
    as_json: bool,
) -> Iterator[Path]:
    """The config of a run on the user's file, after its plan is printed and one step of a new run has worked. With
    `as_json` the plan goes to standard error.

    A plan, a refused step and a refused resumption leave the config of the earlier run as it was, or none: the next
    resumption reads it. A new run keeps a copy of it if it differs, because the user may have edited it.
    """
    from ..config.loader import load_train_config
    from ..core.files import atomic_write
    from ..training.own_data import prepare_own_data
    from ..training.run_plan import config_file, make_plan, try_step, write_run_config

    if "RANK" in os.environ:
        remedy = "run it without torchrun first; it names the config that it writes. Then give that to torchrun"
        raise BadInput("--data tries its plan in one process", where="torchrun", remedy=remedy)
    if not model:
        raise BadInput("the model is missing", where="--model", remedy="add --model FOLDER or a hub name")
    if config != LOCAL_CONFIG:
        raise BadInput("--data writes a config of its own", where="--config", remedy="leave out --config or --data")
    found = prepare_own_data(data, show.Terminal())
    say = partial(show.say, stderr=as_json)
    show.say_rows(found.skipped, stderr=as_json)
    show.say_rows(found.remarks, stderr=True)
    plan = make_plan(model, found)
    path = config_file(plan, found)
    earlier, is_tried = path.read_bytes() if path.exists() else None, False
    copies = (path.with_name(f"{path.stem}.{number}{path.suffix}") for number in count(1))
    copy = next(one for one in copies if not one.exists())

    def restore() -> None:
        if earlier is None:
            path.unlink(missing_ok=True)
        else:
            with atomic_write(path) as handle:
                handle.write(earlier)
            copy.unlink(missing_ok=True)

    try:
        write_run_config(plan, found, overrides or (), resume)
        if earlier is not None and not resume and earlier != path.read_bytes():
            copy.write_bytes(earlier)
        load_train_config(path, overrides)  # a wrong --set is refused before a step is tried
        _say_plan(plan, found, path, say)
        if not resume and not planned:
            say("trying one step ...", "先试一步 ...")
            with show.console(stderr=True).status(both("loading the model, then one step", "加载模型，然后试一步")):
                took = f"{try_step(path, model, found, overrides or ()):.0f} s"
            say(f"one step works ({took} with loading); training", f"试一步成功（含加载 {took}），开始训练")
        is_tried = True
        if copy.exists() and not planned:
            say(f"the earlier config had other settings; it is in {copy} now", f"原配置有所不同，已另存为 {copy}")
        yield path
    except BaseException as error:
        if not is_tried or (resume and isinstance(error, BadInput)):
            restore()
        raise
    finally:
        if planned and earlier is not None:
            restore()


def _say_plan(plan: RunPlan, found: OwnData, path: Path, say: Callable[..., None]) -> None:
    """Prints model, device, method, data and config of a run on the user's file."""
    size = f"{plan.parameters / 1e6:,.0f}M {both('weights', '参数')}"
    say(f"{both('model:  ', '模型：')} {plan.settings['base_model']}, {size}")
    say(f"{both('device: ', '设备：')} {plan.device.type}, {plan.memory_gb:.0f} GB")
    say(f"{both('method: ', '方法：')} {plan.method}, {both('forecast', '预计占用')} {plan.needs_gb:.1f} GB")
    used = show.rows_used(found.row_counts, "train", found.samples, found.need_ask, found.held_out)
    say(f"{both('data:   ', '数据：')} {used}")
    say(f"{both('config: ', '配置：')} {path}")
    say("steps:   change a setting with --set, such as --set steps=20", "步数： 用 --set 改设置，如 --set steps=20")
    options.say_tasks("messages", found.shares)


def _say_profile_of(config: Path, overrides: list[str] | None, gated: bool = False) -> None:
    from ..config.loader import load_train_config

    profile = load_train_config(config, overrides).profile
    note = ""
    if gated:
        note = both(" (gated: needs the ticket)", "（受闸门保护：需要训练票）")
    elif profile == "local":
        note = both(" (no ticket needed; its checkpoints cannot be packaged)", "（无需训练票；其检查点不能打包发布）")
    options.say_profile(f"{profile}{note}")


def _run(start: Callable[[], TrialReport | None], as_json: bool) -> None:
    """Runs a training and prints its results. A run that a callback stopped exits with code 1."""
    try:
        report = start()
    except Stop:
        raise typer.Exit(1) from None
    assert report is not None
    if as_json:
        fields = ("seed", "steps", "changes", "over_control", "over_time_control", "over_warm_start")
        show.print_json([{name: getattr(seed, name) for name in fields} for seed in report.seeds])
    else:
        show_seeds(report)


def runs(
    run: Annotated[str, Argument(metavar="RUN")] = "",
    name: str | None = None,
    tag: Annotated[list[str] | None, Option(metavar="TAG")] = None,
    untag: Annotated[list[str] | None, Option(metavar="TAG")] = None,
    delete: Annotated[bool, Option("--delete")] = False,
    yes: Annotated[bool, Option("--yes")] = False,
    as_json: options.Json = False,
) -> None:
    """List training runs; name, tag or delete one.

    Each training run has a folder of its own in runs/. A run cannot be deleted while it runs, or if a
    report or package names it.
    """
    from ..training.run_list import delete_run, find_run, list_runs, name_run, require_deletable, tag_run

    if not run:
        if name is not None or untag or delete:
            raise BadInput("no run is named", where="RUN", remedy="`askgate runs` lists the runs; name one of them")
        found = [one for one in list_runs() if set(tag or ()) <= set(one.tags)]
        show.result(found, as_json, _print_runs)
        return
    folder = find_run(run)
    if delete:
        require_deletable(folder)
        size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
        if not yes and not typer.confirm(f"Delete {folder} ({size / 1e6:,.0f} MB)?", err=True):
            raise typer.Exit(1)
        delete_run(folder)
        show.say(f"deleted {folder}", f"已删除 {folder}")
        return
    if name is not None:
        name_run(folder, name)
    if tag or untag:
        tag_run(folder, tag or [], untag or [])
    show.result([one for one in list_runs() if one.id == folder.name], as_json, _print_runs)


def _print_runs(found: list[RunInfo]) -> None:
    if not found:
        show.say("no training runs here; start one: askgate train", "此处尚无训练运行；开始训练：askgate train")
        return
    for one in found:
        label = f"{one.name} ({one.id})" if one.name else one.id
        tags = f"  [{', '.join(one.tags)}]" if one.tags else ""
        about = both("report, verify and package are about it", "报告、核验与复现包针对它")
        show.say(f"{label}{tags}{f'  <- {about}' if one.certified else ''}")
        passed, failed = both(", checks passed", "，检查通过"), both(", a check failed", "，有检查未过")
        gates = {True: passed, False: failed, None: ""}[one.passed]
        if one.passed is not None:
            gates += both(" (with a ticket)", "（凭训练票）") if one.gated else both(" (no ticket)", "（无训练票）")
        what = f"{one.strategy} {both('from', '基于')} {one.base_model}, {both('profile', '配置档')} {one.profile}"
        steps = both(f"step {one.step} of {one.steps}", f"第 {one.step}/{one.steps} 步")
        show.say(f"  {both(one.state, STATES[one.state])}, {steps}, {what}{gates}")
        figures = [
            f"{show.FIGURES[name]} {show.figure(name, base)} -> {show.figure(name, trained)}"
            for name, (base, trained) in one.figures.items()
        ]
        if figures:
            show.say(f"  {', '.join(figures)} {both('(percent)', '（百分比）')}")
