"""`ops/run_local_rc1.sh`, killed repeatedly and restarted, ends with the same bytes as an uninterrupted run.

It is killed once in each stage, some seconds after the start of the stage, and between the checkpoints of training.

The run uses the local judge, `models/tiny` and small sizes; data and scoring must meet the owner's thresholds.
`make setup` does not run: the environment of the tests is linked into the checkout.
"""

from __future__ import annotations

import hashlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.checkouts import BEYOND_A_TINY_RUN, change, environment, fresh_checkout

SEED = 20250820
A_WHILE = 900
LEFT = (
    "data/*.jsonl",
    "data/rollouts/*.jsonl",
    "configs/weights.json",
    "data/episodes/shadow.jsonl",
    "data/episodes/calibration.jsonl",
    "data/episodes/rc1_ablation/**/*.jsonl",
    "logs/episodes/**/*.jsonl",
    "logs/eval/**/*.jsonl",
    "checkpoints/rc1/**/final_model/model.safetensors",
)

pytestmark = pytest.mark.slow


def small_run(target: Path) -> Path:
    fresh_checkout(target)
    trained = {"base_model": "models/tiny", "finetune": {"method": "full"}, "steps": 4, "seeds": [1, 2],
               "batch_size": 8, "rollout_len": 64, "rollout": {"max_tokens": 512, "slots": 8},
               "checkpoint": {"every_steps": 1}, "eval": {"every_steps": 2, "n": 16},
               "reward": {"live_share": 0.1}}  # fmt: skip
    for name in ("ppo_scale", "ppo_trial"):
        change(target / f"configs/{name}.yaml", trained)
    sizes = {"pool": 3000, "shadow": 60, "live": 30, "calibration": 120, "calibration_live": 30, "scored": 0,
             "fresh": 4, "ablation": {"steps": 2, "seeds": [1], "samples": 40}}  # fmt: skip
    counts = {"pool_samples": 3000, "shadow_episodes": 60, "shadow_live": 30, "calibration_episodes": 120,
              "calibration_live": 30, "ablation_episodes": 40, "judge_samples": 4}  # fmt: skip
    settings = {"steps_min": 4, "trial_steps_min": 4, "seeds_min": 2, "qlora": False}
    limits = BEYOND_A_TINY_RUN | {"counts": counts, "config": settings}
    change(target / "configs/gates/rc1.yaml", {"sizes": sizes, "thresholds": limits})
    (target / ".venv").symlink_to(Path(sys.executable).parents[1])
    (target / "Makefile").write_text("setup:\n\t@true\n")
    script = target / "ops/run_local_rc1.sh"
    said = script.read_text()
    assert "free_gb <= 50:" in said
    script.write_text(said.replace("free_gb <= 50:", "free_gb <= 1:"))
    return target


def begin(checkout: Path, said: Path) -> subprocess.Popen[bytes]:
    with said.open("wb") as out:
        return subprocess.Popen(
            ["./ops/run_local_rc1.sh"],
            cwd=checkout,
            env=environment(),
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def to_the_end(checkout: Path, said: Path) -> None:
    code = begin(checkout, said).wait(4 * A_WHILE)
    assert code == 0, said.read_text()[-4000:]


def kill_when(reached: Callable[[str], bool], checkout: Path, said: Path, delay: float = 0.0) -> None:
    """Kills the script and its children `delay` seconds after it reached a stage."""
    run = begin(checkout, said)
    patience = time.monotonic() + A_WHILE
    while not reached(said.read_text()):
        assert run.poll() is None, said.read_text()[-4000:]
        assert time.monotonic() < patience, said.read_text()[-4000:]
        time.sleep(0.05)
    time.sleep(delay)
    os.killpg(run.pid, signal.SIGKILL)
    run.wait()


def left_in(checkout: Path) -> dict[str, str]:
    found = sorted(path for pattern in LEFT for path in checkout.glob(pattern) if path.is_file())
    return {str(path.relative_to(checkout)): hashlib.sha256(path.read_bytes()).hexdigest() for path in found}


def test_a_killed_and_restarted_script_ends_with_the_same_bytes(tmp_path: Path) -> None:
    unbroken, killed = small_run(tmp_path / "unbroken"), small_run(tmp_path / "killed")
    to_the_end(unbroken, tmp_path / "unbroken.txt")
    stages = (tmp_path / "unbroken.txt").read_text().count("(not done yet)")
    assert stages >= 14
    chance = random.Random(SEED)
    for number in range(1, stages + 1):
        begun = f"[{number}/{stages}]"
        kill_when(lambda text, begun=begun: begun in text, killed, tmp_path / f"{number}.txt", chance.uniform(0.2, 8.0))
    for left in ("seed_1/latest", "seed_1/final_model", "seed_2/latest", "seed_2/final_model"):
        there = killed / "checkpoints/rc1" / left
        kill_when(lambda text, there=there: there.exists(), killed, tmp_path / "training.txt")
    to_the_end(killed, tmp_path / "killed.txt")
    assert "still valid" in (tmp_path / "killed.txt").read_text()
    assert "resumed after step" in (killed / "logs/train.log").read_text()
    # To begin anew would end with the same bytes.
    assert not list((killed / "checkpoints").glob("rc1_before_*/**/step_*"))

    for pattern in LEFT:
        assert any(unbroken.glob(pattern)), pattern
    assert left_in(killed) == left_in(unbroken)
