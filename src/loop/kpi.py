"""`reports/kpi.json`: the figures that the owner steers by, quality and engineering, each with its source file.

Nothing is measured here that a stage has measured: a figure is read from the report that has it. What was not measured
is null. A KPI may have an alarm, so that the owner sees before a gate is run that most scores come from the cache.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from ..checkpoint.seal import Damaged, verify
from ..checkpoint.store import CheckpointFolder
from ..config.profile import Profile
from ..core.files import CHECKSUM_FOLDER, checksum_path, json_or_none, sha256_file
from ..core.paths import GATED_CHECKPOINTS, LOGS, REPORTS, certified_run, step_file
from ..gates.anti_simulation import WINDOW, hit_rate
from ..scoring.ledger import Scoring, newest_scorings
from ..scoring.stub_checks import is_paid

KPIS = REPORTS / "kpi.json"
SHADOW = ("spearman", "kendall_tau", "top10_overlap", "top20_overlap", "corr_improve_pct")
POLICY = ("success", "overclar_rate", "avg_turns", "need_ask_success")


class Alarm(Struct, frozen=True):
    """The limit of a KPI, and whether the KPI is past it."""

    rule: Literal[">="]
    limit: float
    on: bool


class Kpi(Struct, frozen=True):
    """A figure with its source file. The value is None if nothing was measured."""

    value: float | None
    source: str  # the file that it was read from; empty where there is none
    alarm: Alarm | None = None


def measure(profile: Profile, evaluation: Path | None) -> dict[str, dict[str, Kpi]]:
    """KPIs of the project folder that the process works in. `evaluation`: report of base against trained policy."""
    paths = profile.paths
    scorings = newest_scorings(paths.ledger, WINDOW) if paths.ledger.is_file() else []
    scored = [one.entry for one in scorings if one.entry.overall is not None]
    ledger = str(paths.ledger) if scorings else ""
    shadow = _nested(json_or_none(paths.shadow_report), "figures")
    evidence = (paths.shadow_set, paths.pool, paths.metrics, paths.balanced, paths.weights, paths.config)
    quality = {
        **_diversity(paths.pool_report),
        **{name: Kpi(_number(shadow, name), str(paths.shadow_report) if shadow else "") for name in SHADOW},
        **_policy(evaluation),
        "unstable_share": Kpi(sum(not one.stable for one in scored) / len(scored) if scored else None, ledger),
    }
    engineering = {
        **_service(scorings, ledger, profile.thresholds.cache_hit_lt_round2),
        "log_completeness": Kpi(log_completeness(certified_run() / LOGS), str(LOGS)),
        "checkpoint_completeness": Kpi(checkpoint_completeness(GATED_CHECKPOINTS), str(GATED_CHECKPOINTS)),
        "fingerprint_coverage": Kpi(fingerprint_coverage(evidence), str(CHECKSUM_FOLDER)),
    }
    return {"quality": quality, "engineering": engineering}


def alarms(kpis: Mapping[str, Mapping[str, Kpi]]) -> list[str]:
    """Names of the KPIs that are past their limit."""
    return [name for group in kpis.values() for name, one in group.items() if one.alarm and one.alarm.on]


def _diversity(report: Path) -> dict[str, Kpi]:
    """Figures of the pool, from the report of its gate."""
    overall = _nested(json_or_none(report), "figures", "diversity", "overall")
    source = str(report) if overall else ""
    figures = {name: Kpi(_number(overall, name), source) for name in ("distinct2", "kl3_excess")}
    counts = {name: _nested(overall, name) for name in ("roles", "registers")}
    return figures | {name: Kpi(float(len(one)) if one else None, source) for name, one in counts.items()}


def _policy(report: Path | None) -> dict[str, Kpi]:
    """Figures of base and trained policy over all seeds; success by task and difficulty too."""
    changes = _nested(json_or_none(report), "pooled", "changes") if report else None
    known = changes if isinstance(changes, dict) else {}
    names = [name for name in known if name in POLICY or name.startswith("success_")] or POLICY
    return {
        f"{name}_{side}": Kpi(_number(_nested(known, name, side), "value"), str(report) if known else "")
        for name in names
        for side in ("base", "trained")
    }


def _service(scorings: list[Scoring], source: str, most_hits: float) -> dict[str, Kpi]:
    """Figures of the judge service. From a cache hit rate of `most_hits` on, too few scores come from the judge."""
    calls = [call for one in scorings for call in one.calls]
    sent = [call for call in calls if not call.cache_hit]
    latencies = [call.latency_ms for call in calls if is_paid(call) and not call.batch]
    limited = sum("rate_limited" in call.status for call in sent)
    hits = hit_rate(calls)
    alarm = Alarm(">=", most_hits, hits is not None and hits >= most_hits)
    return {
        "cache_hit_rate": Kpi(hits, source, alarm),
        "429_rate": Kpi(limited / len(sent) if sent else None, source),
        "avg_latency": Kpi(sum(latencies) / len(latencies) / 1000 if latencies else None, source),
    }


def log_completeness(logs: Path) -> float | None:
    """Share of the training steps with both their line of figures and their episodes. None without a run."""
    steps: dict[int, set[int]] = {}
    try:
        for line in (logs / "metrics.jsonl").read_bytes().splitlines():
            figures = msgspec.json.decode(line)
            steps.setdefault(figures["seed"], set()).add(figures["step"])
    except (OSError, msgspec.DecodeError, KeyError, TypeError):
        return None
    expected = sum(max(one) for one in steps.values())
    complete = 0
    for seed, logged in steps.items():
        of_seed = logs / "episodes" / f"seed_{seed}"
        folder = of_seed if of_seed.is_dir() else logs / "episodes"
        complete += sum(step_file(folder, step).is_file() for step in logged)
    return complete / expected if expected else None


def checkpoint_completeness(root: Path) -> float | None:
    """Share of the checkpoints whose every byte is as it was saved."""
    roots = [CheckpointFolder(folder) for folder in (root, *sorted(root.glob("seed_*"))) if folder.is_dir()]
    folders = [each.folder(step) for each in roots for step in each.steps()]
    return sum(_is_undamaged(folder) for folder in folders) / len(folders) if folders else None


def _is_undamaged(folder: Path) -> bool:
    with suppress(Damaged):
        verify(folder)
        return True
    return False


def fingerprint_coverage(files: Iterable[Path], checksums: Path = CHECKSUM_FOLDER) -> float | None:
    """Share of the files in the project folder whose `.sha256` file has their checksum as it is now."""
    present = [path for path in files if path.is_file()]
    return sum(_has_checksum(path, checksums) for path in present) / len(present) if present else None


def _has_checksum(path: Path, checksums: Path) -> bool:
    with suppress(OSError, UnicodeDecodeError):
        return checksum_path(path, checksums).read_text().split() == [sha256_file(path), path.as_posix()]
    return False


def _nested(value: Any, *names: str) -> Any:
    """The value below these keys of nested dicts; None if a key is missing."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _number(value: Any, name: str) -> float | None:
    """The number below a key of a dict; None if there is none."""
    number = _nested(value, name)
    return float(number) if isinstance(number, int | float) and not isinstance(number, bool) else None
