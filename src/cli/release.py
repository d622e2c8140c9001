"""Commands for finished models and runs: export_gguf, package, reproduce, push, report, review, and the board."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from typer import Option

from ..core.defaults import ProfileName
from ..core.errors import BadInput
from ..runtime.language import in_language as both
from . import options, show

if TYPE_CHECKING:
    from ..core.check import Report


PORT = 8712  # default port of the board
GgufType = Literal["f16", "q8_0", "q4_k_m"]


def export_gguf(
    model: Annotated[Path, Option()],
    out: Annotated[Path, Option()],
    type_: Annotated[GgufType, Option("--type")] = "f16",
    adapter: Path | None = None,
    as_json: options.Json = False,
) -> None:
    """Export a model to GGUF for llama.cpp. Compares tokens and greedy choices of llama.cpp with those of PyTorch."""
    if out.suffix != ".gguf":
        raise BadInput(f"{out} does not end in .gguf", where="--out", remedy="name a .gguf file")
    from ..release.gguf_check import PROMPTS
    from ..release.gguf_check import export_gguf as export

    with show.Terminal().progress("comparing with PyTorch", PROMPTS) as progress:
        report, path = export(model, out, type_, adapter, show.Terminal().message, progress)
    show.finish(report, as_json, path, _print_agreement)


def package(out: Path = Path("reports/rc1/package.tgz"), key: Path | None = None) -> None:
    """Pack a finished gated run, so that others can reproduce it.

    The command verifies the evidence first. It refuses to pack while a gate fails or an amber is not signed off.
    """
    from ..release.package import make_package

    made = make_package(out, key, show.password_of(key), show.say_translated)
    show.print_outputs([made], as_json=False)


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

    facts = check(packed, show.say_translated, public_key, rerun, allow_class or (), owner_key, tsa_root)
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

    Give either --model or --data. Set HF_TOKEN or run `hf auth login` first. The card has results, gates, fingerprints
    and licences. You can also push a run that failed a gate, has no ticket or was not evaluated. The card then says so.
    """
    from ..release.push import push_data, push_model

    if (model is None) == (data is None):
        raise BadInput("name one thing to push", where="--model, --data", remedy="give --model FOLDER or --data FILE")
    if model is not None:
        address = push_model(repo, model, public, show.note)
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


def report(profile: ProfileName | None = None, evaluation: Path | None = None, as_json: options.Json = False) -> None:
    """Write the report of the run in this folder (RC1.html).

    The exit code is 0 only if both rounds, the evidence and the results passed and every amber is signed off.
    """
    from ..config.profile import load_profile
    from ..loop.profile_loop import has_reports
    from ..pages.rc1_report import RC1_JSON, RC1_PAGE, gather_run, write_rc1
    from ..training.verify_results import verify_results

    if evaluation is not None and not evaluation.is_file():
        raise BadInput("no such file", where=str(evaluation), remedy="name a report written by `askgate eval`")
    verify_results(False, show.Terminal().message, evaluation)
    is_kept = has_reports()
    found = (write_rc1 if is_kept else gather_run)(load_profile(options.chosen_profile(profile)), evaluation)
    if as_json:
        show.print_json(found)
    else:
        for one in found.verdict:
            state = {
                "green": "PASSED",
                "amber": both("AMBER (signed off)", "黄灯（已签字）") if one.passed else both("AMBER", "黄灯"),
                "red": "FAILED",
                "grey": both("NOT YET", "未完成"),
            }[one.colour]
            text = both(one.text, one.text_zh).replace("\n", "\n  ")
            show.say(f"{state} {both(one.name, one.name_zh)}: {text}")
        if found.training_run:
            show.say(f"about run {found.training_run}", f"针对运行 {found.training_run}")
        if is_kept:
            show.wrote(RC1_PAGE, RC1_JSON)
    if not found.passed:
        raise typer.Exit(1 if all(one.genuine for one in found.verdict) else 2)


def review(
    profile: ProfileName | None = None, days: Annotated[int, Option(min=1)] = 7, as_json: options.Json = False
) -> None:
    """Write the weekly review. Lists gates, KPIs and changes, as Markdown and as a page with charts."""
    from ..gates.manifest import newest_evaluation
    from ..loop.kpi import measure
    from ..loop.profile_loop import has_reports, open_loop
    from ..loop.sync import amber_line
    from ..pages.review import write_review

    loop, is_kept = open_loop(options.chosen_profile(profile)), has_reports()
    found, made = write_review(days, measure(loop.profile, newest_evaluation()), loop.lights(), is_kept)
    if as_json:
        show.print_json(found)
        return
    show.say(
        f"in {days} days: stages measured {len(found.events)}, trained policies evaluated {len(found.evaluations)}",
        f"{days} 天内：测量阶段 {len(found.events)} 次，训练后评测 {len(found.evaluations)} 次",
    )
    for one in found.ambers:
        show.say(amber_line(one.name, one.signed))
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
    # Rounds, stages and KPIs name their files relative to the project folder.
    os.chdir(roots[0])
    try:
        listener = socket.create_server((HOST, port))
    except OSError as error:
        raise BadInput(
            f"port {port} is not available ({os.strerror(error.errno or 0)})",
            where="--port",
            remedy="choose another, or 0 for any",
        ) from None
    bound = listener.getsockname()[1]  # another than `port` if that is 0
    show.say(f"http://{HOST}:{bound}/  ({both('Ctrl-C ends it', '按 Ctrl-C 结束')})")
    config = uvicorn.Config(make_app(made, bound), log_level="warning", server_header=False)
    uvicorn.Server(config).run(sockets=[listener])
