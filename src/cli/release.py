"""Verbs for finished models and runs: export_gguf, eval, package, reproduce, push, report, review, and the board."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from typer import Option

from ..core.defaults import ProfileName
from ..core.errors import BadInput
from ..core.paths import REPORTS
from ..runtime.language import in_language as both
from . import options, show
from .train import MORE_FIGURES, compare_run

if TYPE_CHECKING:
    from ..benchmarks.runner import BenchmarkResult
    from ..chat.evaluate import ModelEvaluation
    from ..core.check import Report


GgufType = Literal["f16", "q8_0", "q4_k_m"]


def export_gguf(
    model: Annotated[Path, Option()],
    out: Annotated[Path, Option()],
    type_: Annotated[GgufType, Option("--type")] = "f16",
    adapter: Path | None = None,
    as_json: options.Json = False,
) -> None:
    """Export a model to GGUF for llama.cpp. Compares its tokens and greedy choices with those of PyTorch."""
    if out.suffix != ".gguf":
        raise BadInput(f"{out} does not end in .gguf", where="--out", remedy="name a .gguf file")
    from ..release.gguf_check import PROMPTS
    from ..release.gguf_check import export_gguf as export

    with show.Terminal().progress("comparing with PyTorch", PROMPTS) as progress:
        report, path = export(model, out, type_, adapter, show.Terminal().message, progress)
    show.finish(report, as_json, path, _print_agreement)


def eval_model(
    model: str | None = None,
    adapter: Path | None = None,
    bench: Annotated[str | None, Option(metavar="NAME")] = None,
    data: Path | None = None,
    limit: Annotated[int | None, Option(min=1)] = None,
    actions: Annotated[bool, Option("--actions")] = False,
    backend: Literal["pytorch", "llamacpp"] = "pytorch",
    config: Path = options.QUICKSTART,
    overrides: options.Set = None,
    n: Annotated[int | None, Option(min=1)] = None,
    greedy: Annotated[bool, Option("--greedy")] = False,
    compare: Path | None = None,
    out: Path | None = None,
    tag: str = "",
    as_json: options.Json = False,
) -> None:
    """Compare a run with its base, measure one model, or run a public benchmark.

    Without --model: takes the run that --config describes, compares the stored episodes (recorded dialogues) of its
    policies (base, warm start, controls (SFT alone), trained), and checks the gates on the trained one.

    With --model: runs that model on held-out samples.

    With --model, --bench and --data: runs a public benchmark. If it is interrupted, the same command resumes it.
    """
    if bench is not None or data is not None or limit is not None or actions:
        if bench is None or data is None or model is None:
            absent = "--bench" if bench is None else "--data" if data is None else "--model"
            raise BadInput("is missing", where=absent, remedy="give --bench NAME, --data FILE and --model MODEL")
        if overrides or n is not None or compare or out or tag or greedy or backend != "pytorch" or adapter:
            unused = "--set, --n, --compare, --out, --tag, --greedy, --backend and --adapter belong to held-out samples"
            raise BadInput(unused, where="--bench", remedy="leave them out; --limit runs fewer rows")
        return _run_bench(bench, data, model, limit, actions, as_json)
    if model is None:
        given = {"--n": n, "--greedy": greedy, "--compare": compare, "--out": out, "--backend": backend != "pytorch"}
        given["--adapter"] = adapter
        if wrong := [flag for flag, value in given.items() if value]:
            raise BadInput("measures one model", where=", ".join(wrong), remedy="add --model FOLDER")
        return compare_run(config, tag, overrides, as_json)
    if tag:
        raise BadInput("names the report on a training run", where="--tag", remedy="name the report with --out")
    if adapter is not None and backend == "llamacpp":
        raise BadInput("a GGUF file takes no adapters", where="--adapter", remedy="merge them with askgate export-gguf")
    if model.startswith(("http://", "https://")):
        remedy = f"add --bench NAME --data FILE, or talk to it: askgate chat {model}"
        raise BadInput("a server is measured on benchmarks only", where=f"--model {model}", remedy=remedy)
    from ..chat.evaluate import evaluate_model
    from ..config.loader import load_train_config
    from ..core.files import write_json

    settings = load_train_config(config, [*(overrides or ()), *([f"eval.n={n}"] if n is not None else [])])
    found, checks = evaluate_model(Path(model), backend, settings, greedy, compare, show.Terminal(), adapter)
    path = out or REPORTS / f"eval_{backend}.json"
    write_json(path, found)
    show.result(found, as_json, _print_evaluation, path)
    failed = [one for one in checks if not one.passed]
    for one in failed:
        show.print_failure(f"{one.name}: {show.measured(one)}, must be {show.limit(one)}", one, show.complain)
    if failed:
        raise typer.Exit(1)
    if compare and not as_json:
        show.say(f"every headline figure is within the 95% interval of {compare}")


def _run_bench(bench: str, data: Path, model: str, limit: int | None, actions: bool, as_json: bool) -> None:
    from ..benchmarks.runner import FOLDER, PAGE, run_benchmark

    result, path = run_benchmark(bench, data, model, limit, actions, reporter=show.Terminal())
    show.result(result, as_json, _print_bench, path, path.with_suffix(".rows.jsonl"), FOLDER / PAGE)


def _print_bench(result: BenchmarkResult) -> None:
    """The figures of a result, beside those of earlier results with which it can be compared."""
    from ..benchmarks.runner import read_results

    others = [one for one in read_results() if one.is_comparable(result) and one.fingerprint != result.fingerprint]
    shown = [*others[:3], result]
    rows = []
    for place, measure in enumerate(result.measures):
        one, name = measure.figure, "avg_turns" if measure.name == "turns" else measure.name
        earlier = [show.figure(name, other.measures[place].figure.value) for other in others[:3]]
        cells = [show.figure(name, value) for value in (one.value, one.low, one.high)]
        rows.append([measure.name, measure.rule, *earlier, *cells, str(one.n)])
    show.print_table((result.benchmark, "rule", *(one.model for one in shown), "95% from", "to", "n"), rows, ["rule"])
    show.say(f"{result.n} of {result.of} rows of {result.data} (SHA-256 {result.data_sha256[:16]}); shares in percent")
    if result.judge:
        show.say(f"judge: {result.judge.provider} {result.judge.model}, {result.judge.votes} votes")
    if result.note:
        show.say(f"note: {result.note}")
    if result.not_graded:
        show.say(f"the judge gave no verdict on {result.not_graded} rows")
    if result.example_rows:
        show.say("these rows were written for AskGate in the format of the benchmark: the figures are no score")


def package(config: Path | None = None, out: Path = Path("reports/rc1/package.tgz"), key: Path | None = None) -> None:
    """Pack a finished gated run for others to reproduce. Verifies the evidence first.

    Refused while a gate fails or an amber is not signed off.
    """
    from ..release.package import make_package

    made = make_package(config, out, key, show.password_of(key), show.tell)
    show.made([made], as_json=False)


def reproduce(
    packed: Annotated[Path, typer.Argument(metavar="PACKAGE")],
    verify: Annotated[bool, Option("--verify")] = False,
    rerun: Annotated[bool, Option("--rerun")] = False,
    allow_class: Annotated[list[str] | None, Option(metavar="MODULE:CLASS")] = None,
    public_key: Path | None = None,
    owner_key: str = "",
    tsa_root: str = "",
) -> None:
    """Verify a package, or repeat its training.

    Needs --verify or --rerun. Names the first file that does not match.
    """
    if not (verify or rerun):
        raise BadInput("nothing to do", where="reproduce", remedy="add --verify, or --rerun to train again too")
    from ..release.reproduce import pages_not_compared
    from ..release.reproduce import reproduce as check

    facts = check(packed, show.tell, public_key, rerun, allow_class or (), owner_key, tsa_root)
    again = ", and trained again with the same weights" if rerun else ""
    pages = " except for its pages: another version of AskGate made them" if pages_not_compared(facts) else ""
    again_zh = "，重新训练后权重相同" if rerun else ""
    pages_zh = "（网页由另一版本的 AskGate 生成，未比较）" if pages else ""
    show.say(f"VERIFIED{pages}: {packed}{again}", f"VERIFIED 核验通过{pages_zh}：{packed}{again_zh}")


def push(
    repo: Annotated[str, typer.Argument(metavar="REPO")],
    model: Path | None = None,
    data: Path | None = None,
    public: Annotated[bool, Option("--public")] = False,
) -> None:
    """Push a model or data to the Hugging Face hub, with a card of its evidence.

    The card has results, gates, fingerprints and licences. Runs that failed a gate, are not gated or not evaluated
    are pushed too; the card says so. Set HF_TOKEN or run `hf auth login` first.
    """
    from ..release.push import push_data, push_model

    if (model is None) == (data is None):
        raise BadInput("name one thing to push", where="--model, --data", remedy="give --model FOLDER or --data FILE")
    if model is not None:
        address = push_model(repo, model, public, show.complain)
    else:
        assert data is not None
        address = push_data(repo, data, public)
    show.say(f"pushed to {address}")


def _print_agreement(report: Report) -> None:
    found = report.figures
    show.say(
        f"{found['prompts_same']} of {found['prompts']} continuations are the same throughout; "
        f"{found['same']} of {found['tokens']} tokens, {found['near_ties']} near ties"
    )


def _print_evaluation(found: ModelEvaluation) -> None:
    from ..chat.evaluate import HEADLINE

    rows = []
    labels = {**show.FIGURES, **MORE_FIGURES}
    for name in HEADLINE:
        one = found.figures[name]
        rows.append([labels[name], *(show.figure(name, value) for value in (one.value, one.low, one.high)), str(one.n)])
    columns = both("value", "数值"), both("95% from", "95% 下限"), both("to", "上限"), "n"
    show.print_table((f"{found.model}, {found.backend}", *columns), rows)
    show.say(
        f"{found.samples} held-out samples of {found.shadow_set} ({found.source}); shares in percent",
        f"{found.samples} 条留出样本，取自 {found.shadow_set}（{found.source}）；比例以百分数表示",
    )
    if found.source == "builtin":
        show.say(
            "these are AskGate's own samples; for those of your run: askgate eval --config CONFIG --model MODEL",
            "这些是 AskGate 内置的样本；要用自己运行的留出样本：askgate eval --config 配置 --model 模型",
        )


PORT = 8712


def report(profile: ProfileName | None = None, evaluation: Path | None = None, as_json: options.Json = False) -> None:
    """Write the RC1 report of the run in this folder.

    The exit code is 0 only if both rounds, the evidence and the results passed and every amber light is signed off.
    """
    from ..config.profile import load_profile
    from ..pages.rc1_report import RC1_JSON, RC1_PAGE, write_rc1
    from ..training.verify_results import verify_results

    if evaluation is not None and not evaluation.is_file():
        raise BadInput("no such file", where=str(evaluation), remedy="name a report written by `askgate eval`")
    verify_results(False, show.Terminal().message, evaluation)
    found = write_rc1(load_profile(options.chosen_profile(profile)), evaluation)
    if as_json:
        show.print_json(found)
    else:
        for one in found.verdict:
            lamp = {
                "green": "PASSED",
                "amber": both("AMBER (signed off)", "黄灯（已签字）") if one.passed else both("AMBER", "黄灯"),
                "red": "FAILED",
                "grey": both("NOT YET", "未完成"),
            }[one.colour]
            told = both(one.told, one.told_zh).replace("\n", "\n  ")
            show.say(f"{lamp} {both(one.name, one.name_zh)}: {told}")
        if found.training_run:
            show.say(f"about run {found.training_run}", f"针对运行 {found.training_run}")
        show.wrote(RC1_PAGE, RC1_JSON)
    if not found.passed:
        raise typer.Exit(1 if all(one.genuine for one in found.verdict) else 2)


def review(
    profile: ProfileName | None = None, days: Annotated[int, Option(min=1)] = 7, as_json: options.Json = False
) -> None:
    """Write the weekly review. Lists gates, KPIs and changes, as Markdown and as a page with charts."""
    from ..gates.manifest import newest_evaluation
    from ..loop.kpi import measure
    from ..loop.profile_loop import open_loop
    from ..pages.review import write_review

    loop = open_loop(options.chosen_profile(profile))
    found, made = write_review(days, measure(loop.profile, newest_evaluation()), loop.lights())
    if as_json:
        show.print_json(found)
        return
    show.say(
        f"in {days} days: stages measured {len(found.events)}, trained policies evaluated {len(found.evaluations)}",
        f"{days} 天内：测量阶段 {len(found.events)} 次，训练后评测 {len(found.evaluations)} 次",
    )
    for one in found.ambers:
        show.say(
            f"amber: {one.en}, {f'signed off by {one.signed}' if one.signed else 'not signed off'}",
            f"黄灯：{one.zh}，{f'{one.signed} 已签字' if one.signed else '未签字'}",
        )
    show.wrote(*made)


def board(
    port: Annotated[int, Option(min=0, max=65535)] = PORT,
    run: Annotated[list[Path] | None, Option(metavar="DIR")] = None,
) -> None:
    """Show stages, curves and recorded dialogues in a browser.

    The pages update during a run and are served to this machine only.
    """
    import uvicorn

    from ..board.runs import Board
    from ..board.server import HOST, make_app

    roots = [folder.absolute() for folder in run or [Path()]]
    made = Board(roots)
    # Rounds, stages and KPIs name their files relative to the run folder.
    os.chdir(roots[0])
    listener = _listen(HOST, port)
    own = listener.getsockname()[1]
    show.say(f"http://{HOST}:{own}/  ({both('Ctrl-C ends it', '按 Ctrl-C 结束')})")
    config = uvicorn.Config(make_app(made, own), log_level="warning", server_header=False)
    uvicorn.Server(config).run(sockets=[listener])


def _listen(host: str, port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise BadInput(
            f"port {port} is not available ({error.strerror})", where="--port", remedy="choose another, or 0 for any"
        ) from None
    return listener
