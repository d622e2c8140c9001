"""Attacks by way of a package: what must not get in, and what must not come out and run."""

from __future__ import annotations

import gzip
import json
import shutil
import tarfile
from hashlib import sha256
from pathlib import Path

import msgspec
import pytest

from src.core.errors import BadInput
from src.core.files import json_bytes
from src.core.paths import EPISODES, evaluations
from src.gates.manifest import MANIFEST, Entry, Manifest
from src.gates.ticket import COMMIT, TICKET, read_round
from src.release.package import FACTS, make_package, refuse_secrets
from src.release.reproduce import pages_not_compared, reproduce
from tests.release.packing import (
    CONFIG,
    MODEL,
    RUN,
    careless,
    contents,
    new_key,
    put,
    rewritten,
    silent,
    tarball,
    trained,
    unsigned,
)

ROOT = Path(__file__).resolve().parents[2]
SECRET = "hunter2-hunter2-hunter2"


def pack(out: Path) -> set[str]:
    trained()
    with tarfile.open(make_package(out, None, None, silent)) as archive:
        return set(archive.getnames())


def test_code_in_a_package_is_refused_before_it_can_run(packed: Path) -> None:
    def plant(found: dict[str, bytes]) -> None:
        found["torch.py"] = b"raise SystemExit('owned')"

    for forged in (rewritten(packed, plant), unsigned(packed, plant)):
        with pytest.raises(BadInput, match="no kind of file") as caught:
            reproduce(forged, silent)
        assert caught.value.where == "torch.py"


def own_class(text: str = "class Coach:\n    pass\n") -> None:
    """An own class as a round records it: evidence."""
    Path("coach.py").write_text(text)
    Manifest().record([Path("coach.py")])


