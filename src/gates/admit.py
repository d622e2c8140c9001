"""Whether training may start: the ticket is this run's, is true of the files as they are now, and is for this config.

There is no way around it: whoever trains gated gets an `Admission` from here, and nothing else makes one.
"""

from __future__ import annotations

from pathlib import Path

from ..config.loader import load_train_config
from ..core.errors import BadInput
from ..core.files import sha256_file
from ..core.types import Record
from .manifest import Manifest
from .profile import Profile, load_profile
from .prove import Sums, prove, prove_ledger
from .report import REFUSAL, ROUND1, RUN_BOTH, TICKET, Round, read_round
from .signoff import require_signature


class Admission(Record, frozen=True):
    profile: str
    ticket_sha256: str
    run: str


def admit(config: Path) -> Admission:
    """Raises BadInput with the reason. Nothing is written."""
    if not TICKET.exists():
        told = f"; {REFUSAL} says what to do" if REFUSAL.exists() else ""
        raise BadInput(f"there is no ticket, so no training{told}", where=str(TICKET), remedy=RUN_BOTH)
    manifest = Manifest()
    manifest.refuse_future()
    claimed = read_round(TICKET)
    profile = load_profile(claimed.profile)
    refuse_other_config(claimed, profile, config)
    sums = Sums()
    ticket = prove(TICKET, manifest, sums)
    if ticket.round != "round2" or not ticket.passed:
        raise BadInput("is no ticket: a second round has not passed", where=str(TICKET), remedy=RUN_BOTH)
    first = prove(ROUND1, manifest, sums)
    if sha256_file(ROUND1) != ticket.round1_sha256 or not first.passed or first.profile != ticket.profile:
        raise BadInput("is not the first round that the ticket stands on", where=str(ROUND1), remedy=RUN_BOTH)
    prove_ledger(profile.paths.ledger, [first.ledger, ticket.ledger])
    require_signature(TICKET, ticket, profile)
    return Admission(ticket.profile, sha256_file(TICKET), ticket.run)


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
