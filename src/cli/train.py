"""Verbs of training and of the gates before it: train, sft, ppo-runner; round, verify, sign-off."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from ..core.api import Stop
from ..core.errors import BadInput
from ..runtime.language import in_language as both
from . import options, parse, show

if TYPE_CHECKING:
    from ..eval.compare import Change
    from ..eval.trial import Compared, TrialReport

LOCAL_CONFIG = Path("configs/train_local.yaml")
MORE_FIGURES = {
    "success_hard_hotpotqa_strategyqa": "success, hard reading",
    "question_precision": "ask precision",
    "question_recall": "ask recall",
    "question_f1": "ask F1",
    "ask_precision": "ask precision, by episode",
    "ask_recall": "ask recall, by episode",
}


def train(
    config: Annotated[Path, Option(help="Training config with `profile: local`.")] = LOCAL_CONFIG,
    model: Annotated[str, Option(help="Folder or hub name of the model to train, instead of the config's.")] = "",
    data: Annotated[
        Path | None,
        Option(help="JSONL file with your dialogues or word problems; needs --model."),
    ] = None,
    overrides: options.Set = None,
    resume: Annotated[
        bool, Option("--resume", help="Resume from the newest undamaged checkpoint, or start if there is none.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Train a policy without gates. A run has at most 2,000 steps, and its checkpoints cannot be released.

    `askgate train --model Qwen/Qwen3-4B --data my.jsonl` needs nothing else: it chooses full fine-tuning, LoRA or QLoRA
    for this machine, prints the plan, tries one step and trains.
    """
    from ..training.run import run

    if _follows():
        return
    if data:
        config = _plan_own_run(config, model, data, overrides, resume)
    elif model:
        overrides = [f"base_model={model}", *(overrides or ())]
    _say_profile_of(config, overrides)
    _run(lambda: run(config, resume, overrides=overrides, reporter=show.Terminal()), as_json)


def sft(
    config: Annotated[Path, Option(help="Training config with a `warm_start` section.")] = options.QUICKSTART,
    overrides: options.Set = None,
    resume: Annotated[
        bool, Option("--resume", help="Resume from the newest undamaged checkpoint, or start if there is none.")
    ] = False,
    gated: Annotated[bool, Option("--gated", help="Gated: needs the ticket, as ppo-runner does.")] = False,
) -> None:
    """Run only the warm start of a training run: SFT on the pool's demonstrations.

    The policy is then in `checkpoints/local/warm_start` (gated: `checkpoints/rc1/warm_start`). To continue with the
    strategy, run `train --resume` (gated: `ppo-runner`) with the same config.
    """
    from ..training.run import run, run_gated

    if _follows():
        return
    _say_profile_of(config, overrides)
    show_progress = show.Terminal()
    try:
        if gated:
            run_gated(config, None, overrides, show_progress, warm_start_only=True)
        else:
            run(config, resume, None, overrides, show_progress, warm_start_only=True)
    except Stop:
        raise typer.Exit(1) from None
    verb = "ppo-runner --config" if gated else "train --resume --config"
    show.say(f"the warm start is complete; to continue: askgate {verb} {config}")


