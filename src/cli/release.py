"""Verbs for finished models and runs: export_gguf, eval, package, reproduce."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.table import Table

from ..core.errors import BadInput
from ..core.paths import REPORTS
from . import options, show

if TYPE_CHECKING:
    from ..eval.metrics import Figure


def export_gguf(
    model: Annotated[Path, typer.Option("--model", help="Folder of a Qwen3 or Llama model.")],
    out: Annotated[Path, typer.Option("--out", help="File to write, FILE.gguf; its report goes beside it.")],
    type_: Annotated[Literal["f16", "q8_0"], typer.Option("--type", help="f16: as trained; q8_0: half the size.")] = (
        "f16"
    ),
    adapter: Annotated[
        Path | None, typer.Option("--adapter", help="Folder of LoRA adapters to merge into the model first.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Export a model to GGUF for llama.cpp. Checks it against PyTorch: same tokens, same greedy choices."""
    if out.suffix != ".gguf":
        raise BadInput(f"{out} does not end in .gguf", where="--out", remedy="name a .gguf file")
    from transformers.utils import logging as transformers_logging

    from ..release.gguf_check import PROMPTS
    from ..release.gguf_check import export_gguf as export

    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    with show.progress("comparing with PyTorch", PROMPTS) as progress:
        report, path = export(model, out, type_, adapter, show.complain, progress)
    if not as_json:
        found = report.figures
        show.say(
            f"{found['prompts_same']} of {found['prompts']} continuations are the same throughout; "
            f"{found['same']} of {found['tokens']} tokens, {found['near_ties']} near ties"
        )
    show.finish(report, as_json, path)


def eval_model(
    model: Annotated[Path, typer.Option("--model", help="A folder for pytorch, FILE.gguf for llamacpp.")],
    backend: Annotated[Literal["pytorch", "llamacpp"], typer.Option("--backend", help="Inference backend.")] = (
        "pytorch"
    ),
    config: Annotated[Path, typer.Option("--config", help="Training config with the held-out set and limits.")] = (
        Path("configs/quickstart.yaml")
    ),
    overrides: options.Set = None,
    n: Annotated[int | None, typer.Option("--n", min=1, help="Number of samples. Default: from the config.")] = None,
    greedy: Annotated[bool, typer.Option("--greedy", help="Greedy decoding, even if the config samples.")] = False,
    compare: Annotated[
        Path | None, typer.Option("--compare", help="Report of the other backend; figures must be in its intervals.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Report to write. Default: reports/eval_BACKEND.json.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Evaluate a model on held-out samples. Through PyTorch, or offline through llama.cpp from a GGUF file."""
    from transformers.utils import logging as transformers_logging

    from ..config.loader import load_train_config
    from ..core.files import write_json
    from ..release.evaluate import evaluate_model

    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    settings = load_train_config(config, [*(overrides or ()), *([f"eval.n={n}"] if n is not None else [])])
    found, checks = evaluate_model(model, backend, settings, greedy, compare, show.Terminal())
    path = out or REPORTS / f"eval_{backend}.json"
    write_json(path, found)
    if as_json:
        show.print_json(found)
    else:
        _show_figures(found.figures, f"{model} through {backend}, {found.samples} held-out samples")
        show.say(f"wrote {path}")
    failed = [one for one in checks if not one.passed]
    for one in failed:
        show.complain(f"FAILED {one.name}: {one.value}, must be {one.rule} {one.threshold}")
        show.complain(f"  What to do: {one.remedy}")
        show.complain(f"  怎么办：{one.remedy_zh}")
    if failed:
        raise typer.Exit(1)
    if compare and not as_json:
        show.say(f"every headline figure is within the 95% interval of {compare}")


def package(
    config: Annotated[
        Path | None, typer.Option("--config", help="Training config of the gated run. Default: the ticket's.")
    ] = None,
    out: Annotated[Path, typer.Option("--out", help="Tarball to write.")] = Path("reports/rc1/package.tgz"),
    key: Annotated[
        Path | None, typer.Option("--key", help="Private elliptic-curve key (PEM) to sign with. Default: unsigned.")
    ] = None,
) -> None:
    """Pack a finished run for others. Verifies it first."""
    from ..core.files import sha256_file
    from ..release.package import make_package, trained_config

    made = make_package(config or trained_config(), out, key, show.password_of(key), show.say)
    show.say(f"wrote {made}")
    show.say(f"  sha256 {sha256_file(made)}")


def reproduce(
    packed: Annotated[Path, typer.Argument(metavar="PACKAGE", help="Tarball made by `askgate package`.")],
    verify: Annotated[
        bool, typer.Option("--verify", help="Check every file, the evidence of the gates, and signatures.")
    ] = False,
    rerun: Annotated[bool, typer.Option("--rerun", help="Verify, then train again and compare the weights.")] = False,
    public_key: Annotated[
        Path | None, typer.Option("--public_key", help="Public key of the maker; the package must be signed with it.")
    ] = None,
) -> None:
    """Verify a package, or train it again. Names the first file that does not match."""
    if not (verify or rerun):
        raise BadInput("nothing to do", where="reproduce", remedy="add --verify, or --rerun to train again too")
    from ..release.reproduce import reproduce as check

    check(packed, show.say, public_key, rerun)
    show.say(f"VERIFIED: {packed}{', and trained again with the same weights' if rerun else ''}")


def _show_figures(found: dict[str, Figure], title: str) -> None:
    from ..eval.metrics import is_share
    from ..release.evaluate import HEADLINE

    table = Table(title, box=None, pad_edge=False)
    for column in ("value", "95% from", "to", "n"):
        table.add_column(column, justify="right")
    for name in HEADLINE:
        figure = found[name]

        def shown(value: float | None, share: bool = is_share(name)) -> str:
            return "-" if value is None else f"{100 * value:.1f}%" if share else f"{value:.2f}"

        table.add_row(name, shown(figure.value), shown(figure.low), shown(figure.high), str(figure.n))
    show.print_table(table)
