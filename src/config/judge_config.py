"""Settings of `configs/default.yaml`: the judges, and the price of a needless ask."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator

from ..core.defaults import OVERCLAR_ALPHA, OVERCLAR_CAP
from .schema import FilePath, Section

Url = Annotated[str, Field(pattern=r"^https?://[^/?#@\s]+(/[^?#@\s]*)?$")]
"""A URL without user, password and query. Keys come from the environment, where they are masked in messages."""


class ProviderSection(Section):
    """A judge: its address, model, features and prices."""

    base_url: Url | None
    model: str = Field(min_length=1)
    key_needed: bool
    json_schema: bool
    seed: bool
    max_tokens: int = Field(ge=16, le=65_536)
    usd_in: float | None = Field(ge=0)
    usd_out: float | None = Field(ge=0)
    grammar: bool = False


class VotesSection(Section):
    """Number of votes per sample: `k`, and up to `k_max` while their variance is above `variance_max`."""

    k: int = Field(ge=1, le=101)
    k_max: int = Field(ge=1, le=101)
    variance_max: float = Field(gt=0, le=0.25)
    """Scores are in 0..1, so no variance exceeds 0.25."""

    @model_validator(mode="after")
    def _k_max_at_least_k(self) -> Self:
        if self.k_max < self.k:
            raise ValueError(f"k_max is {self.k_max}, below k, which is {self.k}")
        return self


class LimitsSection(Section):
    """Request rate, concurrency, timeouts, retries and the circuit breaker."""

    rps: dict[str, Annotated[float, Field(gt=0, le=10_000)] | None]
    concurrency_min: int = Field(ge=1, le=64)
    concurrency_max: int = Field(ge=1, le=64)
    timeout_s: float = Field(gt=0, le=3600)
    tries: int = Field(ge=1, le=20)
    wait_max_s: float = Field(ge=0, le=3600)
    breaker_failures: int = Field(ge=1, le=1000)
    breaker_open_s: float = Field(gt=0, le=3600)

    @model_validator(mode="after")
    def _max_at_least_min(self) -> Self:
        if self.concurrency_max < self.concurrency_min:
            raise ValueError(f"concurrency_max is {self.concurrency_max}, below concurrency_min")
        return self


class JudgeSection(Section):
    """Judges, votes, limits and cache of live scoring."""

    providers: dict[str, ProviderSection]
    votes: VotesSection
    ttl_days: float = Field(gt=0, le=3650)
    limits: LimitsSection
    cache: FilePath


class ScoringSection(JudgeSection):
    """Live scoring with the ledger that it writes (`profile.scoring_of` and `scoring_for`)."""

    ledger: FilePath


_THRESHOLDS = "configs/gates/PROFILE.yaml: thresholds"


class OverclarSection(Section):
    """The over-clarification penalty."""

    alpha: float = Field(default=OVERCLAR_ALPHA, ge=0, le=1)
    cap: int = Field(default=OVERCLAR_CAP, ge=0, le=64)


class DefaultConfig(Section):
    """`configs/default.yaml`."""

    moved: ClassVar[Mapping[str, str]] = {
        "scoring.ledger": "configs/gates/PROFILE.yaml: paths.ledger",
        **dict.fromkeys(("shadow", "calibration", "trial"), _THRESHOLDS),
        "overclar.overclar_change_pct_max": f"{_THRESHOLDS}.overclar_change_pct_max",
        "overclar.turns_change_max": f"{_THRESHOLDS}.turns_change_max",
        "overclar.success_drop_points_max": f"{_THRESHOLDS}.success_drop_points_max",
    }

    simulate: bool = False
    """Always false: nothing is simulated. The work order checks this key."""
    scoring: JudgeSection
    overclar: OverclarSection = OverclarSection()
