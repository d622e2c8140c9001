"""Command `eval`: compares a run with its base, measures one model, or runs a public benchmark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from typer import Option

from ..core.errors import BadInput
from ..core.paths import REPORTS
from ..runtime.language import in_language as both
from . import options, parse, show

if TYPE_CHECKING:
    from ..benchmarks.runner import BenchmarkResult
    from ..chat.evaluate import ModelEvaluation
    from ..eval.compare import Change
    from ..eval.trial import Compared, TrialReport

Backend = Literal["pytorch", "llamacpp"]
MORE_FIGURES = {
    "success_hard_hotpotqa_strategyqa": both(
        "success, hard samples (hotpotqa + strategyqa)", "成功率，困难样本（hotpotqa + strategyqa）"
    ),
    "question_precision": both("question precision", "提问精确率"),
    "question_recall": both("question recall", "提问召回率"),
    "question_f1": both("question F1", "提问 F1"),
    "ask_precision": both("ask precision, by episode", "提问精确率（按对话）"),
    "ask_recall": both("ask recall, by episode", "提问召回率（按对话）"),
}


def eval_model(
    model: str | None = None,
    adapter: Path | None = None,
    bench: Annotated[str | None, Option(metavar="NAME")] = None,
    data: Path | None = None,
    limit: Annotated[int | None, Option(min=1)] = None,
    actions: Annotated[bool, Option("--actions")] = False,
    backend: Backend = "pytorch",
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

    Without --model: compares a run with its base, from recorded dialogues. --config is the config of the run. The table
    also has the policy after SFT and, if the run made them, controls: the base after longer SFT, without RL. The gates
    on the trained policy are checked.

    With --model: runs that model on held-out samples.

    With --model, --bench and --data: runs a public benchmark. If it is interrupted, the same command resumes it.
    """
    one_model: dict[str, object] = {"--n": n, "--greedy": greedy, "--compare": compare, "--out": out}
    one_model |= {"--backend": backend != "pytorch", "--adapter": adapter}
    if bench is not None or data is not None or limit is not None or actions:
        if bench is None or data is None or model is None:
            absent = "--bench" if bench is None else "--data" if data is None else "--model"
            raise BadInput("is missing", where=absent, remedy="give --bench NAME, --data FILE and --model MODEL")
        held_out = {"--config": config != options.QUICKSTART, "--set": overrides, "--tag": tag, **one_model}
        if wrong := [flag for flag, value in held_out.items() if value]:
            remedy = "leave out what is named here; --limit runs fewer rows"
            raise BadInput("not with --bench, only with held-out samples", where=", ".join(wrong), remedy=remedy)
        _run_benchmark(bench, data, model, limit, actions, as_json)
    elif model is None:
        if wrong := [flag for flag, value in one_model.items() if value]:
            raise BadInput("measures one model", where=", ".join(wrong), remedy="add --model FOLDER")
        _compare_run(config, overrides, tag, as_json)
    else:
        if tag:
            raise BadInput("names the report on a training run", where="--tag", remedy="name the report with --out")
        if adapter is not None and backend == "llamacpp":
            remedy = "merge them with askgate export-gguf"
            raise BadInput("a GGUF file takes no adapters", where="--adapter", remedy=remedy)
        if model.startswith(("http://", "https://")):
            remedy = f"add --bench NAME --data FILE, or talk to it: askgate chat {model}"
            raise BadInput("a server is measured on benchmarks only", where=f"--model {model}", remedy=remedy)
        overrides = [*(overrides or ()), *([f"eval.n={n}"] if n is not None else [])]
        path = out or REPORTS / f"eval_{backend}.json"
        _evaluate_model(Path(model), adapter, backend, config, overrides, greedy, compare, path, as_json)


def _run_benchmark(bench: str, data: Path, model: str, limit: int | None, actions: bool, as_json: bool) -> None:
    """Runs a public benchmark and prints its figures."""
    from ..benchmarks.runner import FOLDER, PAGE, run_benchmark

    result, path = run_benchmark(bench, data, model, limit, actions, reporter=show.Terminal())
    show.result(result, as_json, _print_bench, path, path.with_suffix(".rows.jsonl"), FOLDER / PAGE)


def _compare_run(config: Path, overrides: list[str] | None, tag: str, as_json: bool) -> None:
    """Compares a run with its base and checks the gates on the trained policy."""
    from ..config.loader import load_train_config
    from ..training import results

    settings = load_train_config(config, overrides)
    options.say_profile(settings.profile)
    report, (json_path, page) = results.evaluate(settings, parse.tag(tag) or config.stem)
    if not as_json:
        show_results(report)
        show.wrote(page)
    show.finish(report, as_json, json_path)


