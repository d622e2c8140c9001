"""Poisons for the first round, on which the second stands."""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec.structs import replace

from src.core.files import write_json
from src.gates import prints
from src.gates.finding import Finding
from src.gates.manifest import Manifest
from src.gates.report import ROUND1, read_round
from src.gates.rounds import _round1
from tests.gates.run_folder import edit_profile, look

from .table import poison


def failed_round1() -> set[str]:
    found: list[Finding] = _round1(look().profile, Manifest())
    return {one.name for one in found if not one.passed}


@poison("round1/measured")
def test_a_second_round_without_a_first(run: Path) -> None:
    assert failed_round1() == set()
    ROUND1.unlink()
    assert failed_round1() == {"measured"}


@poison("round1/measured")
def test_a_first_round_on_other_files(run: Path) -> None:
    with open(look().profile.paths.weights, "a", encoding="utf-8") as handle:
        handle.write("\n")
    assert failed_round1() == {"measured"}


@poison("round1/round1_passed", "round1/round1_of_this_profile")
def test_a_first_round_that_failed_and_one_of_another_profile(run: Path) -> None:
    first = read_round(ROUND1)
    spoilt = replace(first.findings[0], value=None, passed=False)
    write_json(ROUND1, replace(first, passed=False, findings=[spoilt, *first.findings[1:]]))
    Manifest().record([ROUND1])
    assert failed_round1() == {"round1_passed"}
    edit_profile(lambda found: found.update(name="rc1"))
    Path("configs/gates/rc1.yaml").write_bytes(Path("configs/gates/quickstart.yaml").read_bytes())
    profile = Path("configs/gates/rc1.yaml")
    print_of = {
        **first.files,
        "profile": msgspec.convert(
            {"path": str(profile), "sha256": prints.fingerprint(profile)}, type(first.files["profile"])
        ),
    }
    write_json(ROUND1, replace(first, profile="rc1", files=print_of))
    edit_profile(lambda found: found.update(name="quickstart"))
    Manifest().record([ROUND1])
    assert failed_round1() == {"round1_of_this_profile"}