def ppo_runner(
    config: Annotated[Path, Option(help="Training config that the ticket covers.")] = Path("configs/ppo_scale.yaml"),
    overrides: Annotated[
        list[str] | None,
        Option(
            "--set",
            metavar="KEY=VALUE",
            help="Override checkpoint.* or device_pref, such as checkpoint.keep=5. Repeatable.",
        ),
    ] = None,
    resume_from: Annotated[
        Path | None,
        Option(help="Resume a stopped run: checkpoints/rc1/latest. The newest undamaged checkpoint is used."),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Train a policy behind the gates. Needs the ticket of both rounds; refused if a file has changed since."""
    from ..training.run import run_gated

    if _follows():
        return
    _say_profile_of(config, overrides)
    _run(lambda: run_gated(config, resume_from, overrides, show.Terminal()), as_json)


def compare_run(config: Path, tag: str, overrides: list[str] | None, as_json: bool) -> None:
    """`askgate eval` without a model: compares a finished training run with its base."""
    from ..config.loader import load_train_config
    from ..training import results

    settings = load_train_config(config, overrides)
    options.say_profile(settings.profile)
    report, (json_path, page) = results.evaluate(settings, parse.tag(tag) or config.stem)
    if not as_json:
        show_results(report)
        show.wrote(page)
    show.finish(report, as_json, json_path)


def _follows() -> bool:
    """Whether torchrun started this process as another rank than 0. If so, the run is over when this returns."""
    if os.environ.get("RANK", "0") == "0":
        return False
    from ..training.engine import follow

    follow()
    return True


def _plan_own_run(config: Path, model: str, data: Path, overrides: list[str] | None, resume: bool) -> Path:
    """The config of a run on the user's file, after its plan is printed and one step has worked."""
    from ..training.own_data import prepare_own_data
    from ..training.run_plan import make_plan, try_step, write_run_config

    if "RANK" in os.environ:
        remedy = "run it without torchrun first; it names the config that it writes. Then give that to torchrun"
        raise BadInput("--data tries its plan in one process", where="torchrun", remedy=remedy)
    if not model:
        raise BadInput("the model is missing", where="--model", remedy="add --model FOLDER or a hub name")
    if config != LOCAL_CONFIG:
        raise BadInput("--data writes a config of its own", where="--config", remedy="leave out --config or --data")
    found = prepare_own_data(data, show.Terminal())
    for row in found.skipped[: show.ROWS_SHOWN]:
        show.say(row)
    plan = make_plan(model, found)
    path = write_run_config(plan, found)
    size, device = f"{plan.parameters / 1e6:,.0f}M weights", f"{plan.device.type}, {plan.memory_gb:.0f} GB"
    show.say(f"{both('model:  ', '模型：')} {model}, {size}")
    show.say(f"{both('device: ', '设备：')} {device}")
    show.say(f"{both('method: ', '方法：')} {plan.method}, {both('forecast', '预计占用')} {plan.needs_gb:.1f} GB")
    counts = (
        f"data:    {found.samples} samples ({found.need_ask} need a question), {found.held_out} held out, "
        f"{len(found.skipped)} rows skipped",
        f"数据： {found.samples} 条样本（{found.need_ask} 条需要提问），留出 {found.held_out} 条，"
        f"跳过 {len(found.skipped)} 行",
    )
    show.say(both(*counts))
    show.say(f"{both('config: ', '配置：')} {path}")
    if not resume:
        show.say(both("trying one step ...", "先试一步 ..."))
        took = f"{try_step(path, model, found, overrides or ()):.0f} s"
        show.say(both(f"one step works ({took} with loading); training", f"试一步成功（含加载 {took}），开始训练"))
    return path


def _say_profile_of(config: Path, overrides: list[str] | None) -> None:
    from ..config.loader import load_train_config

    profile = load_train_config(config, overrides).profile
    local = both(" (no ticket needed; its checkpoints cannot be released)", "（无需训练票；其检查点不可发布）")
    local = local if profile == "local" else ""
    options.say_profile(f"{profile}{local}")


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
        return
    for seed in report.seeds:
        if seed.changes is None:
            show.say(f"seed {seed.seed}: {seed.steps} steps; no evaluation of base and trained policy")
            continue
        columns = _columns(f"seed {seed.seed}, {seed.steps} steps", seed)
        show.print_table(columns, [_row(label, name, seed) for name, label in show.FIGURES.items()])
        show.say(
            f"{seed.changes['success'].base.n} "
            + both("held-out samples, the same for all; shares in percent", "条留出样本，各策略相同；比例以百分数表示")
        )


def show_results(report: TrialReport) -> None:
    """One table: every figure of all seeds together and, where there are several, of each seed."""
    pooled = report.pooled
    if pooled.changes is None:
        show.say(both("no evaluation of base and trained policy", "没有底模与训练后策略的评测"))
        return
    several = len(report.seeds) > 1
    title = f"{len(report.seeds)} seeds" if several else f"seed {report.seeds[0].seed}"
    rows = []
    for name, label in {**show.FIGURES, **MORE_FIGURES}.items():
        rows.append(_row(label, name, pooled))
        if several:
            rows += [_row(f"  seed {one.seed}", name, one) for one in report.seeds if one.changes]
    show.print_table(_columns(f"{title}, {pooled.steps} steps", pooled), rows)
    show.say(
        f"{report.figures['held_out']} "
        + both("held-out samples, the same for all; shares in percent", "条留出样本，各策略相同；比例以百分数表示")
    )


def _columns(title: str, compared: Compared) -> list[str]:
    others = (label for label, _ in _others(compared))
    ends = both("trained", "训练后"), both("change", "变化"), both("95% interval", "95% 区间")
    return [title, both("base", "底模"), *others, *ends]


def _row(label: str, name: str, compared: Compared) -> list[str]:
    assert compared.changes is not None
    base, *rest = show.change_cells(name, compared.changes[name])
    others = [show.change_cells(name, changes[name])[0] for _, changes in _others(compared)]
    return [label, base, *others, *rest]


def _others(compared: Compared) -> list[tuple[str, dict[str, Change]]]:
    """Policies beside base and trained one, each with what the trained one changed."""
    sides = {
        both("warm start", "热启动"): compared.over_warm_start,
        both("SFT control", "SFT 对照"): compared.over_control,
        both("SFT (time)", "SFT（同时长）"): compared.over_time_control,
    }
    return [(label, changes) for label, changes in sides.items() if changes]


if TYPE_CHECKING:
    from ..gates.ticket import Round


def run_round(
    number: Annotated[
        int | None, Argument(metavar="NUMBER", min=1, max=2, help="Number of the round: 1, then 2.")
    ] = None,
    numbered: Annotated[int | None, Option("--round", min=1, max=2, hidden=True)] = None,
    profile: options.GateProfile = None,
    replaces: Annotated[
        str, Option("--replace", metavar="PROFILE", help="Withdraw the passed rounds and sign-offs of this profile.")
    ] = "",
    again: Annotated[
        bool,
        Option("--readmit", help="Measure both rounds again after an update of AskGate. Calls no judge."),
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Run a round of gates: `askgate round 1`, then `askgate round 2`.

    Measures every gate from the files. A passed round 2 writes the ticket that ppo-runner needs.
    """
    from ..gates.readmit import readmit
    from ..gates.rounds import run_round as run

    number = number or numbered
    if (number is None) != again:
        raise BadInput(
            "give either of them", where="NUMBER, --readmit", remedy="write `askgate round 1`, then `askgate round 2`"
        )
    if number is None:
        report, path = readmit(show.complain)
        options.say_profile(report.profile)
        show.result(report, as_json, _print_round, *([path] if report.passed else []))
        raise typer.Exit(report.exit_code)
    profile = options.chosen_profile(profile, "rc1")
    with show.Terminal().scoring(f"round {number}: scoring") as progress:
        report, path = run(number, profile, os.environ, show.complain, progress, replaces)
    show.result(report, as_json, _print_round, path)
    if not report.passed:
        raise typer.Exit(report.exit_code)


def verify(
    deep: Annotated[
        bool, Option("--deep", help="Also measure every gate again, and rerun the models on some recorded dialogues.")
    ] = False,
    owner_key: Annotated[str, Option(help="Fingerprint of the owner's key, which must have signed the ticket.")] = "",
    dialogues: Annotated[
        int | None, Option(min=1, help="Dialogues of each policy to repeat with --deep. A large number repeats all.")
    ] = None,
    tsa_root: options.TsaRoot = "",
) -> None:
    """Verify the evidence of the rounds and the results of training. Names the first thing that does not match."""
    from ..gates.verify import verify as check
    from ..release.repeat_dialogues import DIALOGUES
    from ..release.verify_results import verify_results

    rounds = check(deep, show.say, owner_key=owner_key, tsa_root=tsa_root)
    verify_results(deep, show.say, dialogues=dialogues or DIALOGUES)
    show.say(f"VERIFIED: {', '.join(one.round for one in rounds)}{', measured again' if deep else ''}")


def anchor(
    url: Annotated[str, Argument(metavar="URL", help="Address of a timestamp authority (RFC 3161).")],
    root: Annotated[Path, Option(help="Root certificate of that authority (PEM).")],
) -> None:
    """Have a timestamp authority certify that the evidence exists now. Sends one hash, nothing else."""
    from ..gates.anchor import ANCHORS, make_anchor

    make_anchor(url, root, show.say)
    show.say(f"wrote {ANCHORS}")


def sign_off(
    key: Annotated[Path | None, Option(help="The owner's private Ed25519 key (PEM).")] = None,
    amber: Annotated[str, Option(help="Sign this amber off instead of the ticket, such as judge_weight.")] = "",
    by: Annotated[
        str, Option(help="Name to record for an amber if the profile has no owner key. Default: $USER.")
    ] = "",
) -> None:
    """Sign the ticket in this folder with the owner's key, or accept an amber light. Verifies the evidence first."""
    from ..config.profile import load_profile
    from ..gates.sign_off import require_owner_key
    from ..gates.sign_off import sign_off as sign
    from ..gates.ticket import ENVELOPE, TICKET
    from ..gates.verify import verify as check

    ticket = next((one for one in check(False, show.say, signed=False) if one.round == "round2" and one.passed), None)
    if ticket is None:
        raise BadInput("there is no ticket to sign", where=str(TICKET), remedy="run both rounds first")
    profile, password = load_profile(ticket.profile), show.password_of(key)
    if amber:
        from ..gates.ambers import sign_amber

        name = by or os.environ.get("USER", "") or "unknown"
        show.wrote(sign_amber(profile, amber, key, password, name))
        return
    if key is None:
        raise BadInput("is missing", where="--key", remedy="name the owner's private key, or an amber with --amber")
    require_owner_key(profile, key, password)
    show.wrote(sign(key, password, TICKET, ticket.profile, ticket.run, ENVELOPE))


def _print_round(report: Round) -> None:
    columns = (both("gate", "闸门"), both("check", "检查"), both("value", "实测"), both("must be", "要求"), "")
    rows = (
        [one.gate, one.name, show.measured(one), show.limit(one), "" if one.passed else "FAILED"]
        for one in report.findings
    )
    show.print_table(columns, rows, text=columns)
    for one in report.failed:
        show.print_failure(f"{one.gate}: {one.name}", one)
    show.print_ambers(report.ambers)
    verdict = "PASSED" if report.passed else "FAILED"
    failed = "" if report.passed else f", {len(report.failed)} failed"
    checks = both(
        f"{len(report.findings)} checks{failed}", f"{len(report.findings)} 项检查，{len(report.failed)} 项未过"
    )
    show.say(f"{verdict} {report.round} ({report.profile}): {checks}")
