"""Everything a scoring run needs, opened in the right order and closed again: cache, ledger, judge."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from msgspec.structs import replace

from ..config.schema import LimitsSection, ScoringSection, VotesSection
from ..core.errors import BadInput
from .accounts import recover
from .client import JudgeClient
from .gguf import judge_weights
from .judge import Judge
from .ledger import Ledger
from .local_server import serving
from .providers import PROD, Provider, ScorerSettings, settings_from_env
from .store import Store
from .types import OWN

DAY_S = 86_400.0
OWN_CALLS = 1
"""A second one would take the slot between two votes on a dialogue, which is then read anew: a sixth slower."""
OWN_TIMEOUT_S = 600.0


@dataclass(frozen=True)
class Session:
    settings: ScorerSettings
    scoring: ScoringSection
    provider: Provider
    """With the address of the server that answers."""
    store: Store
    ledger: Ledger

    def client(self) -> JudgeClient:
        """The server that AskGate starts itself is told no key: it wants none."""
        if self.provider.server == OWN:
            return JudgeClient(self.provider, None, patient(self.scoring.limits))
        return JudgeClient(self.provider, self.settings.key, self.scoring.limits)

    def judge(self, client: JudgeClient, votes: VotesSection) -> Judge:
        return Judge(client, self.store, self.ledger, votes, self.scoring.limits.tries)


def patient(limits: LimitsSection) -> LimitsSection:
    """For AskGate's own server, which answers one call after the other, at whatever speed the machine has."""
    return limits.model_copy(
        update={
            "concurrency_min": min(limits.concurrency_min, OWN_CALLS),
            "concurrency_max": min(limits.concurrency_max, OWN_CALLS),
            "timeout_s": max(limits.timeout_s, OWN_TIMEOUT_S),
        }
    )


def settings_for(environment: Mapping[str, str], scoring: ScoringSection, provider: str) -> ScorerSettings:
    """`provider` is what a flag says; empty: the environment decides. In prod the two may not disagree."""
    named = environment.get("SCORER_PROVIDER", "").strip()
    if provider and named and provider != named and environment.get("RUN_MODE", "").strip() == PROD:
        raise BadInput(
            f"{provider} is not the provider that RUN_MODE=prod was given ({named})",
            where="--provider",
            remedy="leave the flag out, or change SCORER_PROVIDER",
        )
    return settings_from_env({**environment, "SCORER_PROVIDER": provider or named}, scoring)


@contextmanager
def open_session(
    settings: ScorerSettings, scoring: ScoringSection, environment: Mapping[str, str], tell: Callable[[str], None]
) -> Iterator[Session]:
    """What a crash left open is settled first. The local judge runs for as long as the session."""
    with ExitStack() as stack:
        store = stack.enter_context(Store(scoring.cache, ttl=scoring.ttl_days * DAY_S))
        ledger = Ledger(scoring.ledger)
        if recovered := recover(store, ledger):
            tell(f"{recovered} paid calls of an earlier run had no ledger line; they have one now")
        provider = settings.provider
        if provider.base_url is None:
            weights = judge_weights(settings.gguf, environment, tell)
            provider = replace(provider, base_url=stack.enter_context(serving(weights)))
        yield Session(settings, scoring, provider, store, ledger)
