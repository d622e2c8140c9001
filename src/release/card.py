"""Model and dataset cards for the hub, made only from evidence.

A model's evidence is its seal, and the report of its run derived again from the recorded episodes. A file's evidence is
its sidecar and the reports of the data gates that read it. If evidence is missing or a gate is red, the first lines of
the card say so. The texts are in `model_card.jinja` and `data_card.jinja`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import yaml
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from askgate_env.types import Sample

from .. import __version__
from ..checkpoint.seal import COMPLETE, SEAL_FILE, Seal, explain_damage, verify
from ..config.loader import stored_config
from ..config.profile import load_profile
from ..config.train_config import TrainConfig
from ..core.check import Report
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
from ..runtime.progress import Tell
from ..training.verify_results import derived_report, verify_results

LICENCES: dict[str, dict[str, str]] = package_yaml("templates/source_licences.yaml")


@dataclass(frozen=True)
class ModelEvidence:
    """The evidence of a model, as far as there is any."""

    seal: Seal | None = None
    config: TrainConfig | None = None
    report: TrialReport | None = None
    report_path: Path | None = None
    signed: Mapping[str, str] = field(default_factory=dict)
    """Names of those who signed off each amber."""


def model_evidence(folder: Path, tell: Tell) -> ModelEvidence:
    """The evidence of a model folder. Refuses a folder that changed since it was sealed, and figures that do not follow
    from the recorded episodes."""
    if not (folder / COMPLETE).exists():
        return ModelEvidence()
    with explain_damage(folder, "name the folder as the run left it"):
        sealed = verify(folder)
    if "config" not in sealed.marks:
        return ModelEvidence(sealed)
    config = stored_config(sealed.marks["config"] | {"profile": sealed.marks["profile"]}, str(folder))
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
    config, report, adapters = found.config, found.report, (folder / "adapter_config.json").exists()
    base = config.base_model if config else ""
    is_ours = bool(base) and shipped(Path(base)).resolve().is_relative_to(HOME / "models")
    header: dict[str, Any] = {
        "library_name": "peft" if adapters else "transformers",
        "pipeline_tag": "text-generation",
        "tags": ["askgate", "clarifying-questions"],
        **({"base_model": base} if base and not is_ours and may_be_on_hub(Path(base)) else {}),
        **({"license": "apache-2.0"} if is_ours else {}),
    }
    remedies = {one.name: f": {one.remedy}" for one in report.ambers} if report else {}
    return _card(
        "model_card.jinja",
        repo,
        header,
        **vars(found),
        folder=folder,
        failed=[one for one in report.checks if not one.passed] if report else [],
        ambers={**dict.fromkeys(found.signed, ""), **remedies},
        steps=found.seal.step - min(found.seal.step, config.warm_steps) if config and found.seal else 0,
        results=results_table(report.pooled) if report and report.pooled.changes else [],
        seal_path=folder / SEAL_FILE,
        pool=Path(config.seed_pool) if config else None,
        base=base if may_be_on_hub(Path(base)) or not Path(base).is_absolute() else Path(base).name,
    )


def results_table(pooled: Compared) -> list[str]:
    """Base, control and trained policy side by side."""
    assert pooled.changes is not None
    control = pooled.over_control
    rows = ["| | base | control | trained | change | 95% interval |", "|---|---|---|---|---|---|"]
    for name in HEADLINE:
        change, share = pooled.changes[name], is_share(name)
        label = FIGURES.get(name, (name, ""))[0]
        of_control = level(control[name].base.value, share) if control and name in control else "–"
        base, trained = level(change.base.value, share), level(change.trained.value, share)
        interval = "–" if change.low is None else f"{delta(change.low, share)} to {delta(change.high, share)}"
        rows.append(f"| {label} | {base} | {of_control} | {trained} | {delta(change.delta, share)} | {interval} |")
    return rows


def data_card(repo: str, file: Path) -> str:
    """The README.md of a pool or of an exported file. Refuses a file that changed since its sidecar was written."""
    facts, pool_sha256, about = _data_facts(file)
    if isinstance(facts, ExportFacts):
        pool, sources, held_out = Path(facts.pool), facts.sources, facts.splits.get("shadow", 0)
        fingerprints = [("pool that it was exported from", facts.pool_sha256)]
        fingerprints += [(f"episodes `{Path(name).name}`", digest) for name, digest in facts.episodes.items()]
    else:
        pool, sources, held_out = file, _pool_sources(file), facts.n * (facts.split == "shadow")
        fingerprints = [(f"templates `{name}`", digest) for name, digest in facts.templates_sha256.items()]
        fingerprints += [(f"source `{Path(name).name}`", digest) for name, digest in facts.sources_sha256.items()]
    reports = gate_reports({pool_sha256, _parent(pool, pool_sha256)})
    header: dict[str, Any] = {
        "license": sorted({_licence(name)["id"] for name in sources}),
        "language": sorted(facts.langs),
        "tags": ["askgate", "clarifying-questions"],
        "configs": [{"config_name": "default", "data_files": file.name}],
    }
    return _card(
        "data_card.jinja",
        repo,
        header,
        file=file,
        about=about,
        held_out=held_out,
        sources=sources,
        fingerprints=fingerprints,
        reports=reports,
        checked=any(report.stage == "validate_pool" for report in reports),
        failed=[one for report in reports for one in report.checks if not one.passed],
        red=not all(report.passed and all(one.passed for one in report.checks) for report in reports),
    )


def _data_facts(file: Path) -> tuple[ExportFacts | PoolMeta, str, str]:
    """Facts of a file, SHA-256 of its pool, and a description in a sentence or two."""
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
        about = f"{facts.rows:,} {kinds[facts.format]}, exported by AskGate {facts.version}."
        return facts, facts.pool_sha256, about
    if not file.is_file() or not sidecar(file).exists():
        remedy = "name a file that build-rollout-pool or export wrote, with the file that is beside it"
        raise BadInput("is no pool and no exported file with its facts", where=str(file), remedy=remedy)
    meta = read_meta(file)
    verify_sha256(file, meta, Sample)
    needs = sum(sample.needs_clarification for sample in read_records(file, Sample))
    what = f"{meta.n:,} samples of AskGate (`askgate_env.types.Sample`), {needs:,} of which need a clarifying question."
    return meta, meta.sha256, f"{what} Built with seed {meta.seed}, AskGate {__version__}."


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
    wanted = {digest for digest in digests if digest}
    for path in sorted(REPORTS.rglob("*.json")):
        try:
            report = msgspec.json.decode(path.read_bytes(), type=Report)
        except (msgspec.DecodeError, OSError, UnicodeDecodeError):
            continue
        inputs = set(report.evidence.inputs.values())
        if report.stage not in ("validate_pool", "validate_difficulty") or not wanted & inputs:
            continue
        if report.stage not in newest or report.evidence.ended >= newest[report.stage].evidence.ended:
            newest[report.stage] = report
    return [newest[stage] for stage in sorted(newest, reverse=True)]


def _licence(source: str) -> dict[str, str]:
    """The licence of a source; `dir/gsm8k`, files of a dataset, have that of the dataset."""
    return LICENCES.get(source.rsplit("/", 1)[-1], {"licence": "not known", "id": "other", "from": source})


def _card(template: str, repo: str, header: Mapping[str, Any], **facts: Any) -> str:
    """A card: a header in YAML, the name, and the template's text about these facts."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["sha256"] = sha256_file
    environment.globals |= {"licence": _licence, "model_sha256": model_sha256, "pool_sources": _pool_sources}
    front = yaml.safe_dump(dict(header), sort_keys=False, allow_unicode=True)
    name = repo.split("/")[-1]
    return environment.get_template(template).render(front=front, name=name, version=__version__, **facts)
