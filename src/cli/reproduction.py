"""Verbs of the reproduction package: package, and reproduce on another machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..core.errors import BadInput
from . import show


def package(
    config: Annotated[
        Path | None,
        typer.Option("--config", help="Training config of the gated run that has ended; left out: the ticket's."),
    ] = None,
    out: Annotated[Path, typer.Option("--out", help="The tarball to write.")] = Path("reports/rc1/package.tgz"),
    key: Annotated[
        Path | None, typer.Option("--key", help="Private elliptic-curve key (PEM) that signs the models.")
    ] = None,
) -> None:
    """Pack a finished run for others. Verifies it first."""
    from ..core.files import sha256_file
    from ..release.package import make_package

    encrypted = key is not None and key.is_file() and b"ENCRYPTED" in key.read_bytes()
    password = typer.prompt("password of the key", hide_input=True, err=True).encode() if encrypted else None
    made = make_package(config or _trained(), out, key, password, show.say)
    show.say(f"wrote {made}")
    show.say(f"  sha256 {sha256_file(made)}")


def _trained() -> Path:
    """The config that was trained behind the ticket that lies here."""
    from ..config.profile import load_profile
    from ..gates.report import TICKET, read_round
    from ..loop.lights import state_file
    from ..loop.stage import State
    from ..loop.stages import last_was_full

    profile = load_profile(read_round(TICKET).profile)
    full = last_was_full(State(state_file(profile.name)))
    return profile.paths.trial if full and profile.paths.trial else profile.paths.config


def reproduce(
    packed: Annotated[Path, typer.Argument(metavar="PACKAGE", help="A tarball that `askgate package` has made.")],
    verify: Annotated[bool, typer.Option("--verify", help="Check every byte, the gates' evidence, signatures.")] = (
        False
    ),
    rerun: Annotated[bool, typer.Option("--rerun", help="Verify, then train again and compare the weights.")] = False,
    public_key: Annotated[
        Path | None, typer.Option("--public_key", help="Public key of the maker, which the models must be signed with.")
    ] = None,
) -> None:
    """Verify a package, or run it again. Names the first file that does not fit."""
    if not (verify or rerun):
        raise BadInput("nothing was asked for", where="reproduce", remedy="add --verify, or --rerun to train again too")
    from ..release.reproduce import reproduce as check

    check(packed, show.say, public_key, rerun)
    show.say(f"VERIFIED: {packed}{', and run again with the same weights' if rerun else ''}")
