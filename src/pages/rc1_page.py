"""`reports/rc1/RC1.html`: the RC1 report as one page that opens from disk and loads nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ..eval.metrics import HARD_READING
from ..gates.gate import GATES, Finding
from ..gates.ticket import Round
from ..reward.reward import achieved
from .difficulty import bucket_rows, histograms
from .rc1_report import Rc1
from .render import number, render_page
from .results import curve_series
from .svg import Bar, Weight
from .trial import trial_figures

HEADLINE = ("need_ask_success", "overclar_rate", "success", f"success_{HARD_READING}", "avg_turns")
DIFFICULTY_METRICS = ("score", "clue_overlap", "len_tokens", "tool_hops")
MOST_ROLES = 14


class _Gate(NamedTuple):
    """A gate of a round: its findings, those that failed, and the files that it was measured on."""

    name: str
    findings: list[Finding]
    failed: list[Finding]
    evidence: dict[str, str]


def rc1_page(report: Rc1) -> bytes:
    trial = report.evaluation
    return render_page(
        "rc1_report.html",
        report=report,
        headline=HEADLINE,
        series=curve_series(report.training, report.held_out),
        weights=_weights(report.calibration),
        shadow_rows=_shadow_rows(report.shadow),
        diversity=_diversity(report.pool),
        buckets=bucket_rows(report.difficulty["figures"]) if report.difficulty else [],
        histograms=histograms(report.difficulty["figures"], DIFFICULTY_METRICS) if report.difficulty else {},
        achieved=achieved,
        rounds=[(one, _gates(one)) for one in report.rounds],
        settings=list(_flat(trial.config)) if trial else [],
        digests=_digests(report),
        **trial_figures(trial),
    )


def _weights(calibration: Mapping[str, Any] | None) -> list[Weight]:
    """The largest first."""
    weights = calibration["figures"]["weights"].items() if calibration else ()
    rows = [Weight(name, one["value"], one["low"], one["high"], one["old"]) for name, one in weights]
    return sorted(rows, key=lambda one: -one.value)


def _shadow_rows(shadow: Mapping[str, Any] | None) -> list[tuple[str, ...]]:
    if shadow is None:
        return []
    figures = shadow["figures"]
    parts = {**figures["task"], **figures["difficulty"], "judged live 实评": figures["judged"]}
    names = ("spearman", "top10_overlap", "corr_to_success_old", "corr_to_success_new")
    return [(part, f"{one['episodes']:,}", *(number(one[name]) for name in names)) for part, one in parts.items()]


def _diversity(pool: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if pool is None:
        return None
    measured = pool["figures"]["diversity"]
    scopes = {"all": measured["overall"], **measured["tasks"]}
    roles = _by_share(measured["overall"]["roles"])
    return {
        "distinct2": [Bar(name, one["distinct2"]) for name, one in scopes.items() if one["distinct2"] is not None],
        "least": {one["name"]: one["threshold"] for one in pool["checks"]}.get("distinct2"),
        "kl3": [Bar(name, one["kl3"], one["kl3_floor"]) for name, one in scopes.items() if one["kl3"] is not None],
        "registers": _by_share(measured["overall"]["registers"]),
        "roles": roles[:MOST_ROLES],
        "roles_shown": f"{f'the {MOST_ROLES} most frequent of' if len(roles) > MOST_ROLES else 'all'} {len(roles)}",
    }


def _by_share(shares: Mapping[str, float]) -> list[Bar]:
    return [Bar(name, share) for name, share in sorted(shares.items(), key=lambda item: -item[1])]


def _gates(report: Round) -> list[_Gate]:
    gates = []
    for gate in GATES:
        findings = [one for one in report.findings if one.gate == gate]
        failed = [one for one in findings if not one.passed]
        evidence = {path: digest for one in findings for path, digest in one.evidence.items()}
        if findings:
            gates.append(_Gate(gate, findings, failed, evidence))
    return gates


def _flat(config: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, object]]:
    """Every setting of the training, defaults included, with dotted keys."""
    for key, value in config.items():
        if isinstance(value, Mapping) and value:
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _digests(report: Rc1) -> list[tuple[str, str, str]]:
    rows = [(role, one.path, one.sha256) for role, one in report.prints.items()]
    rows += [("trained model", folder, digest) for folder, digest in report.models.items()]
    rows += [(name, "", value) for name, value in (("run", report.run), ("git commit", report.commit)) if value]
    return rows
