"""Attacks on the owner's key: a thief's key in the owner's place."""

from __future__ import annotations

from pathlib import Path

import pytest

from src.config.profile import load_profile
from src.core.errors import BadInput
from src.gates import sign_off as signing
from src.gates.ticket import ENVELOPE, TICKET, read_round
from src.gates.verify import verify
from src.release.reproduce import reproduce
from tests.gates.run_folder import PROFILE, edit_profile
from tests.gates.test_sign_off import make_key


def test_a_thiefs_key_under_the_owners_name_is_named(run: Path) -> None:
    make_key("owner")
    edit_profile(lambda found: found.update(owner_key="owner.pub.pem"))
    known, ticket = signing.owner_key_id(load_profile(PROFILE)), read_round(TICKET)
    thief = make_key("thief")
    Path("owner.pub.pem").write_bytes(Path("thief.pub.pem").read_bytes())
    signing.sign_off(thief, None, TICKET, ticket.profile, ticket.run, ENVELOPE)
    with pytest.raises(BadInput, match="is not the owner's key that the rounds knew"):
        signing.require_signature(load_profile(PROFILE), TICKET, ticket.run, known, ENVELOPE)


def test_a_key_removed_from_the_profile_is_named(run: Path) -> None:
    ticket = read_round(TICKET)
    with pytest.raises(BadInput, match="is not the owner's key that the rounds knew"):
        signing.require_signature(load_profile(PROFILE), TICKET, ticket.run, "0" * 64, ENVELOPE)


def test_a_stranger_with_the_owners_fingerprint_refuses_another_ticket(run: Path) -> None:
    with pytest.raises(BadInput, match="not signed by that key"):
        verify(False, lambda line: None, owner_key="0" * 64)


def test_a_package_of_another_owner_is_refused(packed: Path) -> None:
    with pytest.raises(BadInput, match="not signed by that key"):
        reproduce(packed, lambda line: None, owner_key="0" * 64)
