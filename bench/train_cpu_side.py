"""One side of `bench/train_cpu.py` in a process of its own. Prints its measurement as one line of JSON.

python bench/train_cpu_side.py SIDE POOL SEED ITERATIONS SAMPLES GROUP
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "packages/askgate-env/src")]

import torch  # noqa: E402
from transformers import AutoTokenizer  # noqa: E402

from askgate_env.reward import TrainingReward  # noqa: E402
from askgate_env.types import Sample  # noqa: E402
from src.agents.render import TagRenderer  # noqa: E402
from src.config.train_config import OptimizerSection, RolloutLimits  # noqa: E402
from src.core.api import Engine, StepResult  # noqa: E402
from src.core.jsonl import read_records  # noqa: E402
from src.engines.job import Drawn, TrainJob  # noqa: E402
from src.strategies.grpo import GRPO  # noqa: E402
from src.strategies.ppo import PPO  # noqa: E402


@dataclass(frozen=True)
class Workload:
    """Samples and settings of the run, as in `configs/quickstart.yaml`."""

    samples: Sequence[Sample]
    """Those of the first iteration, of the second, and so on."""
    group: int
    iterations: int
    seed: int
    model: str = str(ROOT / "models" / "tiny")
    max_turns: int = 6
    max_new_tokens: int = 64
    max_tokens: int = 512
    lr: float = 3e-5

    @property
    def drawn(self) -> int:
        return len(self.samples) // self.iterations

    @property
    def batch(self) -> int:
        return self.drawn * self.group


@dataclass
class Measurement:
    """Sums over the iterations that count: all but the first."""

    seconds: float = 0.0
    counts: dict[str, float] = field(default_factory=dict)
    parts: dict[str, float] = field(default_factory=dict)
    _warm: bool = False

    def add(self, seconds: float, counts: Mapping[str, float], parts: Mapping[str, float]) -> None:
        if not self._warm:
            self._warm = True
            return
        self.seconds += seconds
        for sums, values in ((self.counts, counts), (self.parts, parts)):
            for name, value in values.items():
                sums[name] = sums.get(name, 0.0) + value


class Draws:
    """The samples of each iteration, as often each as it takes."""

    def __init__(self, workload: Workload) -> None:
        self.workload = workload

    def draw(self, step: int, count: int) -> list[Drawn]:
        some = self.workload.samples[step * self.workload.drawn : (step + 1) * self.workload.drawn]
        return [Drawn(sample, "medium", 1.0, "pool") for sample in some for _ in range(count // len(some))]

    def observe(self, episodes: Sequence[object]) -> None: ...

    def state_dict(self) -> dict[str, Any]:
        return {}

    def load_state_dict(self, state: Mapping[str, Any]) -> None: ...


class Diary:
    """A callback of ours that looks at the clock."""

    def __init__(self) -> None:
        self.measured = Measurement()

    def on_start(self, engine: Engine) -> None:
        self.began = time.perf_counter()

    def on_step(self, engine: Engine, result: StepResult) -> None:
        now, episodes, figures = time.perf_counter(), len(result.episodes), result.metrics
        means = {
            "turns": figures["turns"],
            "said": figures["policy_tokens"],
            "tokens": figures["tokens"],
            "reward": figures["reward"],
        }
        self.measured.add(
            now - self.began,
            {"episodes": episodes, **{name: mean * episodes for name, mean in means.items()}},
            {name[5:]: value for name, value in figures.items() if name.startswith("time/") and name != "time/step"},
        )
        self.began = now

    def on_end(self, engine: Engine) -> None: ...


def by_engine(workload: Workload, engine: Any, strategy: Any) -> Measurement:
    diary = Diary()
    job = TrainJob(
        model=workload.model,
        renderer=TagRenderer(AutoTokenizer.from_pretrained(workload.model)),
        strategy=strategy,
        sampler=Draws(workload),
        reward=TrainingReward(),
        seed=workload.seed,
        max_steps=workload.iterations,
        batch_size=workload.batch,
        device=torch.device("cpu"),
        dtype=torch.float32,
        rollout=RolloutLimits(
            max_turns=workload.max_turns,
            max_new_tokens=workload.max_new_tokens,
            max_tokens=workload.max_tokens,
            slots=workload.batch,
        ),
        lr=workload.lr,
        optimizer=OptimizerSection(pack_tokens=16_384, critic_epochs=4),
    )
    engine(job).fit([diary])
    return diary.measured


def by(side: str, workload: Workload) -> Measurement:
    """A side imports what it needs and no more: memory is measured too."""
    if side == "trl":
        from train_cpu_trl import by_trl

        return by_trl(workload)
    if side == "trl_ppo":
        from src.engines.trl_ppo import TrlEngine

        return by_engine(workload, TrlEngine, GRPO(group_size=workload.group))
    from src.engines.pure_pt import PurePT

    return by_engine(workload, PurePT, PPO() if side == "ppo" else GRPO(group_size=workload.group))


def main() -> None:
    side, pool = sys.argv[1:3]
    seed, iterations, drawn, group = map(int, sys.argv[3:])
    samples = list(read_records(Path(pool), Sample))[: iterations * drawn]
    measured = asdict(by(side, Workload(samples, group, iterations, seed)))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
    machine = {"threads": torch.get_num_threads(), "torch": torch.__version__, "trl": version("trl")}
    print(json.dumps({**measured, "peak_mib": peak, **machine}))


if __name__ == "__main__":
    main()
