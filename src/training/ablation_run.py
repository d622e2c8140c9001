"""One arm of an ablation: a whole training run of its own, by the same door as a user's, in a folder of its own.

It goes on where it was broken off, as every run does, and is not made again where it is there.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer
import yaml

from .. import __version__
from ..config.train_config import TrainConfig
from ..core.errors import BadInput
from ..core.files import HOME, PACKAGE, atomic_write, sha256_file, shipped
from ..core.jsonl import read_records
from .paths import of_seed

if TYPE_CHECKING:
    from ..core.types import Episode

MODULE = f"{__name__.split('.')[0]}.cli"
INTERRUPTED = 130
CONFIG = "arm.yaml"


class Arm:
    """`run` comes back when the training has come to its end; then `episodes` are there."""

    def __init__(self, folder: Path, name: str, config: TrainConfig) -> None:
        self.config, self._siblings = config, (folder, f"{name}-*")
        # Another config, base or pool is another folder, so that what lies there is always this very run.
        self.folder = folder / f"{name}-{_fingerprint(config)}"

    def run(self) -> None:
        """Raises BadInput where the run was refused or stopped; what it said is on standard error."""
        if not all(self._file(seed).exists() for seed in self.config.seeds):
            self.folder.mkdir(parents=True, exist_ok=True)
            with atomic_write(self.folder / CONFIG) as file:
                file.write(yaml.safe_dump(self.config.model_dump(mode="json")).encode())
            self._train()
        folder, pattern = self._siblings
        for old in folder.glob(pattern):
            if old != self.folder:
                shutil.rmtree(old)

    def episodes(self, seed: int) -> list[Episode]:
        """Of the trained policy."""
        from ..core.types import Episode

        return list(read_records(self._file(seed), Episode))

    def _train(self) -> None:
        command = [sys.executable, "-m", MODULE, "train", "--config", CONFIG, "--json", "--resume"]
        paths = [str(HOME)] if PACKAGE.name == "src" else []
        told = [*paths, *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(told)}
        # Its table is not ours; its log is, and standard error shows it as it comes.
        done = subprocess.run(command, cwd=self.folder, env=environment, stdout=subprocess.DEVNULL, check=False)
        if done.returncode in (INTERRUPTED, -2):
            raise typer.Exit(INTERRUPTED)
        if done.returncode:
            raise BadInput(
                f"the run did not come to its end (exit code {done.returncode})",
                where=str(self.folder),
                remedy="see what it said above; the same command goes on from its newest checkpoint",
            )

    def _file(self, seed: int) -> Path:
        folder = of_seed(self.config, self.folder / "logs" / "eval", seed)
        return folder / f"step_{self.config.steps:05d}.jsonl"


def _fingerprint(config: TrainConfig) -> str:
    from ..core.model_files import model_sha256

    files = [config.seed_pool, config.shadow_set, *filter(None, [config.reward.weights, config.reward.unstable])]
    base = Path(config.base_model)
    known = [model_sha256(base)] if base.is_dir() else []
    facts = [config.model_dump_json(), __version__, *known, *(sha256_file(path) for path in files)]
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:12]


def arm_config(
    config: TrainConfig, *, penalty: bool, alpha: float, cap: int, steps: int, seeds: tuple[int, ...], n: int | None
) -> TrainConfig:
    """The same run but for the penalty: local, without a judge, looked at when it has ended.

    The watch is off: what a policy does that nothing holds back is what the ablation is there to show.
    """
    found = config.model_dump(mode="json")
    for key in ("seed_pool", "shadow_set"):
        found[key] = str(Path(found[key]).absolute())
    for key in ("weights", "unstable"):
        if found["reward"][key]:
            found["reward"][key] = str(shipped(Path(found["reward"][key])).absolute())
    base = shipped(Path(config.base_model))
    return TrainConfig.model_validate(
        found
        | {
            "profile": "local",
            "live_mode": False,
            "base_model": str(base.absolute()) if base.is_dir() else config.base_model,
            "build": None,
            "steps": steps,
            "seeds": list(seeds),
            "use_overclar_penalty": penalty,
            "reward": {**found["reward"], "alpha": alpha, "cap": cap},
            "eval": {**found["eval"], "every_steps": steps, "n": n, "base": False, "control": False},
            "checkpoint": {**found["checkpoint"], "mirror": None},
            "watch": {"ask_spam": 1.0, "malformed": 1.0, "bare_answer": 1.0, "echo": 1.0, "spike": 1000.0},
        }
    )
