"""Signing off ambers: they fail no command, but a release waits until the owner has accepted each by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from src.core.errors import BadInput
from src.gates.ambers import ambers, open_ambers, sign_amber
from src.gates.manifest import Manifest
from src.gates.verify import verify
from src.release.package import make_package
from tests.conftest import Askgate
from tests.gates.run_folder import copy_of, edit_profile, small_thresholds_are_shipped
from tests.gates.test_sign_off import make_key
from tests.release.packing import silent

from .amber_runs import amber_run, gullible, profile, round_again


@pytest.fixture(scope="module")
def with_amber(finished: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trained run with the amber `canaries_fooled`. Tests must not write there."""
    folder = tmp_path_factory.mktemp("with_amber")
    copy_of(finished, folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        small_thresholds_are_shipped(patch)
        amber_run()
    return folder


@pytest.fixture
def run(with_amber: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the run with an amber as the working folder."""
    copy_of(with_amber, tmp_path)
    monkeypatch.chdir(tmp_path)
    small_thresholds_are_shipped(monkeypatch)
    return tmp_path


def test_a_release_waits_for_the_sign_off_by_name(run: Path, askgate: Askgate) -> None:
    assert askgate("verify").code == 0, "an amber fails no other command"
    refused = askgate("package")
    assert refused.code == 1
    assert "canaries_fooled" in refused.err
    assert "askgate sign-off --amber canaries_fooled" in refused.err
    sign = ("sign-off", "--amber", "canaries_fooled", "--by", "Ada", "--reason", "the judge is not used")
    signed = askgate(*sign)
    assert signed.code == 0
    shown = signed.out.index(
        "AMBER canaries_fooled: 1, should be <= 0.25\n  the judge scored worthless answers as high"
    )
    assert shown < signed.out.index("wrote ")
    assert {one.name: one.signed for one in ambers(profile())} == {"canaries_fooled": "Ada (the judge is not used)"}
    verify(False, silent)
    make_package(Path("package.tgz"), None, None, silent)


def test_a_sign_off_of_another_round_is_worth_nothing(run: Path) -> None:
    sign_amber(profile(), "canaries_fooled", None, None, "Ada", "not used")
    assert open_ambers(profile()) == []
    round_again(gullible)
    assert [one.name for one in open_ambers(profile())] == ["canaries_fooled"]


def test_a_sign_off_of_other_bytes_is_worth_nothing(run: Path) -> None:
    sign_amber(profile(), "canaries_fooled", None, None, "Ada", "not used")
    file = next(one.file for one in ambers(profile()) if one.name == "canaries_fooled")
    file.write_bytes(file.read_bytes() + b"\n")
    assert [one.name for one in open_ambers(profile())] == ["canaries_fooled"]


def test_a_sign_off_written_by_hand_is_worth_nothing(run: Path) -> None:
    path = sign_amber(profile(), "canaries_fooled", None, None, "Ada", "not used")
    path.write_text(path.read_text().replace("Ada", "Eve"))
    assert [one.name for one in open_ambers(profile())] == ["canaries_fooled"]


def test_a_sign_off_with_a_name_twice_is_worth_nothing(run: Path) -> None:
    """The forger also appends to the manifest. The last name counts, and a reader sees the first."""
    path = sign_amber(profile(), "canaries_fooled", None, None, "Eve", "not used")
    path.write_text(path.read_text().replace("{", '{\n  "by": "Ada",', 1))
    Manifest().record([path])
    assert [one.name for one in open_ambers(profile())] == ["canaries_fooled"]


def test_with_an_owner_key_only_that_key_signs_off(run: Path) -> None:
    owner, other = make_key("owner"), make_key("other")
    edit_profile(lambda found: found.update(owner_key="owner.pub.pem"))
    with pytest.raises(BadInput, match="names the owner's key"):
        sign_amber(profile(), "canaries_fooled", None, None, "Ada", "not used")
    with pytest.raises(BadInput, match="not the owner's"):
        sign_amber(profile(), "canaries_fooled", other, None, "Eve", "not used")
    sign_amber(profile(), "canaries_fooled", owner, None, "Ada", "the judge is not used")
    assert open_ambers(profile()) == []
    assert [one.signed for one in ambers(profile())] == ["Ada with the owner's key (the judge is not used)"]
    sign_amber(profile(), "canaries_fooled", owner, None, "Bob", "seen")
    (both,) = [one.signed for one in ambers(profile())]
    assert both == "Ada with the owner's key (the judge is not used); Bob with the owner's key (seen)"


def test_a_sign_off_needs_name_reason_and_a_checked_key(
    run: Path, askgate: Askgate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("USER", "root")
    nameless = askgate("sign-off", "--amber", "canaries_fooled", "--by", " ", "--reason", "not used")
    assert (nameless.code, "--by: nobody is named" in nameless.err) == (2, True)
    without = askgate("sign-off", "--amber", "canaries_fooled", "--by", "Ada")
    assert (without.code, "--reason: no reason is given" in without.err) == (2, True)
    with pytest.raises(BadInput, match="names no owner key"):
        sign_amber(profile(), "canaries_fooled", Path("none.pem"), None, "Ada", "not used")
    assert [one.name for one in open_ambers(profile())] == ["canaries_fooled"]


def test_name_and_reason_are_asked_for_at_a_terminal(
    run: Path, askgate: Askgate, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter(["Ada", "the judge is not used"])
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("typer.prompt", lambda *given, **more: next(answers))
    assert askgate("sign-off", "--amber", "canaries_fooled").code == 0
    assert [one.signed for one in ambers(profile())] == ["Ada (the judge is not used)"]


def test_a_second_sign_off_is_added_to_the_first(run: Path) -> None:
    first = sign_amber(profile(), "canaries_fooled", None, None, "Ada", "the judge is not used")
    kept = first.read_bytes()
    second = sign_amber(profile(), "canaries_fooled", None, None, "Bob", "seen")
    assert (first.read_bytes(), first != second) == (kept, True)
    assert [one.signed for one in ambers(profile())] == ["Ada (the judge is not used); Bob (seen)"]
    verify(False, silent)
    make_package(Path("package.tgz"), None, None, silent)


def test_an_unknown_amber_is_not_signed(run: Path) -> None:
    with pytest.raises(BadInput, match="there is no amber 'kittens'"):
        sign_amber(profile(), "kittens", None, None, "Ada", "cute")
