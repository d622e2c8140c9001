"""The judge's provider: a row of the config's table, or any server that speaks the OpenAI chat protocol.

One provider is chosen here, once. There is no fallback: if it fails, the call fails.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from urllib.parse import urlsplit

import yaml
from pydantic import SecretStr

from ..config.judge_config import FamilySection, ProviderSection, ScoringSection
from ..core.errors import BadInput
from ..core.files import sha256_file
from ..runtime.secrets import redact
from .local_judge import cache_folder, checked_gguf
from .types import OWN

LOCAL, CUSTOM = "local", "custom"
PROD = "prod"
_WRITTEN = ("SCORER_BASE_URL", "SCORER_MODEL", "SCORER_PROVIDER", "SCORER_GGUF")
"""Variables whose values are stored in cache, ledger and scores, and shown."""
KNOWN_HOSTS: dict[str, list[str]] = yaml.safe_load(Path(__file__).with_name("known_hosts.yaml").read_bytes())
_ON, _OFF = ("1", "true", "on", "yes"), ("", "0", "false", "off", "no")


class Provider(ProviderSection):
    """A judge and how to call it. `base_url` is None only for `local`, until its server runs."""

    name: str
    model: str
    server: str = ""
    """Its address in the records, or `OWN` if AskGate starts it."""
    row: str = CUSTOM
    """Its row in the config's table. Names that the table does not have share the row `custom`, but not its prices."""

    @property
    def family(self) -> FamilySection:
        """The request parameters of its model. Raises BadInput if no row of the table matches."""
        for family in self.families:
            if any(fnmatchcase(self.model, pattern) for pattern in family.models):
                return family
        raise BadInput(
            f"no row matches the model {self.model}",
            where=f"configs/default.yaml: scoring.providers.{self.row}.families",
            remedy='add a row for it; models: ["*"] matches all',
        )

    def cost(self, tokens_in: int, tokens_out: int) -> float | None:
        """Cost in US dollars; None if the prices are not known."""
        if self.usd_in is None or self.usd_out is None:
            return None
        return (tokens_in * self.usd_in + tokens_out * self.usd_out) / 1e6


@dataclass(frozen=True)
class ScorerSettings:
    """Scoring settings of config and environment. The key prints as asterisks."""

    provider: Provider
    key: SecretStr | None
    gguf: Path | None
    live: bool
    scoring: ScoringSection
    weights_folder: Path
    """Folder of downloaded weights of the local judge."""


def settings_for(environment: Mapping[str, str], scoring: ScoringSection, provider: str = "") -> ScorerSettings:
    """Settings by SCORER_*, RUN_MODE and REWARD_LIVE_MODE. BadInput names the variable and never shows a key.

    `provider` is named by a flag; empty: the environment decides. In prod the two must agree.
    """
    given = {name: environment.get(name, "").strip() for name in (*_WRITTEN, "SCORER_API_KEY", "RUN_MODE")}
    named, key = given["SCORER_PROVIDER"], given["SCORER_API_KEY"]
    if provider and named and provider != named and given["RUN_MODE"] == PROD:
        raise BadInput(
            f"{provider} is not the provider that RUN_MODE=prod was given ({named})",
            where="--provider",
            remedy="leave the flag out, or change SCORER_PROVIDER",
        )
    given["SCORER_PROVIDER"] = provider or named
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise BadInput("holds characters that no key has", where="SCORER_API_KEY", remedy="copy the key once more")
    for name in _WRITTEN:
        if key and given[name] not in scoring.providers and redact(given[name], [key]) != given[name]:
            raise BadInput(
                "holds what SCORER_API_KEY holds, and this is no place for a key: it is written into files",
                where=name,
                remedy="take the key out of it, or unset SCORER_API_KEY where the server wants none",
            )
    chosen = _provider(given, scoring)
    if chosen.key_needed and not key:
        raise BadInput(f"provider {chosen.name} needs a key", where="SCORER_API_KEY", remedy="set it to your key")
    return ScorerSettings(
        provider=chosen,
        key=SecretStr(key) if key else None,
        gguf=Path(given["SCORER_GGUF"]) if given["SCORER_GGUF"] else None,
        live=live_mode(environment),
        scoring=scoring,
        weights_folder=cache_folder(environment),
    )


