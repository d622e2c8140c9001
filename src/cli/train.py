"""Verbs of training and of the gates before it: train, sft, ppo-runner; round, verify, sign-off."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from ..core.api import Stop
from ..core.defaults import DIALOGUES
from ..core.errors import BadInput
from ..runtime.language import in_language as both
from ..utils.process_map import rare_collections
from . import options, parse, show

if TYPE_CHECKING:
    from ..eval.compare import Change
    from ..eval.trial import Compared, TrialReport
    from ..training.own_data import OwnData
    from ..training.run_plan import RunPlan

LOCAL_CONFIG = Path("configs/train_local.yaml")
MORE_FIGURES = {
    "success_hard_hotpotqa_strategyqa": both("success, hard questions over articles", "成功率（查资料的困难题）"),
    "question_precision": both("question precision", "提问精确率"),
    "question_recall": both("question recall", "提问召回率"),
    "question_f1": both("question F1", "提问 F1"),
    "ask_precision": both("ask precision, by episode", "提问精确率（按对话）"),
    "ask_recall": both("ask recall, by episode", "提问召回率（按对话）"),
}


def train(
    config: Annotated[
        Path, Option(help="Training config with `profile: local`, which is not a gate profile.")
    ] = LOCAL_CONFIG,
    model: Annotated[str, Option(help="Folder or hub name of the model to train, instead of the config's.")] = "",
    data: Annotated[
        Path | None,
        Option(help="JSONL or CSV file with your dialogues, questions or word problems; needs --model."),
    ] = None,
    overrides: options.Set = None,
    resume: options.Resume = False,
    planned: Annotated[
        bool, Option("--plan", help="Show memory, time and disk of the run without running it.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Train a policy without gates. A run has at most 2,000 steps, and its checkpoints cannot be packaged.

    `askgate train --model Qwen/Qwen3-4B --data my.jsonl` needs nothing else: it chooses full fine-tuning, LoRA or QLoRA
    for this machine, prints the plan, tries one step and trains.
    """
    from ..training.preflight import plan, preflight
    from ..training.run import run

    if _follows():
        return
    if model and not data:
        overrides = [f"base_model={model}", *(overrides or ())]
    own = _plan_own_run(config, model, data, overrides, resume, planned) if data else nullcontext(config)
    with _naming_flag(model), own as path:
        _say_profile_of(path, overrides)
        if planned:
            found = preflight(path, None, overrides, planned=True).forecast or plan(path, overrides)
            rows = found.rows()
            shown = [(show.in_chinese(name), show.in_chinese(text)) for name, text in rows]
            show.result(dict(rows), as_json, lambda _: show.print_table(("", str(path)), shown, text=(str(path),)))
            return
        _run(lambda: run(path, resume, overrides=overrides, reporter=show.Terminal()), as_json)
    if not as_json:
        _say_next(path, None if data else overrides)  # those of a run on --data are in its config


