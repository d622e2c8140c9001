"""Whether training may start: the ticket is this run's, is true of the files as they are now, and is for this config.

There is no way around it: whoever trains gated gets an `Admission` from here, and nothing else makes one.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..config.loader import config_fingerprint, load_train_config
from ..config.profile import Profile, load_profile
from ..core.defaults import SEED_POOL_FACTS
from ..core.errors import BadInput
from ..core.files import sha256_file, sidecar
from ..core.model_files import base_sha256
from ..core.types import Record
from .manifest import Manifest
from .prove import Sums, prove, prove_ledger
from .report import REFUSAL, ROUND1, RUN_BOTH, TICKET, Round, read_round
from .signoff import require_signature

FREE_WITH_A_TICKET = ("checkpoint", "device_pref")
"""Settings that `--set` may change in a gated run."""


class Admission(Record, frozen=True):
    profile: str
    ticket_sha256: str
    run: str
    stands_on: dict[str, str]
    """SHA-256 of the config and of what may be trained on, by the key of the config that names it. Whoever trains looks
    again when it has read them."""


def admit(config: Path, overrides: Sequence[str] | None = None) -> Admission:
    """Raises BadInput with the reason. Nothing is written. `overrides`: what `--set` says."""
    if not TICKET.exists():
        told = f"; {REFUSAL} says what to do" if REFUSAL.exists() else ""
        raise BadInput(f"there is no ticket, so no training{told}", where=str(TICKET), remedy=RUN_BOTH)
    manifest = Manifest()
    manifest.refuse_future()
    claimed = read_round(TICKET)
    profile = load_profile(claimed.profile)
    refuse_other_config(claimed, profile, config)
    _refuse_other_settings(config, overrides)
    sums = Sums()
    ticket = prove(TICKET, manifest, sums)
    if ticket.round != "round2" or not ticket.passed:
        raise BadInput("is no ticket: a second round has not passed", where=str(TICKET), remedy=RUN_BOTH)
    first = prove(ROUND1, manifest, sums)
    if sha256_file(ROUND1) != ticket.round1_sha256 or not first.passed or first.profile != ticket.profile:
        raise BadInput("is not the first round that the ticket stands on", where=str(ROUND1), remedy=RUN_BOTH)
    prove_ledger(profile.paths.ledger, [first.ledger, ticket.ledger])
    _refuse_other_model(ticket, config)
    require_signature(TICKET, ticket, profile)
    return Admission(ticket.profile, sha256_file(TICKET), ticket.run, _stands_on(ticket, config, sums))


def _stands_on(ticket: Round, config: Path, sums: Sums) -> dict[str, str]:
    files = {"seed_pool": "balanced", "shadow_set": "shadow_set", "reward.weights": "weights"}
    measured = {key: ticket.files[role].sha256 for key, role in files.items()}
    # By the sidecar samples are made afresh while the run goes on.
    facts = sums.of(str(sidecar(Path(ticket.files["balanced"].path))))
    found = {"config": config_fingerprint(config), "base_model": ticket.base_model, **measured, SEED_POOL_FACTS: facts}
    unstable = load_train_config(config).reward.unstable
    return found | ({"reward.unstable": sums.of(str(unstable))} if unstable else {})


def _refuse_other_model(ticket: Round, config: Path) -> None:
    """Episodes, weights and figures are of one model; nothing is known of another, whatever its folder is called."""
    model = load_train_config(config).base_model
    if base_sha256(model) != ticket.base_model:
        raise BadInput(
            f"{model} is not the model that the rounds measured",
            where=f"{config}: base_model",
            remedy="put the model back as it was, or record its episodes and run both rounds again",
        )


def _refuse_other_settings(config: Path, overrides: Sequence[str] | None) -> None:
    """The ticket answers for the settings in the file, so `--set` may only change what leaves the result as it is."""
    measured, asked = load_train_config(config), load_train_config(config, overrides)
    for key, value in measured:
        if value != getattr(asked, key) and key not in FREE_WITH_A_TICKET:
            raise BadInput(
                f"the ticket was issued for another {key}",
                where=f"--set {key}",
                remedy=f"leave it out, or change {config} and run both rounds again",
            )


def refuse_other_config(ticket: Round, profile: Profile, config: Path) -> None:
    """A ticket is for the config that its profile names; a ticket of a weaker profile is worth nothing elsewhere."""
    paths = profile.paths
    if config.resolve() not in {one.resolve() for one in (paths.config, paths.trial) if one}:
        raise BadInput(
            f"the ticket is of profile {ticket.profile}, which is for {paths.config}",
            where=str(config),
            remedy="run both rounds with the profile that is for this config (`askgate round --profile`)",
        )
    asked = load_train_config(config).profile
    if asked not in ("local", ticket.profile):
        raise BadInput(
            f"this config wants a ticket of profile {asked}, and there is one of {ticket.profile}",
            where=f"{config}: profile",
            remedy=f"run both rounds with --profile {asked}",
        )
