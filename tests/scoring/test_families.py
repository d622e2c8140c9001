"""Request parameters per provider and model family: what is sent, and what a refusal says."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from src.config.judge_config import ScoringSection
from src.config.loader import DEFAULT, load_config
from src.config.profile import load_profile, scoring_of
from src.core.errors import BadInput
from src.core.files import shipped
from src.scoring.client import JudgeClient
from src.scoring.prompt import request_body, vote_request
from src.scoring.providers import KNOWN_HOSTS, Provider, settings_for
from src.scoring.types import CallFailed, Reply
from tests.scoring.judging import KEY, limits
from tests.scoring.server import JudgeServer
from tests.scoring.workspace import Workspace

SCORE = {"type": "integer", "minimum": 0, "maximum": 10}
DIMENSIONS = ["logic", "clarity", "naturalness", "educational"]
SCHEMA = {
    "type": "json_schema",
    "json_schema": {
        "name": "scores",
        "strict": True,
        "schema": {
            "type": "object",
            "properties": dict.fromkeys(DIMENSIONS, SCORE),
            "required": DIMENSIONS,
            "additionalProperties": False,
        },
    },
}
OBJECT = {"type": "json_object"}
GRAMMAR = (
    'root ::= "{" "\\"logic\\":" n "," "\\"clarity\\":" n "," "\\"naturalness\\":" n "," "\\"educational\\":" n "}"\n'
    'n ::= "10" | [0-9]'
)
OPENAI_REASONING = {"max_completion_tokens": 4096, "reasoning_effort": "low", "response_format": SCHEMA}
NO_THOUGHTS = {"thinking": {"type": "disabled"}}
PARAMETERS: dict[tuple[str, str], dict[str, Any]] = {
    ("deepseek_r1", "deepseek-flash"): {"max_tokens": 8192, "reasoning_effort": "low", "response_format": OBJECT},
    ("gemini", "gemini-3.8-flash"): {"max_tokens": 4096, "reasoning_effort": "low", "response_format": SCHEMA},
    ("openai", "gpt-4.1-mini"): {"temperature": 0.7, "max_tokens": 100, "seed": 1, "response_format": SCHEMA},
    ("openai", "o3"): OPENAI_REASONING,
    ("openai", "gpt-5.6-luna"): OPENAI_REASONING,
    ("openai", "gpt-6-luna"): OPENAI_REASONING,
    ("anthropic", "claude-haiku-4-5"): {"temperature": 0.7, "max_tokens": 2048},
    ("anthropic", "claude-sonnet-4-6"): {"temperature": 0.7, "max_tokens": 2048},
    ("anthropic", "claude-opus-4-7"): {"max_tokens": 4096},
    ("anthropic", "claude-sonnet-5"): {"max_tokens": 4096},
    ("qwen", "qwen-plus"): {
        "temperature": 0.7, "max_completion_tokens": 1024, "response_format": OBJECT, "enable_thinking": False,
    },
    ("zhipu", "glm-4.6"): {"temperature": 0.7, "max_tokens": 1024, "response_format": OBJECT, **NO_THOUGHTS},
    ("zhipu", "glm-5.2"): {"temperature": 0.7, "max_tokens": 1024, "response_format": OBJECT, **NO_THOUGHTS},
    ("zhipu", "glm-5.3"): {
        "temperature": 0.7, "max_tokens": 8192, "reasoning_effort": "low", "response_format": OBJECT,
    },
    ("moonshot", "moonshot-v1-8k"): {"temperature": 0.7, "max_completion_tokens": 1024, "response_format": OBJECT},
    ("moonshot", "kimi-k2.6"): {"max_completion_tokens": 1024, "response_format": OBJECT, **NO_THOUGHTS},
    ("moonshot", "kimi-k3"): {"max_completion_tokens": 16384, "reasoning_effort": "low", "response_format": OBJECT},
    ("openrouter", "openai/gpt-6-luna"): {"temperature": 0.7, "max_tokens": 4096, "response_format": SCHEMA},
    ("vllm", "my-judge"): {"temperature": 0.7, "max_tokens": 2048, "seed": 1, "response_format": SCHEMA},
    ("llama_cpp", "my-judge"): {"temperature": 0.7, "max_tokens": 100, "seed": 1, "grammar": GRAMMAR},
    ("custom", "my-judge"): {"temperature": 0.7, "max_tokens": 2048},
    ("gateway-of-ours", "my-judge"): {"temperature": 0.7, "max_tokens": 2048},
    ("local", ""): {"max_tokens": 1, "logprobs": 10},
    ("local", "mine@0123456789ab"): {"temperature": 0.7, "max_tokens": 100, "seed": 1, "grammar": GRAMMAR},
}  # fmt: skip
"""Recorded request parameters, beside model and messages, as the providers' documents ask for them."""


