"""Limits, providers and asks for the tests of the network side."""

from __future__ import annotations

from pydantic import SecretStr

from src.config.judge_config import FamilySection, LimitsSection
from src.scoring.client import JudgeClient
from src.scoring.prompt import DIMENSIONS, PROMPT_VERSION
from src.scoring.providers import Provider
from src.scoring.types import VoteRequest
from tests.scoring.server import JudgeServer
from tests.scoring.virtual_clock import ManualClock

KEY = "sk-planted/0123456789"


def limits(**changes: object) -> LimitsSection:
    ordinary: dict[str, object] = {
        "rps": {"custom": 2000.0},
        "concurrency_min": 2,
        "concurrency_max": 8,
        "timeout_s": 5.0,
        "tries": 4,
        "wait_max_s": 5.0,
        "breaker_failures": 1000,
        "breaker_open_s": 30.0,
    }
    return LimitsSection.model_validate({**ordinary, **changes})


def provider(url: str, **changes: object) -> Provider:
    """A server that accepts everything. `changes`: request parameters."""
    row = {"temperature": 0.7, "max_tokens": 100, "response_format": "json_schema", "seed": True, **changes}
    family = FamilySection.model_validate({"models": ["*"], **row})
    return Provider(
        name="custom", base_url=url, model="tiny", key_needed=False, usd_in=1.0, usd_out=2.0, families=(family,)
    )


def client(server: JudgeServer, clock: ManualClock | None = None, **changes: object) -> JudgeClient:
    key = SecretStr(KEY)
    if clock is None:
        return JudgeClient(provider(server.url), key, limits(**changes))
    return JudgeClient(provider(server.url), key, limits(**changes), clock=clock, sleep=clock.sleep)


def ask(text: str = "User: hello", vote: int = 0) -> VoteRequest:
    return VoteRequest("custom", "tiny", PROMPT_VERSION, DIMENSIONS, "en", text, vote)