def sft(
    config: Annotated[Path, Option(help="Training config with a `warm_start` section.")] = options.QUICKSTART,
    overrides: options.Set = None,
    resume: options.Resume = False,
    gated: Annotated[bool, Option("--gated", help="Train with the ticket, as ppo-runner does.")] = False,
) -> None:
    """Run only the warm start of a training run: SFT on the pool's demonstrations.

    The policy is then in `checkpoints/local/warm_start` (gated: `checkpoints/rc1/warm_start`). To continue with RL, run
    `askgate train --resume --config FILE` (gated: `askgate ppo-runner --config FILE`) with the same config.
    """
    from ..training.run import run, run_gated

    if _follows():
        return
    _say_profile_of(config, overrides, gated)
    show_progress = show.Terminal()
    try:
        if gated:
            run_gated(config, None, overrides, show_progress, warm_start_only=True)
        else:
            run(config, resume, None, overrides, show_progress, warm_start_only=True)
    except Stop:
        raise typer.Exit(1) from None
    verb = "ppo-runner --config" if gated else "train --resume --config"
    typed = f"askgate {verb} {config}"
    show.say(f"the warm start is complete; to continue: {typed}", f"热启动已完成；继续训练：{typed}")


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
        Option(
            help="Resume a run that the reward-hacking watch or a callback stopped. Pass checkpoints/rc1/latest; "
            "training continues from the newest undamaged checkpoint. An interrupted run resumes without this flag."
        ),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Train a policy with a ticket (gated training).

    The ticket is the file that `askgate round 2` writes if every gate before training passed. Refuses to train if a
    file that the ticket covers has changed since.
    """
    from ..training.run import run_gated

    if _follows():
        return
    _say_profile_of(config, overrides, gated=True)
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
    from ..training.run import follow

    follow()
    return True


def _say_next(config: Path, overrides: list[str] | None) -> None:
    """What to type after a local run."""
    from ..config.loader import load_train_config
    from ..core.paths import FINAL_MODEL

    settings = load_train_config(config, overrides)
    flags = [word for one in overrides or () for word in ("--set", one)]
    compare = shlex.join(["askgate", "eval", "--config", str(config), *flags])
    model = settings.checkpoints(settings.seeds[0]) / FINAL_MODEL
    show.say(f"-> {both('check the gates', '检查闸门')}: {compare}")
    show.say(f"-> {both('curves and episodes', '曲线与对话记录')}: askgate board")
    show.say(f"-> {both('talk to it', '与它对话')}: askgate chat {model}")


@contextmanager
def _naming_flag(model: str) -> Iterator[None]:
    """Names --model instead of the setting `base_model`, which the user has not typed."""
    try:
        yield
    except BadInput as error:
        if not model or not error.where.endswith("base_model"):
            raise
        raise BadInput(error.what, where="--model", remedy=error.remedy) from error


@contextmanager
def _plan_own_run(
    config: Path, model: str, data: Path, overrides: list[str] | None, resume: bool, planned: bool
) -> Iterator[Path]:
    """The config of a run on the user's file, after its plan is printed and one step of a new run has worked.

    A plan, a refused step and a refused resumption leave the config of the earlier run as it was, or none: the next
    resumption reads it.
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
    show.say_rows(found.skipped)
    show.say_rows(found.remarks, stderr=True)
    plan = make_plan(model, found)
    path = config_file(plan, found)
    earlier, is_tried = path.read_bytes() if path.exists() else None, False

    def restore() -> None:
        if earlier is None:
            path.unlink(missing_ok=True)
        else:
            with atomic_write(path) as handle:
                handle.write(earlier)

    try:
        write_run_config(plan, found, overrides or (), resume)
        load_train_config(path, overrides)  # a wrong --set is refused before a step is tried
        _say_plan(plan, found, path)
        if not resume and not planned:
            show.say("trying one step ...", "先试一步 ...")
            with show.console(stderr=True).status(both("loading the model, then one step", "加载模型，然后试一步")):
                took = f"{try_step(path, model, found, overrides or ()):.0f} s"
            show.say(f"one step works ({took} with loading); training", f"试一步成功（含加载 {took}），开始训练")
        is_tried = True
        yield path
    except BadInput:
        if resume or not is_tried:
            restore()
        raise
    finally:
        if planned and earlier is not None:
            restore()


def _say_plan(plan: RunPlan, found: OwnData, path: Path) -> None:
    size = f"{plan.parameters / 1e6:,.0f}M {both('weights', '参数')}"
    show.say(f"{both('model:  ', '模型：')} {plan.settings['base_model']}, {size}")
    show.say(f"{both('device: ', '设备：')} {plan.device.type}, {plan.memory_gb:.0f} GB")
    show.say(f"{both('method: ', '方法：')} {plan.method}, {both('forecast', '预计占用')} {plan.needs_gb:.1f} GB")
    used = show.rows_used(found.row_counts, "train", found.samples, found.need_ask, found.held_out)
    show.say(f"{both('data:   ', '数据：')} {used}")
    show.say(f"{both('config: ', '配置：')} {path}")
    show.say(
        "steps:   change a setting with --set, such as --set steps=20", "步数： 用 --set 改设置，如 --set steps=20"
    )
    options.say_tasks("messages", found.shares)


def _say_profile_of(config: Path, overrides: list[str] | None, gated: bool = False) -> None:
    from ..config.loader import load_train_config

    profile = load_train_config(config, overrides).profile
    if gated:
        note = both(" (gated: needs the ticket)", "（受闸门保护：需要训练票）")
    elif profile == "local":
        note = both(" (no ticket needed; its checkpoints cannot be packaged)", "（无需训练票；其检查点不能打包发布）")
    else:
        note = ""
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
        return
    for seed in report.seeds:
        if seed.changes is None:
            english = f"seed {seed.seed}: {seed.steps} steps; no evaluation of base and trained policy"
            show.say(english, f"种子 {seed.seed}：{seed.steps} 步；没有底模与训练后策略的评测")
            continue
        columns = _columns(f"{both('seed', '种子')} {seed.seed}, {_steps(report, seed)}", seed)
        show.print_table(columns, [_row(label, name, seed) for name, label in show.FIGURES.items()])
        show.say_held_out(seed.changes["success"].base.n)


