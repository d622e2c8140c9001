"""Settings of `configs/default.yaml`: the judges, and the over-clarification penalty."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from askgate_env.reward import OVERCLAR_ALPHA, OVERCLAR_CAP

from .schema import FilePath, Listed, Section

Url = Annotated[str, Field(pattern=r"^https?://[^/?#@\s]+(/[^?#@\s]*)?$")]
"""A URL without user, password and query. Keys come from the environment, where they are masked in messages."""
TokenLimit = Annotated[int, Field(ge=16, le=65_536)]


class FamilySection(Section):
    """Request parameters of a model family. A parameter that the row does not have is not sent."""

    models: Annotated[tuple[str, ...], Listed] = Field(min_length=1)
    """Patterns of model names, like `gpt-4*`."""
    temperature: float | None = Field(default=None, gt=0, le=2)
    """Above 0: votes must be able to differ, or their variance says nothing."""
    max_tokens: TokenLimit | None = None
    max_completion_tokens: TokenLimit | None = None
    reasoning_effort: str | None = None
    response_format: Literal["json_schema", "json_object", "grammar", "yes_no"] | None = None
    seed: bool = False
    extra_body: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _one_token_limit(self) -> Self:
        if self.response_format == "yes_no":
            if self.model_dump(exclude={"models", "response_format"}, exclude_defaults=True):
                raise ValueError("a row with yes_no has no other parameter: it asks for one token's probabilities")
            return self
        if (self.max_tokens is None) == (self.max_completion_tokens is None):
            raise ValueError("a row has either max_tokens or max_completion_tokens")
        return self


class BatchSection(Section):
    """The provider's Batch API, if it speaks OpenAI's protocol."""

    price: float = Field(gt=0, le=1)
    """Price of a token in a batch, as a share of the usual price."""
    endpoint: str = Field(default="/v1/chat/completions", pattern="^/")
    window: str | None = "24h"
    """`completion_window` of a batch; null: not sent."""


class ProviderSection(Section):
    """A judge: its address, model, prices, Batch API, and the request parameters of its model families."""

    base_url: Url | None
    model: str | None = Field(min_length=1)
    key_needed: bool
    usd_in: float | None = Field(ge=0)
    usd_out: float | None = Field(ge=0)
    batch: BatchSection | None = None
    families: Annotated[tuple[FamilySection, ...], Listed]
    """The first row that matches the model counts."""


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
    """Request and token rates, concurrency, timeouts, retries and the circuit breaker."""

    rps: dict[str, Annotated[float, Field(gt=0, le=10_000)] | None]
    tpm: dict[str, Annotated[int, Field(gt=0)] | None] = Field(default_factory=dict)
    concurrency_min: int = Field(ge=1, le=64)
    concurrency_max: int = Field(ge=1, le=64)
    timeout_s: float = Field(gt=0, le=3600)
    tries: int = Field(ge=1, le=20)
    wait_max_s: float = Field(ge=0, le=3600)
    breaker_failures: int = Field(ge=1, le=1000)
    breaker_open_s: float = Field(gt=0, le=3600)
    batch_poll_s: float = Field(default=60.0, gt=0, le=3600)

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


class OverclarSection(Section):
    """The over-clarification penalty."""

    alpha: float = Field(default=OVERCLAR_ALPHA, ge=0, le=1)
    cap: int = Field(default=OVERCLAR_CAP, ge=0, le=64)


class DefaultConfig(Section):
    """`configs/default.yaml`."""

    simulate: bool = False
    """Always false: nothing is simulated. The original requirements ask for this key."""
    scoring: JudgeSection
    overclar: OverclarSection = OverclarSection()
