"""Poisons for round 1, which round 2 depends on."""

from __future__ import annotations

from pathlib import Path

import msgspec
import yaml
from msgspec.structs import replace

from src.config.loader import read_yaml
from src.core.files import fingerprint, write_json
from src.gates.gate import Finding
from src.gates.manifest import Manifest
from src.gates.rounds import round1_findings
from src.gates.ticket import ROUND1, read_round
from tests.gates.run_folder import current_context

from .table import poison


def failed_round1() -> set[str]:
    found: list[Finding] = round1_findings(current_context().profile, Manifest())
    return {one.name for one in found if not one.passed}


@poison("round1/measured")
def test_a_second_round_without_a_first(run: Path) -> None:
    assert failed_round1() == set()
    ROUND1.unlink()
    assert failed_round1() == {"measured"}


@poison("round1/measured")
def test_a_first_round_on_other_files(run: Path) -> None:
    with open(current_context().profile.paths.weights, "a", encoding="utf-8") as handle:
        handle.write("\n")
    assert failed_round1() == {"measured"}


@poison("round1/round1_passed", "round1/round1_of_this_profile")
def test_a_first_round_that_failed_and_one_of_another_profile(run: Path) -> None:
    first = read_round(ROUND1)
    spoilt = replace(first.findings[0], value=None, passed=False)
    write_json(ROUND1, replace(first, passed=False, findings=[spoilt, *first.findings[1:]]))
    Manifest().record([ROUND1])
    assert failed_round1() == {"round1_passed"}
    profile, own = Path("configs/gates/rc1.yaml"), Path("configs/gates/quickstart.yaml")
    profile.write_text(yaml.safe_dump({**read_yaml(own), "name": "rc1"}), encoding="utf-8")
    print_of = {
        **{role: one for role, one in first.files.items() if one.path != str(profile)},
        "profile": msgspec.convert(
            {"path": str(profile), "sha256": fingerprint(profile)}, type(first.files["profile"])
        ),
    }
    write_json(ROUND1, replace(first, profile="rc1", files=print_of))
    Manifest().record([ROUND1])
    assert failed_round1() == {"round1_of_this_profile"}


@poison("round1/round1_by_this_code")
def test_a_first_round_by_other_code(run: Path) -> None:
    write_json(ROUND1, replace(read_round(ROUND1), code="0" * 64))
    Manifest().record([ROUND1])
    assert failed_round1() == {"round1_by_this_code"}