def show_results(report: TrialReport) -> None:
    """One table: every figure of all seeds together and, where there are several, of each seed."""
    pooled = report.pooled
    if pooled.changes is None:
        show.say("no evaluation of base and trained policy", "没有底模与训练后策略的评测")
        return
    several = len(report.seeds) > 1
    count = len(report.seeds)
    title = both(f"{count} seeds", f"{count} 个种子") if several else f"{both('seed', '种子')} {report.seeds[0].seed}"
    rows = []
    for name, label in {**show.FIGURES, **MORE_FIGURES}.items():
        rows.append(_row(label, name, pooled))
        if several:
            rows += [_row(f"  {both('seed', '种子')} {one.seed}", name, one) for one in report.seeds if one.changes]
    show.print_table(_columns(f"{title}, {_steps(report, pooled)}", pooled), rows)
    show.say_held_out(report.figures["held_out"])
    if not (pooled.over_control or pooled.over_time_control):
        from ..pages.render import LABELS

        show.say(*LABELS["controls"]["missing"])


def _steps(report: TrialReport, compared: Compared) -> str:
    """`100 steps`, or `4 steps, all SFT` if the warm start took all of them."""
    warm = (report.config.get("warm_start") or {}).get("steps", 0)
    only_sft = both(", all SFT", "，全为 SFT") if warm >= compared.steps else ""
    return f"{compared.steps} {both('steps', '步')}{only_sft}"


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

ROUND_SETTINGS = {"RUN_MODE": "prod", "REWARD_LIVE_MODE": "1", "SCORER_PROVIDER": "local"}
"""Variables that a round needs, each with a value that works without a key."""


