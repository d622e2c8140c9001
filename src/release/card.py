"""Model and dataset cards for the hub, made from the evidence and from nothing else.

A model's evidence is its seal, and the report of its run derived again from the recorded episodes. A file's evidence is
its sidecar and the reports of the data gates that read it. Where evidence is missing or a gate is red, the card says so
in its first lines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import yaml

from askgate_env.types import Sample

from .. import __version__
from ..checkpoint.seal import COMPLETE, MANIFEST, Seal, explain_damage, verify
from ..config.profile import load_profile
from ..config.train_config import TrainConfig
from ..core.check import Check, Report
from ..core.errors import BadInput
from ..core.files import HOME, package_yaml, read_json, sha256_file, shipped, sidecar
from ..core.jsonl import read_records
from ..core.model_files import may_be_on_hub, model_sha256
from ..core.paths import FINAL_MODEL, REPORTS, evaluations, run_of
from ..data.export import ExportFacts, facts_path, source_name
from ..data.pool.meta import PoolMeta, read_meta, verify_sha256
from ..eval.trial import HEADLINE, Compared, TrialReport
from ..gates.ambers import ambers
from ..gates.verify import verify as verify_evidence
from ..pages.render import FIGURES, delta, is_share, level
from ..training.verify_results import derived_report, verify_results

LICENCES: dict[str, dict[str, str]] = package_yaml("templates/source_licences.yaml")
NO_EVIDENCE = (
    "**No evidence.** This folder is not the final model of a run that AskGate finished and sealed: nothing is known "
    "about how it was trained or what it can do."
)
NO_REPORT = "**Not evaluated.** No report on this model was found in the folder of its run: no figures are known."
NOT_GATED = "**Not gated.** The run was trained without AskGate's gates on data, judge and reward."
NOT_CHECKED = "**Not checked.** No report of `askgate validate-pool` on this data was found: no gate is known to pass."


@dataclass(frozen=True)
class ModelEvidence:
    """What is known about a model."""

    seal: Seal | None = None
    config: TrainConfig | None = None
    report: TrialReport | None = None
    report_path: Path | None = None
    signed: Mapping[str, str] = field(default_factory=dict)
    """Name of the person who signed each amber off."""


def model_evidence(folder: Path, tell: Callable[[str], None]) -> ModelEvidence:
    """The evidence of a model folder. Refuses one that changed since it was sealed, and figures that do not follow from
    the recorded episodes."""
    if not (folder / COMPLETE).exists():
        return ModelEvidence()
    with explain_damage(folder, "name the folder as the run left it"):
        sealed = verify(folder)
    if "config" not in sealed.marks:
        return ModelEvidence(sealed)
    config = TrainConfig.model_validate(sealed.marks["config"] | {"profile": sealed.marks["profile"]})
    finals = [(config.checkpoints(seed) / FINAL_MODEL).resolve() for seed in config.seeds]
    run = run_of(config.checkpoint_root)
    reports = [path for path in evaluations(run) if path.suffix == ".json"] if folder.resolve() in finals else []
    if not reports:
        return ModelEvidence(sealed, config)
    path = max(reports, key=lambda one: one.stat().st_mtime)
    report = derived_report(config, path)
    signed: dict[str, str] = {}
    if report.gated:
        verify_evidence(False, tell)
        verify_results(False, tell, path)
        signed = {one.name: one.signed for one in ambers(load_profile(report.profile))}
    return ModelEvidence(sealed, config, report, path, signed)


def model_card(repo: str, folder: Path, found: ModelEvidence) -> str:
    """The README.md of a model."""
    config, adapters = found.config, (folder / "adapter_config.json").exists()
    base = config.base_model if config else ""
    is_ours = bool(base) and shipped(Path(base)).resolve().is_relative_to(HOME / "models")
    header: dict[str, Any] = {
        "library_name": "peft" if adapters else "transformers",
        "pipeline_tag": "text-generation",
        "tags": ["askgate", "clarifying-questions"],
        **({"base_model": base} if base and not is_ours and may_be_on_hub(Path(base)) else {}),
        **({"license": "apache-2.0"} if is_ours else {}),
    }
    lines = [*model_verdict(found), "", "A policy that asks a clarifying question only when it must."]
    if config and found.seal:
        lines += ["", *training_lines(config, found.seal)]
    if found.report and found.report.pooled.changes:
        held_out, how = found.report.figures["held_out"], "greedy" if config and config.eval.greedy else "sampled"
        lines += ["", "## Results", "", f"On {held_out:,} held-out samples, {how}:", ""]
        lines += [*results_table(found.report.pooled), "", "## Gates on the trained policy", ""]
        lines += check_table(found.report.checks)
    lines += [
        "",
        "## Use",
        "",
        "`SERVING.md` has the commands for vLLM, PEFT and llama.cpp; `system_prompt.json` has the",
    ]
    lines += ["system prompt."] if (folder / "SERVING.md").exists() else ["system prompt. (This folder has neither.)"]
    lines += ["", "## Fingerprints", "", f"- weights, config and tokenizer: SHA-256 `{model_sha256(folder)}`"]
    if found.seal:
        lines.append(f"- seal of the run (`{MANIFEST}`): SHA-256 `{sha256_file(folder / MANIFEST)}`")
    if found.report_path and found.report:
        lines.append(f"- report `{found.report_path.name}`: SHA-256 `{sha256_file(found.report_path)}`")
        if found.report.ticket:
            lines.append(f"- ticket of the gates: SHA-256 `{found.report.ticket}`")
    if config:
        lines += ["", "## Data and licences", "", *_pool_lines(config)]
        shown = base if may_be_on_hub(Path(base)) or not Path(base).is_absolute() else Path(base).name
        lines += ["", f"The licence of the base model, `{shown}`, applies to these weights too."]
    return _card(header, repo, lines)


def model_verdict(found: ModelEvidence) -> list[str]:
    """The first lines of a card: what the gates said."""
    if found.seal is None:
        return [NO_EVIDENCE]
    if found.report is None:
        return [NO_REPORT] if found.seal.marks.get("gated") else [NOT_GATED, "", NO_REPORT]
    report = found.report
    lines = [] if report.gated else [NOT_GATED, ""]
    if failed := [one for one in report.checks if not one.passed]:
        red = f"**Red.** {len(failed)} of {len(report.checks)} gates on the trained policy did not pass:"
        lines += [red, "", *_failures(failed)]
    elif report.gated:
        lines.append("Both rounds of gates passed before training, and so did the gates on the trained policy.")
    else:
        lines.append("The gates on the trained policy passed.")
    told = {**dict.fromkeys(found.signed, ""), **{one.name: f": {one.remedy}" for one in report.ambers}}
    for name, why in told.items():
        who = f"signed off by {found.signed[name]}" if found.signed.get(name) else "not signed off"
        lines += ["", f"**Amber** `{name}` ({who}){why}"]
    return lines


def training_lines(config: TrainConfig, sealed: Seal) -> list[str]:
    """How a model was trained, in one sentence."""
    seeds = f"one of {len(config.seeds)} seeds" if len(config.seeds) > 1 else f"seed {config.seeds[0]}"
    sft = f"SFT on {config.warm_start.tokens:,} tokens, then " if config.warm_start else ""
    steps = sealed.step - min(sealed.step, config.warm_steps)
    told = f"{sft}{config.strategy.upper()}, {steps} steps of {config.batch_size} episodes, {seeds}"
    return [f"Trained with AskGate {__version__}: {told}. The whole config is in `{MANIFEST}`."]


def results_table(pooled: Compared) -> list[str]:
    """Base, control and trained policy side by side."""
    assert pooled.changes is not None
    control = pooled.over_control
    rows = ["| | base | control | trained | change | 95% interval |", "|---|---|---|---|---|---|"]
    for name in HEADLINE:
        one, share = pooled.changes[name], is_share(name)
        beside = level(control[name].base.value, share) if control and name in control else "–"
        label = FIGURES.get(name, (name, ""))[0]
        between = "–" if one.low is None else f"{delta(one.low, share)} to {delta(one.high, share)}"
        values = (level(one.base.value, share), beside, level(one.trained.value, share), delta(one.delta, share))
        rows.append(f"| {label} | {' | '.join(values)} | {between} |")
    return rows


def check_table(checks: Sequence[Check]) -> list[str]:
    rows = ["| gate | measured | must be | |", "|---|---|---|---|"]
    for one in checks:
        verdict = "passed" if one.passed else "**failed**"
        rows.append(f"| `{one.name}` | {_measured(one)} | {one.rule} {one.threshold:g} | {verdict} |")
    return rows


def _measured(one: Check) -> str:
    return "not measured" if one.value is None else f"{one.value:.4g}"


def _failures(checks: Sequence[Check]) -> list[str]:
    return [f"- `{one.name}` is {_measured(one)}, must be {one.rule} {one.threshold:g}" for one in checks]


# Data


def data_card(repo: str, file: Path) -> str:
    """The README.md of a pool or of an exported file. Refuses a file that changed since its sidecar was written."""
    facts, pool_sha256, about = _data_facts(file)
    if isinstance(facts, ExportFacts):
        pool, sources, held_out = Path(facts.pool), facts.sources, facts.splits.get("shadow", 0)
    else:
        pool, sources, held_out = file, _pool_sources(file), facts.n * (facts.split == "shadow")
    reports = gate_reports({pool_sha256, _parent(pool, pool_sha256)})
    verdict = _data_verdict(reports)
    if held_out:
        verdict += ["", f"**Held out.** {held_out} rows are for evaluation: do not train on them."]
    header: dict[str, Any] = {
        "license": sorted({_licence(name)["id"] for name in sources}),
        "language": sorted(facts.langs),
        "tags": ["askgate", "clarifying-questions"],
        "configs": [{"config_name": "default", "data_files": file.name}],
    }
    lines = [*verdict, "", *about, "", "## Sources and licences", "", *licence_table(sources)]
    for report in reports:
        lines += ["", f"## Gates of `askgate {report.stage.replace('_', '-')}`", "", *check_table(report.checks)]
    lines += ["", "## Fingerprints", "", f"- `{file.name}`: SHA-256 `{sha256_file(file)}`"]
    if isinstance(facts, ExportFacts):
        lines.append(f"- pool that it was exported from: SHA-256 `{facts.pool_sha256}`")
        lines += [f"- episodes `{Path(name).name}`: SHA-256 `{digest}`" for name, digest in facts.episodes.items()]
    else:
        lines += [f"- templates `{name}`: SHA-256 `{digest}`" for name, digest in facts.templates_sha256.items()]
        lines += [f"- source `{Path(name).name}`: SHA-256 `{digest}`" for name, digest in facts.sources_sha256.items()]
    return _card(header, repo, lines)


def _data_facts(file: Path) -> tuple[ExportFacts | PoolMeta, str, list[str]]:
    """Facts of a file, SHA-256 of its pool, and what it is in a few lines."""
    if facts_path(file).exists():
        try:
            facts = msgspec.convert(read_json(facts_path(file), "export it again"), ExportFacts)
        except msgspec.ValidationError as error:
            raise BadInput(f"has no facts of an export ({error})", where=str(file), remedy="export it again") from None
        if sha256_file(file) != facts.sha256:
            raise BadInput("has changed since it was exported", where=str(file), remedy="export it again")
        kinds = {
            "messages": "dialogues as chat messages, for SFT",
            "sharegpt": "dialogues in ShareGPT's format, for SFT",
            "dpo": "pairs of a better and a worse turn, for preference training",
        }
        about = [f"{facts.rows:,} {kinds[facts.format]}, exported by AskGate {facts.version}."]
        return facts, facts.pool_sha256, about
    if not file.is_file() or not sidecar(file).exists():
        remedy = "name a file that build-rollout-pool or export wrote, with the file that is beside it"
        raise BadInput("is no pool and no exported file with its facts", where=str(file), remedy=remedy)
    meta = read_meta(file)
    verify_sha256(file, meta, Sample)
    needs = sum(sample.needs_clarification for sample in read_records(file, Sample))
    about = [
        f"{meta.n:,} samples of AskGate (`askgate_env.types.Sample`), {needs:,} of which need a clarifying question. "
        f"Built with seed {meta.seed}, AskGate {__version__}."
    ]
    return meta, meta.sha256, about


def _parent(pool: Path, sha256: str) -> str:
    """SHA-256 of the pool that a pool was chosen from (`difficulty-bucketize`); empty if there is none."""
    if not pool.is_file() or not sidecar(pool).exists():
        return ""
    meta = read_meta(pool)
    return meta.parent_sha256 if meta.sha256 == sha256 else ""


def _pool_sources(pool: Path) -> dict[str, int]:
    return Counter(source_name(sample) for sample in read_records(pool, Sample))


def gate_reports(digests: Iterable[str]) -> list[Report]:
    """The newest report of each data gate that read a file with one of these SHA-256."""
    newest: dict[str, Report] = {}
    wanted = {one for one in digests if one}
    for path in sorted(REPORTS.rglob("*.json")):
        try:
            report = msgspec.json.decode(path.read_bytes(), type=Report)
        except (msgspec.DecodeError, OSError, UnicodeDecodeError):
            continue
        if report.stage not in ("validate_pool", "validate_difficulty") or not wanted & {
            *report.evidence.inputs.values()
        }:
            continue
        if report.stage not in newest or report.evidence.ended >= newest[report.stage].evidence.ended:
            newest[report.stage] = report
    return [newest[stage] for stage in sorted(newest, reverse=True)]


def _data_verdict(reports: Sequence[Report]) -> list[str]:
    if not any(report.stage == "validate_pool" for report in reports):
        return [NOT_CHECKED]
    failed = [one for report in reports for one in report.checks if not one.passed]
    if failed or not all(report.passed for report in reports):
        return [f"**Red.** {len(failed)} gates on this data did not pass:", "", *_failures(failed)]
    return ["All gates on this data passed."]


def licence_table(sources: Mapping[str, int]) -> list[str]:
    rows = ["| source | samples | licence | from |", "|---|---|---|---|"]
    for name, count in sorted(sources.items()):
        one = _licence(name)
        note = ", if these are the official files" if name.startswith("dir/") else ""
        rows.append(f"| {name} | {count:,} | {one['licence']}{note} | {one['from']} |")
    return rows


def _licence(source: str) -> dict[str, str]:
    """The entry of a source; that of its dataset for files of it (`dir/gsm8k`)."""
    return LICENCES.get(source.rsplit("/", 1)[-1], {"licence": "not known", "id": "other", "from": source})


def _pool_lines(config: TrainConfig) -> list[str]:
    """Sources of the pool that a model was trained on."""
    pool = Path(config.seed_pool)
    if not pool.is_file():
        return [f"The training pool, `{pool.name}`, is not here: its sources are not known."]
    return [f"Trained on `{pool.name}`, SHA-256 `{sha256_file(pool)}`.", "", *licence_table(_pool_sources(pool))]


def _card(header: Mapping[str, Any], repo: str, lines: Sequence[str]) -> str:
    front = yaml.safe_dump(dict(header), sort_keys=False, allow_unicode=True)
    return f"---\n{front}---\n\n# {repo.split('/')[-1]}\n\n" + "\n".join(lines) + "\n"