@pytest.fixture(scope="module")
def scoring() -> ScoringSection:
    return scoring_of(load_profile("rc1"))


def judge(scoring: ScoringSection, name: str, model: str) -> Provider:
    if name == "local" and model:  # named by its file
        return judge(scoring, name, "").model_copy(update={"model": model})
    there = {"SCORER_PROVIDER": name, "SCORER_MODEL": model, "SCORER_API_KEY": KEY}
    row = scoring.providers.get(name)
    if name != "local" and (row is None or row.base_url is None):
        there["SCORER_BASE_URL"] = "http://127.0.0.1:8000/v1"
    return settings_for(there, scoring).provider


@pytest.mark.parametrize(("name", "model"), PARAMETERS)
def test_each_family_gets_its_parameters(scoring: ScoringSection, name: str, model: str) -> None:
    provider = judge(scoring, name, model)
    body = request_body(provider, vote_request(provider, "en", "User: hi", 0), bad_replies=0)
    assert body.pop("model") == provider.model
    asked = body.pop("messages", None) or body.pop("prompt")
    assert body == PARAMETERS[name, model]
    assert "logprobs" in body or "JSON" in asked[0]["content"], "json_object is refused if no message has the word"


def test_the_recorded_requests_cover_every_row(scoring: ScoringSection) -> None:
    used = [(one.row, one.family.models) for one in (judge(scoring, *key) for key in PARAMETERS)]
    rows = [(name, family.models) for name, row in scoring.providers.items() for family in row.families]
    assert [row for row in rows if row not in used] == []


def test_hosts_of_the_table_are_known(scoring: ScoringSection) -> None:
    with_address = {name for name, row in scoring.providers.items() if row.base_url}
    assert set(KNOWN_HOSTS) == with_address | {"local"}


def call(provider: Provider, server: JudgeServer) -> Reply | CallFailed:
    """One call of this provider, with the loopback server in the place of its own."""

    async def main() -> Reply | CallFailed:
        async with JudgeClient(provider.model_copy(update={"base_url": server.url}), None, limits()) as client:
            try:
                return await client.ask(vote_request(provider, "en", "User: hi", 0))
            except CallFailed as failure:
                return failure

    return asyncio.run(main())


@pytest.mark.parametrize("model", ["gpt-6-luna", "gpt-5.6-luna", "o3"])
def test_newer_models_accept_their_row(scoring: ScoringSection, model: str) -> None:
    with JudgeServer(lambda n: "newer_model") as server:
        reply = call(judge(scoring, "openai", model), server)
        assert isinstance(reply, Reply)
        assert reply.tokens_in == server.tokens_in > 0
    assert {"max_tokens", "temperature", "seed"}.isdisjoint(server.bodies[0])


@pytest.mark.parametrize(
    ("row", "parameter"),
    [
        ({"max_tokens": 100, "temperature": 0.7}, "max_tokens"),
        ({"max_completion_tokens": 100, "temperature": 0.7}, "temperature"),
    ],
)
def test_a_refused_parameter_is_named_with_its_row(
    scoring: ScoringSection, row: dict[str, object], parameter: str
) -> None:
    provider = judge(scoring, "openai", "gpt-6-luna")
    family = provider.family.model_validate({"models": ["gpt-6*", "gpt-7*"], **row})
    with JudgeServer(lambda n: "newer_model") as server:
        failure = call(provider.model_copy(update={"families": (family,)}), server)
        assert server.asked == 1, "no second try with other parameters"
    assert isinstance(failure, CallFailed)
    assert failure.trouble == "refused"
    place = "configs/default.yaml: scoring.providers.openai.families, row models: gpt-6*, gpt-7*"
    assert failure.detail.endswith(f"What to do: change {parameter} in {place}")