def run_round(
    number: Annotated[
        int | None, Argument(metavar="NUMBER", min=1, max=2, help="1 or 2. Leave it out with --readmit.")
    ] = None,
    numbered: Annotated[int | None, Option("--round", min=1, max=2, hidden=True)] = None,
    profile: options.GateProfile = None,
    replaces: Annotated[
        str,
        Option(
            "--replace",
            metavar="PROFILE",
            help="Discard the earlier rounds and sign-offs in this folder and start over; PROFILE is the profile they "
            "were made with. Needed if it differs from --profile, or if its ticket was used for training or signed "
            "off.",
        ),
    ] = "",
    again: Annotated[
        bool,
        Option(
            "--readmit",
            help="After an update of AskGate: measure both rounds again on the same files and scores, and write a new "
            "ticket. Calls no judge.",
        ),
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Measure the gates before training, in round 1 and again in round 2.

    Round 1 shows what is wrong. Round 2 measures everything again, on the same files and with the same code, and has
    the judge score a second set of new samples, so that a run does not pass by chance. If it passes, it writes the
    ticket that ppo-runner needs. Both rounds call the judge, which may be billed.

    Each round needs RUN_MODE=prod, REWARD_LIVE_MODE=1 and SCORER_PROVIDER.
    """
    from ..gates.readmit import readmit
    from ..gates.rounds import run_round as run

    number = number or numbered
    if (number is None) != again:
        raise BadInput(
            "give a number or --readmit, not both",
            where="askgate round",
            remedy="write `askgate round 1`, then `askgate round 2`",
        )
    if number is None:
        report, path = readmit(show.Terminal().message)
        options.say_profile(report.profile)
        show.result(report, as_json, _print_round, *([path] if report.passed else []))
        raise typer.Exit(report.exit_code)
    profile = options.chosen_profile(profile, "rc1")
    if missing := {name: value for name, value in ROUND_SETTINGS.items() if not os.environ.get(name, "").strip()}:
        typed = "export " + " ".join(f"{name}={value}" for name, value in missing.items())
        own = ", or name your own judge with SCORER_PROVIDER" if "SCORER_PROVIDER" in missing else ""
        raise BadInput("a round needs settings that are not set", where=", ".join(missing), remedy=typed + own)
    with show.Terminal().scoring(both(f"round {number}: scoring", f"第 {number} 轮预检: 评分")) as progress:
        report, path = run(number, profile, os.environ, show.complain, progress, replaces)
    show.result(report, as_json, _print_round, path)
    if not report.passed:
        raise typer.Exit(report.exit_code)


def verify(
    deep: Annotated[
        bool, Option("--deep", help="Also measure every gate again, and let the models repeat recorded dialogues.")
    ] = False,
    owner_key: options.OwnerKey = "",
    dialogues: Annotated[
        int,
        Option(min=1, help="With --deep: number of dialogues that each policy repeats. A large number repeats all."),
    ] = DIALOGUES,
    tsa_root: options.TsaRoot = "",
) -> None:
    """Verify the evidence of the rounds and the results of training. Names the first file or value that is wrong."""
    with rare_collections():
        from ..gates.verify import verify as check
        from ..training.verify_results import verify_results

        rounds = check(deep, show.tell, owner_key=owner_key, tsa_root=tsa_root)
        verify_results(deep, show.tell, dialogues=dialogues)
    names = ", ".join(one.round for one in rounds)
    show.say(
        f"VERIFIED: {names}{', measured again' if deep else ''}",
        f"VERIFIED 核验通过：{names}{'，已重新测量' if deep else ''}",
    )


def anchor(
    url: Annotated[str, Argument(metavar="URL", help="Address of a timestamp authority (RFC 3161).")],
    root: Annotated[Path, Option(help="Root certificate of that authority (PEM).")],
) -> None:
    """Have a timestamp authority certify that the evidence exists now. Sends one hash, nothing else."""
    from ..gates.anchor import ANCHORS, make_anchor

    make_anchor(url, root, show.tell)
    show.wrote(ANCHORS)


def sign_off(
    key: Annotated[
        Path | None,
        Option(help="The owner's private Ed25519 key (PEM). Required if the profile names an owner key."),
    ] = None,
    amber: Annotated[
        str,
        Option(
            help="Amber to sign off, such as judge_auc; `askgate status` shows the names. Default: sign the ticket."
        ),
    ] = "",
    by: Annotated[str, Option(help="Your name; recorded. Required with --amber; a terminal asks for it.")] = "",
    reason: Annotated[
        str, Option(help="Why the amber is acceptable; recorded. Required with --amber; a terminal asks for it.")
    ] = "",
) -> None:
    """Sign the ticket of this folder, or sign off (accept) an amber light. Verifies the evidence first.

    A ticket needs a signature only if the profile names an owner key. Before a release every amber must be signed off
    by its name. weaker_thresholds (a threshold weaker than AskGate's own) cannot be signed off. Every sign-off is kept:
    a second one of the same amber is added to the first.
    """
    from ..config.profile import load_profile
    from ..gates.sign_off import require_owner_key
    from ..gates.sign_off import sign_off as sign
    from ..gates.ticket import ENVELOPE, TICKET
    from ..gates.verify import verify as check

    ticket = next((one for one in check(False, show.tell, signed=False) if one.round == "round2" and one.passed), None)
    if ticket is None:
        raise BadInput("there is no ticket to sign", where=str(TICKET), remedy="run both rounds first")
    profile, password, by, reason = load_profile(ticket.profile), show.password_of(key), by.strip(), reason.strip()
    if amber:
        from ..gates.ambers import ambers, sign_amber

        # Whoever signs sees what it is; a name that is not known is refused by `sign_amber`.
        show.print_ambers([one.fact for one in ambers(profile) if one.name == amber])
        by = by or show.ask("your name", "您的姓名")
        reason = reason or show.ask(f"why {amber} is acceptable", f"为何可以接受 {amber}")
        show.wrote(sign_amber(profile, amber, key, password, by, reason))
        return
    if key is None:
        raise BadInput("is missing", where="--key", remedy="name the owner's private key, or an amber with --amber")
    if profile.owner_key is None:
        raise BadInput(
            "names no owner key, so nothing would check the signature",
            where=f"profile {profile.name}",
            remedy="set owner_key in the profile and run both rounds again, then sign",
        )
    require_owner_key(profile, key, password)
    show.wrote(sign(key, password, TICKET, ticket.profile, ticket.run, ENVELOPE, by, reason))


def _print_round(report: Round) -> None:
    from ..pages.render import LABELS

    gates = {one.gate: both(one.gate, LABELS["gates"][one.gate][1]) for one in report.findings}
    columns = (both("gate", "闸门"), both("check", "检查"), both("value", "实测"), both("must be", "要求"), "")
    rows = (
        [gates[one.gate], one.name, show.measured(one), show.limit(one), "" if one.passed else both("FAILED", "未通过")]
        for one in report.findings
    )
    show.print_table(columns, rows, text=columns)
    for one in report.failed:
        show.print_failure(f"{gates[one.gate]}{both(': ', '：')}{one.name}", one)
    show.print_ambers(report.ambers)
    verdict = both("PASSED", "通过") if report.passed else both("FAILED", "未通过")
    failed = "" if report.passed else f", {len(report.failed)} failed"
    checks = both(
        f"{len(report.findings)} checks{failed}", f"{len(report.findings)} 项检查，{len(report.failed)} 项未过"
    )
    show.say(f"{verdict} {report.round} ({report.profile}): {checks}")
