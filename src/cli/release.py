"""Verbs for what leaves the house: export_gguf, and eval through PyTorch or llama.cpp."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.table import Table

from ..core.errors import BadInput
from ..training import data as train_data
from . import options, show

if TYPE_CHECKING:
    from ..config.train import TrainConfig
    from ..eval.metrics import Figure
    from ..release.evaluate import Setting

REPORTS = Path("reports")


def export_gguf(
    model: Annotated[Path, typer.Option("--model", help="Folder of a Qwen3 or Llama model.")],
    out: Annotated[Path, typer.Option("--out", help="The file to write, FILE.gguf; its report goes beside it.")],
    type_: Annotated[Literal["f16", "q8_0"], typer.Option("--type", help="f16: as trained; q8_0: half the size.")] = (
        "f16"
    ),
    adapter: Annotated[
        Path | None, typer.Option("--adapter", help="Folder of LoRA adapters that are merged in first.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Export a model to GGUF. For llama.cpp, and compared with PyTorch: same text, same tokens, same greedy choice."""
    if out.suffix != ".gguf":
        raise BadInput(f"{out} does not end in .gguf", where="--out", remedy="name a .gguf file")
    from transformers.utils import logging as transformers_logging

    from ..release.export import export_gguf as export
    from ..release.gguf_check import PROMPTS

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
    backend: Annotated[Literal["pytorch", "llamacpp"], typer.Option("--backend", help="What computes.")] = "pytorch",
    config: Annotated[Path, typer.Option("--config", help="Training config: held-out samples, turns, lengths.")] = (
        Path("configs/quickstart.yaml")
    ),
    n: Annotated[int | None, typer.Option("--n", min=1, help="So many samples; left out: as the config says.")] = None,
    greedy: Annotated[bool, typer.Option("--greedy", help="Always the likeliest token, whatever the config says.")] = (
        False
    ),
    compare: Annotated[
        Path | None, typer.Option("--compare", help="Report of the other backend, to lie within its intervals.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="The report; left out: reports/eval_BACKEND.json.")] = None,
    overrides: options.Set = None,
    as_json: options.Json = False,
) -> None:
    """Evaluate a model on held-out samples. Through PyTorch, or offline through llama.cpp from a GGUF file."""
    from transformers.utils import logging as transformers_logging

    from ..agents.trajectory import Job
    from ..config.loader import load_train_config
    from ..core.files import sha256_file, write_json
    from ..eval.metrics import figures
    from ..release.evaluate import Evaluated, compared, facts, play_llamacpp, play_pytorch, read_evaluated, sha256_of
    from ..release.gguf_export import model_folder
    from ..release.llamacpp import require_gguf

    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    settings = load_train_config(config, overrides)
    if n is not None:
        settings = settings.model_copy(update={"eval": settings.eval.model_copy(update={"n": n})})
    if backend == "llamacpp":
        require_gguf(model)
    else:
        model_folder(model)
    train_data.require(settings)
    train_data.build_missing(settings)
    samples, levels = train_data.held_out(settings)
    setting = _setting(settings, greedy)
    shadow = sha256_file(settings.shadow_set)
    then = read_evaluated(compare, shadow, len(samples), setting) if compare else None
    jobs = [
        Job(sample, level, setting.seed, place)
        for place, (sample, level) in enumerate(zip(samples, levels, strict=True))
    ]
    with show.progress(f"playing through {backend}", len(jobs)) as progress:
        if backend == "llamacpp":
            episodes = play_llamacpp(model, jobs, setting, progress)
        else:
            episodes = play_pytorch(model_folder(model), jobs, setting, progress)
    found = Evaluated(
        backend=backend,
        model=str(model),
        model_sha256=sha256_of(model, backend),
        shadow_set=str(settings.shadow_set),
        shadow_sha256=shadow,
        samples=len(jobs),
        setting=facts(setting),
        figures=figures(episodes),
    )
    checks = compared(then, found) if then else []
    path = out or REPORTS / f"eval_{backend}.json"
    write_json(path, found)
    if as_json:
        show.print_json(found)
    else:
        _tell(found.figures, f"{model} through {backend}, {len(jobs)} held-out samples")
        show.say(f"wrote {path}")
    failed = [one for one in checks if not one.passed]
    for one in failed:
        show.complain(f"FAILED {one.name}: {one.value}, must be {one.rule} {one.threshold}")
        show.complain(f"  What to do: {one.remedy}")
        show.complain(f"  怎么办：{one.remedy_zh}")
    if failed:
        raise typer.Exit(1)
    if compare and not as_json:
        show.say(f"every headline figure lies within the 95% interval of {compare}")


def _setting(config: TrainConfig, greedy: bool) -> Setting:
    from ..data.pool.meta import read_meta
    from ..release.evaluate import Setting

    limits = config.rollout_limits(read_meta(config.shadow_set).tools)
    return Setting(limits, greedy or config.eval.greedy, config.seeds[0])


def _tell(found: dict[str, Figure], title: str) -> None:
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
