"""Kill and resume on CUDA: a run of `models/tiny` that is killed and resumed, against one that was not.

    python bench/kill_resume_cuda.py --out kill.json
    python bench/kill_resume_cuda.py --device cpu --steps 4 --batch 8      a dry run

Four runs side by side, each as `askgate train` would make it: with the deterministic settings of every run (cuBLAS
workspaces of fixed size, deterministic algorithms, no kernels chosen by timing) and without them, uninterrupted and
killed. A killed run gets SIGKILL in the middle of a step after its last checkpoint, and is then resumed. The result is
the difference between the final weights of the two, and between their metrics.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
sys.path += filter(None, [os.environ.get("EXTRA_SITE")])

EVERY = 2
LIMIT_S = 200
TIMES = ("time", "memory", "seconds")


def config_of(given: argparse.Namespace) -> dict[str, Any]:
    quickstart = yaml.safe_load((ROOT / "configs/quickstart.yaml").read_text())
    return quickstart | {
        "base_model": str(ROOT / "models/tiny"),
        "build": {"n": 400, "shadow_n": 24},
        "warm_start": quickstart["warm_start"] | {"tokens": 20_000, "steps": 2},
        "steps": given.steps,
        "batch_size": given.batch,
        "optimizer": quickstart["optimizer"] | {"critic_warmup_steps": 0},
        "device_pref": [given.device],
        "checkpoint": {"every_steps": EVERY},
        "eval": {"every_steps": 1000, "n": 8, "base": False},
    }


def furnish(folder: Path, given: argparse.Namespace) -> None:
    folder.mkdir(parents=True)
    (folder / "own.yaml").write_text(yaml.safe_dump(config_of(given)))


def train(folder: Path, deterministic: bool, kill_at: int) -> None:
    """Trains, and kills its own process in the middle of step `kill_at`, if that is not 0."""
    os.chdir(folder)
    import torch

    from src.engines import pure_pt
    from src.rollout import cuda
    from src.training.run import run

    if not deterministic:
        whole = pure_pt.seed_all

        def seed_all(seed: int) -> None:
            whole(seed)
            torch.use_deterministic_algorithms(False)

        pure_pt.seed_all = seed_all  # type: ignore[attr-defined]
        cuda.REPRODUCIBLE.clear()
        del os.environ["CUBLAS_WORKSPACE_CONFIG"]
    if kill_at:
        update = pure_pt.PurePT._update

        def killed(engine: Any, *rest: Any) -> Any:
            if engine.step + 1 == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)
            return update(engine, *rest)

        pure_pt.PurePT._update = killed  # type: ignore[method-assign]
    run(Path("own.yaml"), resume=Path("logs").exists())


def started(folder: Path, mode: str, kill_at: int = 0) -> subprocess.Popen[bytes]:
    words = [sys.executable, __file__, "--child", str(folder), "--only", mode, "--kill-at", str(kill_at)]
    with (folder / "log").open("ab") as log:
        return subprocess.Popen(words, stdout=log, stderr=log)


def wait(child: subprocess.Popen[bytes], deadline: float) -> int:
    try:
        return child.wait(max(1.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
        return 124


def compare(whole: Path, resumed: Path) -> dict[str, Any]:
    from safetensors.numpy import load_file

    one, other = (
        load_file(next((x / "checkpoints/local/final_model").glob("*.safetensors"))) for x in (whole, resumed)
    )
    differing = sum(int((one[name] != other[name]).sum()) for name in one)
    apart = max(float(abs(one[name] - other[name]).max()) for name in one)
    size = max(float(abs(one[name]).max()) for name in one)
    lines = [
        [json.loads(line) for line in (x / "logs/metrics.jsonl").read_text().splitlines()] for x in (whole, resumed)
    ]
    kept = [[{k: v for k, v in line.items() if not k.startswith(TIMES)} for line in found] for found in lines]
    rewards = [[line.get("reward") for line in found] for found in lines]
    return {
        "weights": sum(each.size for each in one.values()), "differing": differing, "largest_difference": apart,
        "largest_weight": size, "same_weights": differing == 0, "same_metrics": kept[0] == kept[1], "rewards": rewards,
    }  # fmt: skip


def main() -> None:
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("--device", default="cuda")
    flags.add_argument("--steps", type=int, default=8)
    flags.add_argument("--batch", type=int, default=64)
    flags.add_argument("--only", choices=["deterministic", "free"])
    flags.add_argument("--out", type=Path, default=Path("kill_resume.json"))
    flags.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    flags.add_argument("--kill-at", type=int, help=argparse.SUPPRESS)
    given = flags.parse_args()
    if given.child:
        return train(given.child, given.only == "deterministic", given.kill_at)
    start, deadline = time.monotonic(), time.monotonic() + LIMIT_S * (1 if given.device == "cuda" else 5)
    found: dict[str, Any] = {"steps": given.steps, "killed_in_step": given.steps - 1}
    modes = [given.only] if given.only else ["deterministic", "free"]
    with tempfile.TemporaryDirectory() as temporary:
        at = {(mode, end): Path(temporary) / f"{mode}_{end}" for mode in modes for end in ("whole", "killed")}
        for folder in at.values():
            furnish(folder, given)
        children = {
            key: started(folder, key[0], given.steps - 1 if key[1] == "killed" else 0) for key, folder in at.items()
        }
        codes = {}
        for mode in modes:
            codes[mode, "killed"] = wait(children[mode, "killed"], deadline)
            if codes[mode, "killed"] == -signal.SIGKILL:
                children[mode, "resumed"] = started(at[mode, "killed"], mode)
        for mode in modes:
            for end in ("whole", "resumed"):
                if (mode, end) in children:
                    codes[mode, end] = wait(children[mode, end], deadline)
            found[mode] = {end: codes.get((mode, end)) for end in ("whole", "killed", "resumed")}
            if codes.get((mode, "whole")) == 0 == codes.get((mode, "resumed")):
                found[mode] |= compare(at[mode, "whole"], at[mode, "killed"])
            else:
                for end in ("whole", "killed"):
                    log = at[mode, end] / "log"
                    print(f"== {mode} {end}\n{log.read_text()[-3000:] if log.exists() else ''}", flush=True)
    found["seconds"] = time.monotonic() - start
    given.out.write_text(json.dumps(found, indent=1))
    print(json.dumps(found, indent=1))
    sys.exit(not all(found[mode].get("same_weights", False) or mode == "free" for mode in modes))


if __name__ == "__main__":
    main()
