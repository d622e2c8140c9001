"""The archive of a failed run has what a maintainer needs, and no secret."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from src.runtime.failpack import failpack, last_lines

ROOT = Path(__file__).resolve().parents[2]
PLANTED = "vF7q-planted-9Zk3m"
FOREIGN = "sk-0123456789abcdefABCDEF"
"""A key that is in no environment, but looks like one."""


@pytest.fixture
def failed(tmp_path: Path) -> Path:
    """A failed run, with secrets wherever a careless library could have put them."""
    files = {
        "logs/ops_1.log": f"calling with {PLANTED}\nAuthorization: Bearer {FOREIGN}\n",
        "logs/train.log": f"SCORER_API_KEY={PLANTED}x\nfailed\n",
        f"logs/cache_{PLANTED}.txt": "a name can tell too",
        "logs/events.bin": f"\udcff\udc80{PLANTED}\udcfe",
        "reports/preflight/round1.json": '{"passed": false}',
        "data/rollouts/rc1_seed.jsonl": "{}\n",
        "data/shadow_eval_245.jsonl": "{}\n",
        "reports/rc1/rc1_seed.sha256": "0 data/rollouts/rc1_seed.jsonl\n",
        "reports/rc1/difficulty_report.json": "{}",
        "reports/shadow_run_x.json": "{}",
        "reports/calibration_report_x.json": "{}",
        "configs/weights.json": "{}",
        "configs/ppo_scale.yaml": "steps: 50000\n",
        ".env": f"SCORER_API_KEY={PLANTED}\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
    return tmp_path


def unpacked(pack: Path) -> dict[str, bytes]:
    with tarfile.open(pack) as archive:
        members = archive.getmembers()
        return {one.name: archive.extractfile(one).read() for one in members}  # type: ignore[union-attr]


def test_no_secret_is_packed(failed: Path) -> None:
    found = unpacked(failpack(failed, {"SCORER_API_KEY": PLANTED}))
    everything = b"\n".join([*found.values(), *(name.encode() for name in found)])
    assert PLANTED.encode() not in everything
    assert FOREIGN.encode() not in everything
    assert b"calling with ***" in found["logs/ops_1.log"]


def test_every_file_of_the_work_order_is_packed(failed: Path) -> None:
    found = unpacked(failpack(failed, {}))
    assert {
        "logs/ops_1.log",
        "logs/train.log",
        "reports/preflight/round1.json",
        "data/rollouts/rc1_seed.jsonl",
        "data/shadow_eval_245.jsonl",
        "reports/rc1/rc1_seed.sha256",
        "reports/rc1/difficulty_report.json",
        "reports/shadow_run_x.json",
        "reports/calibration_report_x.json",
        "configs/weights.json",
        "configs/ppo_scale.yaml",
    } <= set(found)
    assert ".env" not in found


def test_binary_bytes_are_packed_unchanged(failed: Path) -> None:
    (failed / "logs/raw").write_bytes(bytes(range(256)))
    assert unpacked(failpack(failed, {}))["logs/raw"] == bytes(range(256))


def test_links_to_files_outside_are_not_packed(failed: Path) -> None:
    (failed / "logs/link.log").symlink_to(failed / ".env")
    assert "logs/link.log" not in unpacked(failpack(failed, {}))


def test_the_last_200_lines_are_shown_without_secrets(failed: Path) -> None:
    (failed / "logs/zz.log").write_text("".join(f"{number} {PLANTED}\n" for number in range(500)))
    shown = last_lines(failed / "logs/zz.log", {"MY_SECRET": PLANTED})
    assert shown == [f"{number} ***" for number in range(300, 500)]


def test_it_needs_nothing_but_python(failed: Path) -> None:
    """If the set-up failed, no packages are installed."""
    done = subprocess.run(
        [sys.executable, "-S", "-m", "src.runtime.failpack"],
        cwd=failed, env={"PYTHONPATH": str(ROOT), "SCORER_API_KEY": PLANTED}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert PLANTED not in done.stdout
    assert list((failed / "reports/rc1").glob("FAIL_*.tgz"))