@pytest.mark.parametrize(
    ("name", "model", "error", "parameter"),
    [
        ("anthropic", "claude-sonnet-4-6", "`temperature` is deprecated for this model.", "temperature"),
        ("moonshot", "moonshot-v1-8k", "invalid temperature: only 1 is allowed for this model", "temperature"),
        ("gemini", "gemini-3.8-flash", 'Unknown name "reasoning_effort": Cannot find field.', "reasoning_effort"),
        ("qwen", "qwen-max", "parameter.enable_thinking must be set to true", "enable_thinking"),
        ("gateway-of-ours", "m", "max_tokens is too large", "max_tokens"),
    ],
)
def test_refusals_of_other_providers_are_understood(
    scoring: ScoringSection, name: str, model: str, error: str, parameter: str
) -> None:
    with JudgeServer(lambda n: "raw_400") as server:
        server.raw = json.dumps({"error": {"message": error}}).encode()
        failure = call(judge(scoring, name, model), server)
    row = name if name in scoring.providers else "custom"
    assert f"change {parameter} in configs/default.yaml: scoring.providers.{row}.families" in str(failure)


def test_another_bad_request_does_not_blame_a_parameter(scoring: ScoringSection) -> None:
    with JudgeServer(lambda n: "raw_400") as server:
        server.raw = b'{"error": {"message": "no model of this name. Use max_completion_tokens_2"}}'
        failure = call(judge(scoring, "openai", "gpt-7"), server)
    assert "What to do: check SCORER_MODEL" in str(failure)


def test_probe_and_ledger_name_the_row_of_a_refused_parameter(workspace: Workspace) -> None:
    with JudgeServer(lambda n: "newer_model") as server:
        workspace.ask(server)
        probed = workspace.run("probe_scorer", "--n", "1", "--provider", "custom", "--live")
        assert workspace.score().code != 0
    remedy = "change max_tokens in configs/default.yaml: scoring.providers.custom.families, row models: *"
    assert probed.code == 2
    assert remedy in " ".join((probed.out + probed.err).split())
    assert all(remedy in one.status and one.billable_tokens == 0 for one in workspace.calls())
    assert {frozenset(body) for body in server.bodies} == {
        frozenset(("model", "messages", "temperature", "max_tokens", "seed", "response_format"))
    }


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"max_completion_tokens": 100}, "either max_tokens or max_completion_tokens"),
        ({"max_tokens": None}, "either max_tokens or max_completion_tokens"),
        ({"temperature": 0.0}, "greater than 0"),
        ({"response_format": "xml"}, "json_schema"),
        ({"response_format": "yes_no"}, "no other parameter"),
        ({"json_schema": True}, "no such setting"),
    ],
)
def test_a_wrong_row_is_refused(tmp_path: Path, change: dict[str, object], what: str) -> None:
    config = yaml.safe_load(shipped(DEFAULT).read_text(encoding="utf-8"))
    config["scoring"]["providers"]["vllm"]["families"][0] |= change
    file = tmp_path / "mine.yaml"
    file.write_text(yaml.safe_dump(config), encoding="utf-8")
    with pytest.raises(BadInput, match=what) as caught:
        load_config(file)
    assert "scoring.providers.vllm.families.0" in caught.value.where


def test_a_model_without_a_row_is_refused(scoring: ScoringSection) -> None:
    row = scoring.providers["openai"].model_copy(update={"families": scoring.providers["openai"].families[:1]})
    changed = scoring.model_copy(update={"providers": {**scoring.providers, "openai": row}})
    with pytest.raises(BadInput, match="no row matches the model gpt-6-luna") as caught:
        judge(changed, "openai", "gpt-6-luna")
    assert caught.value.where == "configs/default.yaml: scoring.providers.openai.families"


@pytest.mark.parametrize("name", ["anthropic", "qwen", "zhipu", "moonshot", "openrouter"])
def test_a_provider_without_a_default_model_asks_for_one(scoring: ScoringSection, name: str) -> None:
    with pytest.raises(BadInput) as caught:
        judge(scoring, name, "")
    assert caught.value.where == "SCORER_MODEL"


def test_extra_parameters_replace_neither_model_nor_messages(scoring: ScoringSection) -> None:
    provider = judge(scoring, "qwen", "qwen-plus")
    family = provider.family.model_copy(update={"extra_body": {"model": "another", "messages": [], "top_k": 1}})
    provider = provider.model_copy(update={"families": (family,)})
    body = request_body(provider, vote_request(provider, "en", "User: hi", 0), bad_replies=0)
    assert (body["model"], len(body["messages"]), body["top_k"]) == ("qwen-plus", 2, 1)
