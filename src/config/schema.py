"""What a config file may say. Strict: an unknown key, a wrong type or a value out of range is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

FilePath = Annotated[Path, Field(strict=False)]
"""YAML has no type for paths, so a string must do."""
Url = Annotated[str, Field(pattern=r"^https?://[^/?#@\s]+(/[^?#@\s]*)?$")]
"""No user, password or query: a key has its own place, where it is kept out of messages."""


class Section(BaseModel):
    """A part of the config."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class ProviderSection(Section):
    """A judge and how to speak to it."""

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
    k: int = Field(ge=1, le=101)
    k_max: int = Field(ge=1, le=101)
    variance_max: float = Field(gt=0, le=0.25)
    """Scores lie in 0..1, so no variance is above a quarter."""

    @model_validator(mode="after")
    def _room_for_more(self) -> Self:
        if self.k_max < self.k:
            raise ValueError(f"k_max is {self.k_max}, below k, which is {self.k}")
        return self


class LimitsSection(Section):
    rps: dict[str, Annotated[float, Field(gt=0, le=10_000)] | None]
    concurrency_min: int = Field(ge=1, le=64)
    concurrency_max: int = Field(ge=1, le=64)
    timeout_s: float = Field(gt=0, le=3600)
    tries: int = Field(ge=1, le=20)
    wait_max_s: float = Field(ge=0, le=3600)
    breaker_failures: int = Field(ge=1, le=1000)
    breaker_open_s: float = Field(gt=0, le=3600)

    @model_validator(mode="after")
    def _least_below_most(self) -> Self:
        if self.concurrency_max < self.concurrency_min:
            raise ValueError(f"concurrency_max is {self.concurrency_max}, below concurrency_min")
        return self


class ScoringSection(Section):
    """Live scoring."""

    providers: dict[str, ProviderSection]
    votes: VotesSection
    ttl_days: float = Field(gt=0, le=3650)
    limits: LimitsSection
    cache: FilePath
    ledger: FilePath


class OverclarSection(Section):
    """The over-clarification penalty."""

    alpha: float = Field(default=0.07, ge=0, le=1)
    cap: int = Field(default=3, ge=0, le=64)


class Config(Section):
    """`configs/default.yaml`."""

    simulate: bool = False
    """Nothing here simulates. The key is there because the work order checks that it is false."""
    scoring: ScoringSection
    overclar: OverclarSection = OverclarSection()