def _evaluate_model(
    model: Path,
    adapter: Path | None,
    backend: Backend,
    config: Path,
    overrides: list[str],
    greedy: bool,
    compare: Path | None,
    path: Path,
    as_json: bool,
) -> None:
    """Measures one model on held-out samples, and checks it against the report `compare` if given."""
    from ..chat.evaluate import evaluate_model
    from ..config.loader import load_train_config
    from ..core.files import write_json

    settings = load_train_config(config, overrides)
    found, checks = evaluate_model(model, backend, settings, greedy, compare, show.Terminal(), adapter)
    write_json(path, found)
    show.result(found, as_json, _print_evaluation, path)
    failed = [one for one in checks if not one.passed]
    for one in failed:
        show.print_failure(f"{one.name}: {show.measured(one)}, must be {show.limit(one)}", one, show.note)
    if failed:
        raise typer.Exit(1)
    if compare and not as_json:
        show.say(f"every headline figure is within the 95% interval of {compare}")


def _print_bench(result: BenchmarkResult) -> None:
    """The figures of a result, beside those of earlier results with which it can be compared."""
    from ..benchmarks.runner import read_results

    others = [one for one in read_results() if one.is_comparable(result) and one.fingerprint != result.fingerprint][:3]
    rows = []
    for place, measure in enumerate(result.measures):
        one, name = measure.figure, "avg_turns" if measure.name == "turns" else measure.name
        earlier = [show.figure(name, other.measures[place].figure.value) for other in others]
        cells = [show.figure(name, value) for value in (one.value, one.low, one.high)]
        rows.append([measure.name, measure.rule, *earlier, *cells, str(one.n)])
    show.print_table(
        (result.benchmark, "rule", *(one.model for one in (*others, result)), "95% from", "to", "n"), rows, ["rule"]
    )
    show.say(f"{result.n} of {result.of} rows of {result.data} (SHA-256 {result.data_sha256[:16]}); shares in percent")
    if result.judge:
        show.say(f"judge: {result.judge.provider} {result.judge.model}, {result.judge.votes} votes")
    if result.note:
        show.say(f"note: {result.note}")
    if result.not_graded:
        show.say(f"the judge gave no verdict on {result.not_graded} rows")
    if result.example_rows:
        show.say("these rows were written for AskGate in the format of the benchmark: the figures are no score")


def _print_evaluation(found: ModelEvaluation) -> None:
    from ..chat.evaluate import HEADLINE

    rows, labels = [], {**show.FIGURES, **MORE_FIGURES}
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


def show_results(report: TrialReport) -> None:
    """One table: every figure of all seeds together and, where there are several, of each seed."""
    pooled, count = report.pooled, len(report.seeds)
    if pooled.changes is None:
        show.say("no evaluation of base and trained policy", "没有底模与训练后模型的评测")
        return
    title = both(f"{count} seeds", f"{count} 个种子") if count > 1 else _seed(report.seeds[0])
    _print_compared(title, report, pooled, {**show.FIGURES, **MORE_FIGURES}, report.seeds if count > 1 else ())
    show.say_held_out(report.figures["held_out"])
    if not (pooled.over_control or pooled.over_time_control):
        from ..pages.render import LABELS

        show.say(*LABELS["controls"]["missing"])


def show_seeds(report: TrialReport) -> None:
    """A table of the headline figures for each seed."""
    for seed in report.seeds:
        if seed.changes is None:
            english = f"seed {seed.seed}: {seed.steps} steps; no evaluation of base and trained policy"
            show.say(english, f"种子 {seed.seed}：{seed.steps} 步；没有底模与训练后模型的评测")
        else:
            _print_compared(_seed(seed), report, seed, show.FIGURES)
            show.say_held_out(seed.changes["success"].base.n)


def _seed(compared: Compared) -> str:
    return f"{both('seed', '种子')} {compared.seed}"


def _print_compared(
    title: str, report: TrialReport, compared: Compared, labels: Mapping[str, str], seeds: Sequence[Compared] = ()
) -> None:
    """Prints a row per figure, and below it one for each of `seeds`."""
    warm = (report.config.get("warm_start") or {}).get("steps", 0)
    only_sft = both(", all SFT", "，全为 SFT") if warm >= compared.steps else ""
    title += f", {compared.steps} {both('steps', '步')}{only_sft}"
    ends = both("trained", "训练后"), both("change", "变化"), both("95% interval", "95% 区间")
    rows = []
    for name, label in labels.items():
        rows.append(_row(label, name, compared))
        rows += [_row(f"  {_seed(one)}", name, one) for one in seeds if one.changes]
    show.print_table([title, both("base", "底模"), *_other_changes(compared), *ends], rows)


def _row(label: str, name: str, compared: Compared) -> list[str]:
    """Cells of a figure: base, the other policies, trained, change and 95% interval."""
    assert compared.changes is not None
    base, *rest = show.change_cells(name, compared.changes[name])
    others = [show.change_cells(name, changes[name])[0] for changes in _other_changes(compared).values()]
    return [label, base, *others, *rest]


def _other_changes(compared: Compared) -> dict[str, dict[str, Change]]:
    """Changes of the trained policy over other policies than its base, by the label of that policy."""
    sides = {
        both("SFT", "SFT 后"): compared.over_warm_start,
        both("SFT control", "SFT 对照"): compared.over_control,
        both("SFT (time)", "SFT（同时长）"): compared.over_time_control,
    }
    return {label: changes for label, changes in sides.items() if changes}