def _provider(given: Mapping[str, str], scoring: ScoringSection) -> Provider:
    name, gguf, is_prod = given["SCORER_PROVIDER"], given["SCORER_GGUF"], given["RUN_MODE"] == PROD
    base_url, model = given["SCORER_BASE_URL"] or None, given["SCORER_MODEL"] or None
    if not name:
        if is_prod:
            raise BadInput(
                "RUN_MODE=prod wants the provider named",
                where="SCORER_PROVIDER",
                remedy=f"set it to one of {', '.join(dict.fromkeys([*scoring.providers, CUSTOM]))}",
            )
        name = LOCAL
    row_name = name if name in scoring.providers else CUSTOM
    row = scoring.providers.get(row_name)
    if row is None or (row_name != name and not (base_url and model)):
        raise BadInput(
            f"provider {name} is not in the config's table ({', '.join(scoring.providers)}), so say where it is",
            where="SCORER_PROVIDER" if base_url and model else "SCORER_MODEL" if base_url else "SCORER_BASE_URL",
            remedy="set SCORER_BASE_URL and SCORER_MODEL and keep the row custom, or correct SCORER_PROVIDER",
        )
    where = "SCORER_BASE_URL" if base_url else f"configs/default.yaml: scoring.providers.{name}.base_url"
    base_url = base_url or row.base_url
    if base_url is None and name != LOCAL:
        raise BadInput(f"provider {name} has no address", where="SCORER_BASE_URL", remedy="set it to the server's")
    if gguf and base_url:
        who = "a server that has an address" if name == LOCAL else f"the provider {name}"
        raise BadInput(
            f"is for the judge that AskGate starts itself, not for {who}",
            where="SCORER_GGUF",
            remedy="unset it, or set SCORER_PROVIDER=local without SCORER_BASE_URL",
        )
    if base_url is None:
        model = _model_of_file(gguf, model)
    model = model or row.model
    if model is None:
        raise BadInput(f"provider {name} has no model", where="SCORER_MODEL", remedy="set it to the model's name")
    server = (base_url or OWN).rstrip("/")
    changes = {"name": name, "server": server, "base_url": base_url, "model": model, "row": row_name}
    if row_name != name:
        changes |= {"usd_in": None, "usd_out": None}  # what `custom` costs says nothing about another server
    try:
        chosen, host = Provider.model_validate({**row.model_dump(), **changes}), address(server)
    except ValueError:  # also a port that is no number
        raise BadInput(
            "not an http or https address without user, password and query",
            where="SCORER_BASE_URL",
            remedy="write it like https://host/v1; a key goes into SCORER_API_KEY",
        ) from None
    in_table = [address(row.base_url)] if is_prod and row.base_url else [host]
    known = KNOWN_HOSTS.get(name.casefold(), in_table)
    if host not in known:
        raise BadInput(
            f"the name {name} stands for {' or '.join(known)}, not for {host}",
            where=where,
            remedy="take the address out, or set SCORER_PROVIDER=custom with SCORER_BASE_URL and SCORER_MODEL",
        )
    _ = chosen.family  # raises if the model has no request parameters
    return chosen


def address(server: str) -> str:
    """Host and port of a server, as ledger and ticket name it. Its path stays out: it may hold a secret.

    >>> address("https://API.openai.com/v1"), address("http://[::1]:8000/v1"), address(OWN)
    ('api.openai.com:443', '[::1]:8000', 'askgate')
    """
    parts = urlsplit(server)
    if not parts.hostname:
        return server
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{host}:{parts.port or (443 if parts.scheme == 'https' else 80)}"


def may_have_server(name: str, server: str) -> bool:
    """Whether a provider of this name may be at this server. A name that is not in KNOWN_HOSTS may be at any.

    >>> [may_have_server(name, "127.0.0.1:8000") for name in ("openai", "OpenAI", "custom")]
    [False, False, True]
    """
    return address(server) in KNOWN_HOSTS.get(name.casefold(), [address(server)])


def _model_of_file(gguf: str, named: str | None) -> str | None:
    """The model name of a GGUF file, with its checksum: another file is another judge. None: the config's model."""
    if named:
        raise BadInput(
            f"the judge that AskGate starts is the file that it loads, not {named}",
            where="SCORER_MODEL",
            remedy="unset it, or set SCORER_GGUF to that model's file",
        )
    if not gguf:
        return None
    return f"{Path(gguf).stem}@{sha256_file(checked_gguf(Path(gguf)))[:12]}"


def live_mode(environment: Mapping[str, str]) -> bool:
    """Whether judges are called at all (`REWARD_LIVE_MODE`)."""
    value = environment.get("REWARD_LIVE_MODE", "").strip().lower()
    if value not in _ON + _OFF:
        raise BadInput(f"is neither on nor off: {value[:20]}", where="REWARD_LIVE_MODE", remedy="set it to on or off")
    return value in _ON
