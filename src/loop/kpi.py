"""`reports/kpi.json`: the figures that the owner steers by, quality and engineering, each with where it comes from.

Nothing is measured here that a stage has measured: a figure is read from the report that holds it. What nobody measured
is null. Alarms are raised on the spot, so that a cache that answers everything is seen before a gate is run.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from ..checkpoint.seal import Damaged, verify
from ..checkpoint.store import CheckpointFolder
from ..config.profile import Profile
from ..core.files import sha256_file
from ..core.paths import GATED_CHECKPOINTS, LOGS, REPORTS, step_file
from ..gates.anti_simulation import WINDOW, hit_rate
from ..runtime.checksums import FOLDER as SUMS
from ..runtime.checksums import checksum_path
from ..scoring.ledger_tail import Scoring, tail
from ..scoring.probe import is_paid

KPIS = REPORTS / "kpi.json"
CACHE_ALARM = 0.95
"""Seed plan, section 3: above this the scores are a cache's, not a judge's."""
SHADOW = ("spearman", "kendall_tau", "top10_overlap", "top20_overlap", "corr_improve_pct")
POLICY = ("success", "overclar_rate", "avg_turns", "need_ask_success")


class Alarm(Struct, frozen=True):
    rule: Literal["<", ">="]
    limit: float
    on: bool


class Kpi(Struct, frozen=True):
    value: float | None
    source: str
    """The file that it was read from; empty where there is none."""
    alarm: Alarm | None = None


def measure(profile: Profile, evaluation: Path | None) -> dict[str, dict[str, Kpi]]:
    """KPIs of the run folder that the process works in. `evaluation`: report of base against trained policy."""
    paths = profile.paths
    return collect(
        pool_report=paths.pool_report,
        shadow_report=paths.shadow_report,
        evaluation=evaluation,
        ledger=paths.ledger,
        logs=LOGS,
        checkpoints=GATED_CHECKPOINTS,
        artifacts=key_files(profile),
    )


def key_files(profile: Profile) -> list[Path]:
    """Files whose checksums are recorded: the training data, the reward weights and the training config."""
    paths = profile.paths
    return [paths.shadow_set, paths.pool, paths.metrics, paths.balanced, paths.weights, paths.config]


def collect(
    *,
    pool_report: Path,
    shadow_report: Path,
    evaluation: Path | None,
    ledger: Path,
    logs: Path,
    checkpoints: Path,
    artifacts: Iterable[Path],
    sums: Path = SUMS,
) -> dict[str, dict[str, Kpi]]:
    """`evaluation` is the report of base against trained policy."""
    scorings = tail(ledger, WINDOW) if ledger.is_file() else []
    quality = {
        **_diversity(pool_report),
        **_agreement(shadow_report),
        **_policy(evaluation),
        "unstable_share": Kpi(_unstable(scorings), str(ledger) if scorings else ""),
    }
    engineering = {
        **_service(scorings, ledger),
        "log_completeness": Kpi(log_completeness(logs), str(logs)),
        "checkpoint_completeness": Kpi(checkpoint_completeness(checkpoints), str(checkpoints)),
        "fingerprint_coverage": Kpi(fingerprint_coverage(artifacts, sums), str(sums)),
    }
    return {"quality": quality, "engineering": engineering}


def alarms(found: Mapping[str, Mapping[str, Kpi]]) -> list[str]:
    return [name for part in found.values() for name, one in part.items() if one.alarm and one.alarm.on]


def _diversity(path: Path) -> dict[str, Kpi]:
    overall = _at(_read(path), "figures", "diversity", "overall")
    source = str(path) if overall else ""
    figures = {name: Kpi(_number(overall, name), source) for name in ("distinct2", "kl3_excess")}
    counts = {name: Kpi(_size(overall, name), source) for name in ("roles", "registers")}
    return {**figures, **counts}


def _agreement(path: Path) -> dict[str, Kpi]:
    figures = _at(_read(path), "figures")
    return {name: Kpi(_number(figures, name), str(path) if figures else "") for name in SHADOW}


def _policy(path: Path | None) -> dict[str, Kpi]:
    """Of all seeds together: success by task and difficulty, and what else is asked of a policy."""
    changes = _at(_read(path), "pooled", "changes") if path else None
    if not isinstance(changes, dict):
        return {f"{name}_{who}": Kpi(None, "") for name in POLICY for who in ("base", "trained")}
    names = [name for name in changes if name in POLICY or name.startswith("success_")]
    return {
        f"{name}_{who}": Kpi(_number(_at(changes, name, who), "value"), str(path))
        for name in names
        for who in ("base", "trained")
    }


def _unstable(scorings: list[Scoring]) -> float | None:
    """Share of the last scorings on whose votes the judge disagreed with itself past the limit."""
    settled = [one.entry for one in scorings if one.entry.overall is not None]
    return sum(not one.stable for one in settled) / len(settled) if settled else None


def _service(scorings: list[Scoring], ledger: Path) -> dict[str, Kpi]:
    calls = [call for one in scorings for call in one.calls]
    sent = [call for call in calls if not call.cache_hit]
    paid = [call.latency_ms for call in calls if is_paid(call)]
    limited = sum("rate_limited" in call.status for call in sent)
    hits = hit_rate(calls)
    source = str(ledger) if scorings else ""
    return {
        "cache_hit_rate": Kpi(hits, source, _alarm(hits, ">=", CACHE_ALARM)),
        "429_rate": Kpi(limited / len(sent) if sent else None, source),
        "avg_latency": Kpi(sum(paid) / len(paid) / 1000 if paid else None, source),
    }


def _alarm(value: float | None, rule: Literal["<", ">="], limit: float) -> Alarm:
    holds = operator.lt if rule == "<" else operator.ge
    return Alarm(rule, limit, value is not None and holds(value, limit))


def log_completeness(logs: Path) -> float | None:
    """Share of the steps taken that have both their line of figures and their episodes. None: no run is on record."""
    steps: dict[int, set[int]] = {}
    try:
        for line in (logs / "metrics.jsonl").read_bytes().splitlines():
            found = msgspec.json.decode(line)
            steps.setdefault(found["seed"], set()).add(found["step"])
    except (OSError, msgspec.DecodeError, KeyError, TypeError):
        return None
    expected = sum(max(one) for one in steps.values())
    whole = 0
    for seed, logged in steps.items():
        of_seed = logs / "episodes" / f"seed_{seed}"
        folder = of_seed if of_seed.is_dir() else logs / "episodes"
        whole += sum(step_file(folder, step).is_file() for step in logged)
    return whole / expected if expected else None


def checkpoint_completeness(root: Path) -> float | None:
    """Share of the checkpoints of which every byte is as it was saved."""
    roots = [CheckpointFolder(folder) for folder in (root, *sorted(root.glob("seed_*"))) if folder.is_dir()]
    folders = [each.folder(step) for each in roots for step in each.steps()]
    return sum(_is_whole(folder) for folder in folders) / len(folders) if folders else None


def _is_whole(folder: Path) -> bool:
    try:
        verify(folder)
    except Damaged:
        return False
    return True


def fingerprint_coverage(artifacts: Iterable[Path], sums: Path) -> float | None:
    """Share of the artifacts that are there whose `.sha256` file names them with their sum as it is now."""
    there = [path for path in artifacts if path.is_file()]
    return sum(_has_sum(path, sums) for path in there) / len(there) if there else None


def _has_sum(path: Path, sums: Path) -> bool:
    try:
        stated = checksum_path(path, sums).read_text().split()
    except (OSError, UnicodeDecodeError):
        return False
    return stated == [sha256_file(path), path.as_posix()]


def _read(path: Path) -> Any:
    try:
        return msgspec.json.decode(path.read_bytes())
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def _at(value: Any, *names: str) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _number(value: Any, name: str) -> float | None:
    found = _at(value, name)
    return float(found) if isinstance(found, int | float) and not isinstance(found, bool) else None


def _size(value: Any, name: str) -> float | None:
    found = _at(value, name)
    return float(len(found)) if isinstance(found, dict) else None
