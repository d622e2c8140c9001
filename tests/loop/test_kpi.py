"""KPIs come from the stages' reports; unmeasured ones are null; a cache that answers everything raises an alarm."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from src.checkpoint.seal import seal
from src.config.profile import load_profile
from src.core.files import write_checksums
from src.loop.kpi import Kpi, alarms, checkpoint_completeness, fingerprint_coverage, log_completeness, measure
from src.scoring.ledger import Ledger
from src.scoring.types import CallEntry, Entry, ScoringEntry

AT = "2026-11-15T00:00:00+00:00"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def vote(scoring: str, cache_hit: bool, status: str = "ok") -> CallEntry:
    scores = {"clarity": 0.5} if status == "ok" else {}
    return CallEntry(scoring, "k", "r", "local", "m", "2", 10, 500.0, cache_hit, status, scores, True, AT)


def scoring(name: str, votes: int, stable: bool = True) -> ScoringEntry:
    return ScoringEntry(name, f"s-{name}", "local", "m", votes, 0.5, {"clarity": 0.5}, 0.0, stable, 0, 10, True, "", AT)


def write_ledger(entries: list[Entry]) -> Path:
    path = Path("ledger.jsonl")
    Ledger(path).append(entries)
    return path


def measured(ledger: Path = Path("none.jsonl"), evaluation: Path | None = None) -> dict[str, dict[str, Kpi]]:
    profile = load_profile("quickstart")
    files = {"pool_report": Path("pool_report.json"), "shadow_report": Path("shadow.json"), "ledger": ledger}
    paths = profile.paths.model_copy(update=files)
    return measure(profile.model_copy(update={"paths": paths}), evaluation)


def values(kpis: dict[str, Kpi]) -> dict[str, float | None]:
    return {name: one.value for name, one in kpis.items()}


def test_unmeasured_kpis_are_null() -> None:
    found = measured()
    assert set(values(found["quality"]).values()) == {None}
    assert set(values(found["engineering"]).values()) == {None}
    assert alarms(found) == []


def test_quality_kpis_come_from_the_reports() -> None:
    overall = {"distinct2": 0.77, "kl3_excess": 0.4, "roles": {"a": 0.5, "b": 0.5}, "registers": {"x": 1.0}}
    Path("pool_report.json").write_text(json.dumps({"figures": {"diversity": {"overall": overall}}}))
    Path("shadow.json").write_text(json.dumps({"figures": {"spearman": 0.8, "top10_overlap": 0.75}}))
    change = {"base": {"value": 0.2}, "trained": {"value": 0.4}}
    Path("eval.json").write_text(json.dumps({"pooled": {"changes": {"success": change, "success_hard": change}}}))
    found = values(measured(evaluation=Path("eval.json"))["quality"])
    assert (found["distinct2"], found["roles"], found["spearman"], found["top10_overlap"]) == (0.77, 2, 0.8, 0.75)
    assert (found["success_base"], found["success_trained"], found["success_hard_trained"]) == (0.2, 0.4, 0.4)


def test_service_kpis_come_from_the_ledger() -> None:
    lines: list[Entry] = [vote("a", False), vote("a", True), vote("a", False, "failed: rate_limited: slow down")]
    found = measured(write_ledger([*lines, scoring("a", 2), vote("b", False), scoring("b", 1, stable=False)]))
    engineering = values(found["engineering"])
    assert engineering["cache_hit_rate"] == pytest.approx(1 / 3)
    assert engineering["429_rate"] == pytest.approx(1 / 3)
    assert engineering["avg_latency"] == pytest.approx(0.5)
    assert found["quality"]["unstable_share"].value == 0.5
    assert alarms(found) == []


def test_a_cache_that_answers_everything_raises_an_alarm() -> None:
    found = measured(write_ledger([*(vote("a", True) for _ in range(20)), scoring("a", 20)]))
    assert alarms(found) == ["cache_hit_rate"]


def test_a_step_without_episodes_lowers_log_completeness() -> None:
    logs = Path("logs/episodes")
    logs.mkdir(parents=True)
    Path("logs/metrics.jsonl").write_text("".join(f'{{"seed": 1, "step": {step}}}\n' for step in (1, 2, 4)))
    for step in (1, 2):
        (logs / f"step_{step:05d}.jsonl").write_text("")
    assert log_completeness(Path("logs")) == 0.5


def test_a_damaged_checkpoint_lowers_completeness() -> None:
    for step in (10, 20):
        folder = Path(f"checkpoints/step_{step:05d}")
        folder.mkdir(parents=True)
        (folder / "state.json").write_text("{}")
        seal(folder, step, {})
    assert checkpoint_completeness(Path("checkpoints")) == 1.0
    Path("checkpoints/step_00010/state.json").write_text("{]")
    assert checkpoint_completeness(Path("checkpoints")) == 0.5


def test_a_stale_fingerprint_does_not_count() -> None:
    Path("data").mkdir()
    files = [Path("data/a.jsonl"), Path("data/b.jsonl")]
    for file in files:
        file.write_text(file.name)
    write_checksums(files)
    assert fingerprint_coverage(files, Path("reports/rc1")) == 1.0
    files[1].write_text("changed")
    assert fingerprint_coverage(files, Path("reports/rc1")) == 0.5
    assert fingerprint_coverage([Path("data/none")], Path("reports/rc1")) is None