def test_own_classes_are_packed_as_text_and_verified_elsewhere(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_class("raise SystemExit('owned')")
    package = tmp_path / "out" / "package.tgz"
    names = pack(package)
    assert "coach.py.txt" in names
    assert not any(name.endswith(".py") for name in names)
    monkeypatch.chdir(package.parent)
    reproduce(package, silent)
    forged = unsigned(package, lambda found: found.update({"coach.py.txt": b"class Coach: pass"}))
    with pytest.raises(BadInput, match="has changed since it was recorded") as caught:
        reproduce(forged, silent)
    assert caught.value.where == "coach.py"
    missing = unsigned(package, lambda found: found.__delitem__("coach.py.txt"))
    with pytest.raises(BadInput, match="it was recorded") as caught:
        reproduce(missing, silent)
    assert caught.value.where == "coach.py"


def test_hidden_files_and_torn_leftovers_are_not_packed(run: Path, tmp_path: Path) -> None:
    honest = pack(tmp_path / "out" / "honest.tgz")
    Path("configs/.env").write_text("A=1")
    Path("reports/rc1/.package.tgz.abcdefgh").write_bytes(b"x" * 1000)
    Path("reports/rc1/package.tgz").write_bytes(b"x" * 1000)
    Path("reports/rc1/helper.py").write_text("1/0")
    assert pack(tmp_path / "out" / "second.tgz") == honest


def test_a_private_key_is_refused_under_any_name(run: Path, tmp_path: Path) -> None:
    key = new_key(tmp_path / "key.pem").read_bytes()
    Path("configs/owner.pem").write_bytes(key)
    assert "configs/owner.pem" not in pack(tmp_path / "out.tgz")
    with pytest.raises(BadInput, match="contains a private key") as caught:
        refuse_secrets([("model/config.json", key)], "it is not packed")
    assert caught.value.where == "model/config.json:1"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (f"the key is {SECRET}", "a secret of the environment"),
        (f"?key={SECRET.replace('-', '%2D')}", "a secret of the environment"),
        ("SCORER_API_KEY: 9f3c2a1b0d", "a value of a name such as MY_API_KEY"),
        ('{"Authorization": "Bearer 9f3c2a1b0d"}', "an authorization header"),
        ("the flag bearer Alexander and the standard bearer", ""),
        ("SCORER_API_KEY=***", ""),
    ],
)
def test_secrets_are_refused_and_ordinary_words_are_not(text: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCORER_API_KEY", SECRET)
    files = [("configs/note.md", f"a note\n{text}\n".encode())]
    if not kind:
        return refuse_secrets(files, "it is not packed")
    with pytest.raises(BadInput, match=f"contains {kind}, so it is not packed") as caught:
        refuse_secrets(files, "it is not packed")
    assert caught.value.where == "configs/note.md:2"


def test_a_link_to_a_file_elsewhere_is_refused(run: Path, tmp_path: Path) -> None:
    trained()
    (RUN / EPISODES / "passwords.txt").symlink_to("/etc/hostname")
    Manifest().record([RUN / EPISODES])
    with pytest.raises(BadInput, match="is a link"):
        make_package(tmp_path / "out.tgz", None, None, silent)


def test_adapter_files_dropped_into_the_final_model_are_refused(run: Path, tmp_path: Path) -> None:
    trained()
    (MODEL / "adapter_model.safetensors").write_bytes(b"x")
    with pytest.raises(BadInput, match=r"adapter_model\.safetensors was not there when it was saved"):
        make_package(tmp_path / "out.tgz", None, None, silent)


def test_results_that_did_not_pass_are_not_released(run: Path, tmp_path: Path) -> None:
    trained(policy=careless)
    with pytest.raises(BadInput, match="has not passed") as caught:
        make_package(tmp_path / "out.tgz", None, None, silent)
    assert caught.value.exit_code == 1


def test_a_run_whose_results_are_gone_is_not_released(run: Path, tmp_path: Path) -> None:
    """Other weights under a new seal; what the training recorded is cut off the manifest, and its reports deleted."""
    before = MANIFEST.read_bytes()
    trained()
    MANIFEST.write_bytes(before)
    for path in evaluations(RUN):
        path.unlink()
    with pytest.raises(BadInput, match="has no report in the manifest"):
        make_package(tmp_path / "out.tgz", None, None, silent)


def test_edited_pages_are_not_packed_and_not_accepted(run: Path, packed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = ("reports/rc1/RC1.html", "reports/rc1/RC1.json", "reports/ppo_eval_20260101T000000Z.html")
    for name in pages:

        def edit(found: dict[str, bytes], name: str = name) -> None:
            found[name] += b" forged"

        with pytest.raises(BadInput, match="does not say what the evidence says") as caught:
            reproduce(unsigned(packed, edit), silent)
        assert caught.value.where == name
    monkeypatch.chdir(run)
    trained()
    for name in (*pages, "reports/rc1/review.html", "reports/kpi.json"):
        Path(name).unlink(missing_ok=True)
        Path(name).write_text("forged")
    again = contents(make_package(run / "out.tgz", None, None, silent))
    assert all(b"forged" not in again[name] for name in pages)
    assert not {"reports/rc1/review.html", "reports/kpi.json"} & again.keys()


NOTES = ["RESULTS.html", "README.md", "configs/RESULTS.md", "logs/eval/RESULTS.md"]
NOTES += ["reports/preflight/amber_audit.json", "reports/preflight/round2_pass.dsse.json"]
"""The last two look like sign-offs, and the profile names no key."""


@pytest.mark.parametrize("name", NOTES)
def test_files_that_no_run_wrote_are_neither_packed_nor_accepted(
    run: Path, packed: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    with pytest.raises(BadInput, match="is no file of the run that was packed") as caught:
        reproduce(unsigned(packed, lambda found: found.update({name: b"99%, verified"})), silent)
    assert caught.value.where == name
    monkeypatch.chdir(run)
    trained()
    Path(name).write_text("99%, verified")
    assert name not in contents(make_package(run / "out.tgz", None, None, silent))


@pytest.mark.parametrize("folder", ["logs/episodes", "templates/pack_v2"])
def test_a_page_in_python_cache_is_neither_packed_nor_accepted(
    run: Path, packed: Path, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    """The fingerprint of a folder of the evidence leaves such caches out."""
    name = f"{folder}/__pycache__/RC1.html"
    with pytest.raises(BadInput, match="is no kind of file that a package holds") as caught:
        reproduce(unsigned(packed, lambda found: found.update({name: b"99%, verified"})), silent)
    assert caught.value.where == name
    monkeypatch.chdir(run)
    trained()
    shutil.copytree(ROOT / "templates/pack_v2", "templates/pack_v2", dirs_exist_ok=True)
    Path(name).parent.mkdir(parents=True)
    Path(name).write_text("99%, verified")
    assert name not in contents(make_package(run / "out.tgz", None, None, silent))


def test_a_file_that_is_twice_in_a_package_is_refused(packed: Path) -> None:
    """The last one is unpacked here; who reads the archive otherwise may see the first."""
    for name in ("reports/rc1/RC1.html", "./reports/rc1/RC1.html", "reports/rc1/rc1.HTML"):
        found = {name: b"99%, verified", **contents(packed)}
        with tarball(packed.with_name("twice.tgz")) as target:
            for one, content in [(name, b"99%, verified"), *found.items()]:
                put(target, one, content)
        with pytest.raises(BadInput, match="is there twice"):
            reproduce(packed.with_name("twice.tgz"), silent)


def test_an_archive_behind_the_archive_is_refused(packed: Path) -> None:
    """`tar --ignore-zeros` unpacks it, over the files that were verified."""
    with tarball(packed.with_name("more.tgz")) as target:
        put(target, "reports/rc1/RC1.html", b"99%, verified")
    both = gzip.decompress(packed.read_bytes()) + gzip.decompress(packed.with_name("more.tgz").read_bytes())
    with open(packed, "wb") as handle, gzip.GzipFile(fileobj=handle, mode="wb", filename="", mtime=0) as target:
        target.write(both)
    with pytest.raises(BadInput, match="has more behind its last file"):
        reproduce(packed, silent)


def test_a_description_with_a_key_twice_is_refused(packed: Path) -> None:
    def say_twice(found: dict[str, bytes]) -> None:
        name = FACTS.as_posix()
        found[name] = found[name].replace(b"{", b'{\n  "commit": "audited",', 1)

    with pytest.raises(BadInput, match="is not written as AskGate writes it"):
        reproduce(unsigned(packed, say_twice), silent)


@pytest.mark.parametrize("name", ["reports/RESULTS.html", "reports/preflight/RESULTS.html"])
def test_a_page_recorded_by_hand_is_refused(run: Path, tmp_path: Path, name: str) -> None:
    trained()
    Path(name).write_text("99%, verified")
    Manifest().record([Path(name)])
    with pytest.raises(BadInput, match="neither a round nor a run records pages"):
        make_package(tmp_path / "out.tgz", None, None, silent)


@pytest.mark.parametrize(
    "name",
    ["reports/results.json", "reports/preflight/amber_audit.json", "reports/preflight/round2/results_report.json"],
)
def test_a_report_recorded_by_hand_is_refused(
    run: Path, packed: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """It would be packed, and nothing derives what it says."""

    def plant(found: dict[str, bytes]) -> None:
        found[name] = b'{"success": 0.999}'
        entries = found[MANIFEST.as_posix()].splitlines()
        before = sha256(entries[-1]).hexdigest()
        at = json.loads(entries[-1])["at"]
        entry = Entry("file", name, sha256(found[name]).hexdigest(), 0, at, before)
        found[MANIFEST.as_posix()] += msgspec.json.encode(entry) + b"\n"

    with pytest.raises(BadInput, match="was recorded by hand") as caught:
        reproduce(unsigned(packed, plant), silent)
    assert caught.value.where == name
    monkeypatch.chdir(run)
    trained()
    Path(name).write_text('{"success": 0.999}')
    Manifest().record([Path(name)])
    with pytest.raises(BadInput, match="was recorded by hand"):
        make_package(run / "out.tgz", None, None, silent)


def test_figures_are_compared_whatever_version_made_the_pages(packed: Path) -> None:
    def of_another_version(found: dict[str, bytes]) -> None:
        facts = json.loads(found[FACTS.as_posix()]) | {"code": "0" * 64}
        found[FACTS.as_posix()] = json_bytes(facts)
        found["reports/rc1/RC1.html"] += b"<!-- worded otherwise -->"

    def with_other_figures(found: dict[str, bytes]) -> None:
        of_another_version(found)
        report = json.loads(found["reports/rc1/RC1.json"])
        report["evaluation"]["figures"]["delta_pp"]["success"] = 77.7
        found["reports/rc1/RC1.json"] = json.dumps(report).encode()

    assert not pages_not_compared(reproduce(packed, silent))
    assert pages_not_compared(reproduce(unsigned(packed, of_another_version), silent))
    with pytest.raises(BadInput, match="does not say what the evidence says") as caught:
        reproduce(unsigned(packed, with_other_figures), silent)
    assert caught.value.where == "reports/rc1/RC1.json"


def test_the_commit_is_the_one_that_the_rounds_noted(run: Path) -> None:
    """A commit that is written after the rounds is neither shown nor packed."""
    trained()
    COMMIT.write_text("v9.9 audited-release")
    made = contents(make_package(run / "out.tgz", None, None, silent))
    assert str(COMMIT) not in made
    noted = read_round(TICKET).commit
    assert noted != "v9.9 audited-release"
    assert [json.loads(made[name])["commit"] for name in ("reports/rc1/RC1.json", str(FACTS))] == [noted, noted]


def test_a_config_that_was_not_trained_is_refused(packed: Path) -> None:
    def name_another(found: dict[str, bytes]) -> None:
        found[FACTS.as_posix()] = found[FACTS.as_posix()].replace(str(CONFIG).encode(), b"configs/quickstart.yaml")

    with pytest.raises(BadInput, match=r"names configs/quickstart\.yaml, which was not trained"):
        reproduce(unsigned(packed, name_another), silent)


def test_evidence_of_an_unknown_kind_is_refused_by_name(run: Path, tmp_path: Path) -> None:
    trained()
    Path("configs/owner.der").write_bytes(b"a key")
    Manifest().record([Path("configs/owner.der")])
    with pytest.raises(BadInput, match="no kind of file that a package holds") as caught:
        make_package(tmp_path / "out.tgz", None, None, silent)
    assert caught.value.where == "configs/owner.der"
