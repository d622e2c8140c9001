"""The judge is chosen by the config's table and the environment; wrong settings are refused by name."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import yaml

from src.config.judge_config import ScoringSection
from src.config.loader import DEFAULT, load_config
from src.config.profile import load_profile, scoring_of
from src.core.errors import BadInput
from src.core.files import shipped
from src.scoring.providers import ScorerSettings, settings_for

KEY = "sk-planted/0123456789"


@pytest.fixture(scope="module")
def scoring() -> ScoringSection:
    return scoring_of(load_profile("rc1"))


def test_the_shipped_config_holds_what_the_requirements_name(scoring: ScoringSection) -> None:
    assert {"deepseek_r1", "gemini", "openai", "custom", "local"} <= set(scoring.providers)
    assert (scoring.votes.k, scoring.votes.k_max, scoring.votes.variance_max) == (3, 11, 0.08)
    assert (scoring.limits.concurrency_min, scoring.limits.concurrency_max) == (2, 8)
    assert scoring.ttl_days == 14
    assert scoring.ledger == Path("reports/rc1/scoring_ledger.jsonl")


@pytest.mark.parametrize(
    ("key", "value", "what"),
    [
        ("scoring.limits.speed", 3, "no such setting"),
        ("scoring.limits.rps.openai", "fast", "valid number"),
        ("scoring.limits.rps.openai", 0, "greater than 0"),
        ("scoring.limits.tries", 2.5, "valid integer"),
        ("scoring.limits.timeout_s", float("nan"), "finite"),
        ("scoring.votes.k", "3", "valid integer"),
        ("scoring.votes.variance_max", 0.5, "less than or equal to 0.25"),
        ("scoring.providers.openai.key_needed", "yes", "valid boolean"),
        ("scoring.providers.openai.base_url", "https://me:secret@host/v1", "match pattern"),
        ("surprise", 1, "no such setting"),
    ],
)
def test_a_wrong_setting_is_refused_by_its_path(tmp_path: Path, key: str, value: object, what: str) -> None:
    config: Any = yaml.safe_load(shipped(DEFAULT).read_text())
    *parents, last = key.split(".")
    place = config
    for name in parents:
        place = place[name]
    place[last] = value
    file = tmp_path / "mine.yaml"
    file.write_text(yaml.safe_dump(config))
    with pytest.raises(BadInput) as caught:
        load_config(file)
    assert caught.value.where.startswith(f"{file}: {key}")
    assert what in caught.value.what
    assert "secret" not in str(caught.value)


def test_k_max_below_k_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(shipped(DEFAULT).read_text().replace("k_max: 11", "k_max: 1"))
    with pytest.raises(BadInput, match="k_max is 1, below k"):
        load_config(file)


@pytest.mark.parametrize("text", ["scoring: [", "", "- 1"])
def test_a_file_that_is_no_config_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(text)
    with pytest.raises(BadInput, match=r"mine\.yaml"):
        load_config(file)
    with pytest.raises(BadInput, match="No such file"):
        load_config(tmp_path / "absent.yaml")


def test_a_first_run_needs_no_key(scoring: ScoringSection) -> None:
    settings = settings_for({}, scoring)
    assert (settings.provider.name, settings.provider.base_url) == ("local", None)
    assert (settings.key, settings.live, settings.gguf) == (None, False, None)


def test_in_production_the_provider_must_be_named(scoring: ScoringSection) -> None:
    with pytest.raises(BadInput) as caught:
        settings_for({"RUN_MODE": "prod"}, scoring)
    assert caught.value.where == "SCORER_PROVIDER"
    assert settings_for({"RUN_MODE": "prod", "SCORER_PROVIDER": "local"}, scoring).provider.name == "local"


@pytest.mark.parametrize("name", ["deepseek_r1", "gemini", "openai"])
def test_a_provider_that_needs_a_key_is_refused_without_one(scoring: ScoringSection, name: str) -> None:
    with pytest.raises(BadInput) as caught:
        settings_for({"SCORER_PROVIDER": name, "SCORER_API_KEY": " "}, scoring)
    assert caught.value.where == "SCORER_API_KEY"
    settings = settings_for({"SCORER_PROVIDER": name, "SCORER_API_KEY": KEY}, scoring)
    assert settings.provider.base_url == scoring.providers[name].base_url


def test_any_other_server_is_given_by_address_and_model(scoring: ScoringSection) -> None:
    there = {"SCORER_PROVIDER": "custom", "SCORER_BASE_URL": "http://10.0.0.5:8000/v1", "SCORER_MODEL": "qwen"}
    provider = settings_for(there, scoring).provider
    assert (provider.name, provider.base_url, provider.model) == ("custom", "http://10.0.0.5:8000/v1", "qwen")
    assert provider.cost(1000, 1000) is None
    for variable in ("SCORER_BASE_URL", "SCORER_MODEL"):
        with pytest.raises(BadInput) as caught:
            settings_for({**there, variable: ""}, scoring)
        assert caught.value.where == variable


def test_a_misspelt_provider_is_not_taken_for_another(scoring: ScoringSection) -> None:
    with pytest.raises(BadInput, match="opnai is not in the config's table"):
        settings_for({"SCORER_PROVIDER": "opnai", "SCORER_API_KEY": KEY}, scoring)


@pytest.mark.parametrize(
    "url",
    ["ftp://host/v1", "host:8000", "http://host:99999/v1", f"https://{KEY}@host/v1", f"https://host/v1?key={KEY}"],
)
def test_a_bad_address_is_refused_without_showing_it(scoring: ScoringSection, url: str) -> None:
    there = {"SCORER_PROVIDER": "custom", "SCORER_BASE_URL": url, "SCORER_MODEL": "qwen"}
    with pytest.raises(BadInput) as caught:
        settings_for(there, scoring)
    assert caught.value.where == "SCORER_BASE_URL"
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("variable", ["SCORER_BASE_URL", "SCORER_MODEL", "SCORER_PROVIDER"])
@pytest.mark.parametrize("dressed", [KEY, quote(KEY, safe="")])
def test_the_key_is_refused_wherever_it_would_be_written_down(
    scoring: ScoringSection, variable: str, dressed: str
) -> None:
    there = {
        "SCORER_PROVIDER": "custom",
        "SCORER_BASE_URL": "https://gateway.example/v1",
        "SCORER_MODEL": "qwen",
        "SCORER_API_KEY": KEY,
    }
    assert settings_for(there, scoring).key is not None
    with pytest.raises(BadInput) as caught:
        settings_for({**there, variable: there[variable].replace("v1", "") + dressed}, scoring)
    assert caught.value.where == variable
    assert not re.search("planted|0123456789", str(caught.value))


def test_a_key_equal_to_a_provider_name_is_allowed(scoring: ScoringSection) -> None:
    assert settings_for({"SCORER_PROVIDER": "local", "SCORER_API_KEY": "local"}, scoring).provider.name == "local"


def test_changed_weights_are_another_model(scoring: ScoringSection, tmp_path: Path) -> None:
    file = tmp_path / "better-7b.Q4.gguf"
    names = []
    for inside in (b"GGUF one", b"GGUF two", b"GGUF one"):
        file.write_bytes(inside)
        settings = settings_for({"SCORER_GGUF": str(file)}, scoring)
        assert (settings.gguf, settings.provider.server) == (file, "askgate")
        names.append(settings.provider.model)
    assert names[0] == names[2] != names[1]
    assert all(re.fullmatch(r"better-7b\.Q4@[0-9a-f]{12}", name) for name in names)


@pytest.mark.parametrize(
    ("environment", "where"),
    [
        ({"SCORER_PROVIDER": "gemini", "SCORER_API_KEY": KEY, "SCORER_GGUF": "x.gguf"}, "SCORER_GGUF"),
        ({"SCORER_GGUF": "x.gguf", "SCORER_BASE_URL": f"http://{KEY}@127.0.0.1:8080/v1"}, "SCORER_GGUF"),
        ({"SCORER_GGUF": "there/is/none.gguf"}, "SCORER_GGUF"),
        ({"SCORER_MODEL": "gpt-5"}, "SCORER_MODEL"),
    ],
)
def test_the_local_judge_is_the_file_that_it_loads(
    scoring: ScoringSection, environment: dict[str, str], where: str
) -> None:
    with pytest.raises(BadInput) as caught:
        settings_for(environment, scoring)
    assert caught.value.where == where
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("mode", ["", "prod"])
@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8000/v1", "http://api.openai.com/v1", "https://api.openai.com.evil/v1"]
)
@pytest.mark.parametrize("name", ["openai", "OpenAI", "local"])
def test_no_other_server_has_the_name_of_a_provider(scoring: ScoringSection, name: str, url: str, mode: str) -> None:
    stub = {"SCORER_PROVIDER": name, "SCORER_API_KEY": KEY, "SCORER_BASE_URL": url, "SCORER_MODEL": "m"}
    with pytest.raises(BadInput, match=f"the name {name} stands for") as caught:
        settings_for({**stub, "RUN_MODE": mode}, scoring)
    assert caught.value.where == "SCORER_BASE_URL"


def test_a_server_address_under_a_provider_name_is_refused(scoring: ScoringSection) -> None:
    row = scoring.providers["openai"].model_copy(update={"base_url": "http://127.0.0.1:8000/v1"})
    changed = scoring.model_copy(update={"providers": {**scoring.providers, "openai": row}})
    with pytest.raises(
        BadInput, match=r"openai stands for api\.openai\.com:443 .*, not for 127\.0\.0\.1:8000"
    ) as caught:
        settings_for({"SCORER_PROVIDER": "openai", "SCORER_API_KEY": KEY}, changed)
    assert caught.value.where == "configs/default.yaml: scoring.providers.openai.base_url"


def test_in_production_an_own_table_row_keeps_its_server(scoring: ScoringSection) -> None:
    row = scoring.providers["openai"].model_copy(update={"base_url": "https://gateway.example/v1"})
    own = scoring.model_copy(update={"providers": {**scoring.providers, "ours": row}})
    there = {"SCORER_PROVIDER": "ours", "SCORER_API_KEY": KEY, "SCORER_BASE_URL": "http://127.0.0.1:8000/v1"}
    assert settings_for(there, own).provider.name == "ours"
    with pytest.raises(BadInput, match=r"ours stands for gateway\.example:443"):
        settings_for({**there, "RUN_MODE": "prod"}, own)


def test_in_production_own_address_and_custom_are_allowed(
    scoring: ScoringSection,
) -> None:
    there = {"RUN_MODE": "prod", "SCORER_API_KEY": KEY, "SCORER_MODEL": "m"}
    own = {**there, "SCORER_PROVIDER": "openai", "SCORER_BASE_URL": "https://api.openai.com/v1/"}
    assert settings_for(own, scoring).provider.server == "https://api.openai.com/v1"
    other = {**there, "SCORER_PROVIDER": "custom", "SCORER_BASE_URL": "https://gateway.example/v1"}
    assert settings_for(other, scoring).provider.server == "https://gateway.example/v1"


@pytest.mark.parametrize(("value", "live"), [("1", True), ("On", True), ("true", True), ("off", False), ("0", False)])
def test_the_live_switch(scoring: ScoringSection, value: str, live: bool) -> None:
    assert settings_for({"REWARD_LIVE_MODE": value}, scoring).live is live
    with pytest.raises(BadInput, match="neither on nor off"):
        settings_for({"REWARD_LIVE_MODE": f"{value}?"}, scoring)


def test_cost_follows_the_prices(scoring: ScoringSection) -> None:
    provider = settings_for({"SCORER_PROVIDER": "openai", "SCORER_API_KEY": KEY}, scoring).provider
    row = scoring.providers["openai"]
    assert row.usd_in is not None
    assert row.usd_out is not None
    assert provider.cost(1_000_000, 500_000) == pytest.approx(row.usd_in + row.usd_out / 2)


def settings_with_key(scoring: ScoringSection) -> ScorerSettings:
    return settings_for({"SCORER_PROVIDER": "openai", "SCORER_API_KEY": f" {KEY}\n"}, scoring)


def test_the_key_shows_nowhere(scoring: ScoringSection, caplog: pytest.LogCaptureFixture) -> None:
    settings = settings_with_key(scoring)
    assert settings.key is not None
    assert settings.key.get_secret_value() == KEY
    with caplog.at_level(logging.DEBUG):
        logging.getLogger("test").warning("%s %r", settings, settings)
    assert KEY not in f"{settings} {settings!r} {settings.key} {caplog.text}"


def test_a_key_with_a_line_break_is_refused_unseen(scoring: ScoringSection) -> None:
    with pytest.raises(BadInput) as caught:
        settings_for({"SCORER_API_KEY": "sk-one\nsk-two"}, scoring)
    assert "sk-" not in str(caught.value)
