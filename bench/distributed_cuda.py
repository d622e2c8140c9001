"""Training under torchrun against one process without it, on one GPU: seconds a step, loss, gradient and weights.

    python bench/distributed_cuda.py --out distributed.json    # all three runs
    python bench/distributed_cuda.py --ranks 1 --limit 120     # one rank under torchrun
    python bench/distributed_cuda.py --device cpu --dtype float32 --shape tiny --episodes 8  # a dry run

Three runs one after the other, of the same random weights, full fine-tuning by PPO: without torchrun (0); one rank over
NCCL, which is not sharded (1); two ranks that share the GPU over gloo (2). Today the trainer refuses the last
one, because gloo lacks a collective; a failed run is reported with its last line. The first step compiles; the fastest
of the later ones counts. One rank passes if loss, first update and seconds a step are within 5% of the run without
torchrun, which is always run. Two ranks pass if loss and first update are: they share the card, so their time says
nothing.

What needs several GPUs: the seconds in which FSDP2 or DDP exchanges weights (`G` in docs/scale.md). On a machine with
four, compare `time/step` of the steps after the first in logs/metrics.jsonl with that of one GPU:

    torchrun --standalone --nproc-per-node 4 -m src.core.launch --config configs/train_local.yaml
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "packages/askgate-env/src"), str(ROOT / "bench")]
sys.path += filter(None, [os.environ.get("EXTRA_SITE")])

STEPS = 5
LIMIT_S = 90
"""Seconds of one run."""
TOLERANCE = 0.05
RUNS = {0: "without torchrun", 1: "1 rank, NCCL", 2: "2 ranks on one GPU, gloo"}
SHAPES = {
    "small": {"hidden_size": 1024, "num_hidden_layers": 8, "num_attention_heads": 16, "vocab_size": 32_000},
    "tiny": {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 4096},
}


def work(given: argparse.Namespace) -> None:
    """One rank: takes the steps, and rank 0 writes what it measured."""
    faulthandler.enable()  # two ranks over gloo died of a segmentation fault: this names the line
    import torch
    from iteration_cuda import Fixed, Mute
    from transformers import AutoTokenizer

    from askgate_env.reward import TrainingReward
    from rollout import pool
    from src.agents.render import TagRenderer
    from src.config.train_config import FinetuneSection, OptimizerSection, RolloutLimits
    from src.engines.distributed import END, leave, ranks
    from src.engines.job import TrainJob
    from src.engines.pure_pt import PurePT
    from src.strategies.ppo import PPO

    class RewardBySeed(TrainingReward):
        """Random weights say nothing that earns a reward, so the seed of an episode does."""

        def __call__(self, episode: Any, *rest: Any) -> dict[str, float]:
            return {"outcome": episode.seed % 1000 / 1000}

    here = ranks()
    engine: Any = PurePT(
        TrainJob(
            model=str(given.model),
            renderer=Mute(TagRenderer(AutoTokenizer.from_pretrained(given.model))),
            strategy=PPO(),
            sampler=Fixed(pool()[: given.episodes]),  # type: ignore[arg-type]
            reward=RewardBySeed(),
            seed=0,
            max_steps=STEPS,
            batch_size=given.episodes,
            device=torch.device(given.device),
            dtype=getattr(torch, given.dtype),
            finetune=FinetuneSection(method="full"),
            rollout=RolloutLimits(max_turns=2, max_new_tokens=32, max_tokens=384, slots=given.episodes),
            optimizer=OptimizerSection(pack_tokens=8192, minibatches=2),
        )
    )
    if here.rank:
        while True:
            call, arguments = here.announced()
            if call == END:
                return leave()
            getattr(engine, call)(*arguments)
    results, moved = [], {}
    start = {name: weight.cpu().clone() for name, weight in engine.state()["weights"].items()}
    for step in range(STEPS):
        results.append(engine.take_step())
        if step in (0, STEPS - 1):
            now = {name: weight.cpu().clone() for name, weight in engine.state()["weights"].items()}
            moved[step] = {name: now[name] - start[name] for name in now}
    leave()
    torch.save(
        {
            "metrics": [one.metrics for one in results],
            "episodes": [[str(each.turns) for each in one.episodes] for one in results],
            "start": start,
            "moved": moved,
        },
        given.child,
    )


def run(ranks: int, given: argparse.Namespace, folder: Path) -> tuple[dict[str, Any] | None, str, float]:
    """The result of a run, or the last line that it wrote, and its seconds."""
    out = folder / f"ranks_{ranks}.pt"
    flags = [
        *("--child", str(out), "--model", str(folder / "model"), "--device", given.device, "--dtype", given.dtype),
        *("--episodes", str(given.episodes)),
    ]
    launch = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks)] if ranks else []
    began = time.monotonic()
    with (folder / f"ranks_{ranks}.log").open("wb") as log:
        child = subprocess.Popen([sys.executable, *launch, __file__, *flags], stdout=log, stderr=log)
        try:
            child.wait(given.limit)
        except subprocess.TimeoutExpired:
            child.terminate()
            child.wait(40)
    seconds = time.monotonic() - began
    if out.exists():
        import torch

        return torch.load(out, weights_only=True), "", seconds
    lines = (folder / f"ranks_{ranks}.log").read_text(errors="replace").splitlines()
    print("\n".join(lines[-40:]), flush=True)
    errors = [line for line in lines if ("Error" in line or "BadInput" in line) and "ChildFailed" not in line]
    return None, (errors or lines or ["nothing was written"])[-1].strip(), seconds


def compare(found: dict[str, Any], alone: dict[str, Any]) -> dict[str, Any]:
    """Differences between two runs. Distances of weights are relative to how far the run without torchrun moved."""
    import torch

    def distance(step: int) -> float:
        names = alone["moved"][step]
        apart = torch.stack([(found["moved"][step][name] - names[name]).norm() for name in names]).norm()
        return float(apart / torch.stack([names[name].norm() for name in names]).norm())

    def relative(name: str, step: int) -> float:
        there, here = alone["metrics"][step][name], found["metrics"][step][name]
        return abs(here - there) / max(abs(there), 1e-9)

    return {
        "same_episodes_by_step": [a == b for a, b in zip(found["episodes"], alone["episodes"], strict=True)],
        "loss": [relative("loss", step) for step in range(STEPS)],
        "grad_norm": [relative("grad_norm", step) for step in range(STEPS)],
        "update_after_first_step": distance(0),
        "update_after_last_step": distance(STEPS - 1),
    }


def times(found: dict[str, Any]) -> dict[str, float]:
    """The fastest of the steps after the first, by part."""
    fastest = min(found["metrics"][1:], key=lambda one: one["time/step"])
    names = [name for name in fastest if name.startswith("time/") or name == "memory/peak_mb"]
    return {name: round(fastest[name], 4) for name in names}


def make_model(given: argparse.Namespace, folder: Path) -> None:
    import torch
    from transformers import AutoTokenizer, Qwen3Config, Qwen3ForCausalLM

    from rollout import TINY

    torch.manual_seed(0)
    shape = SHAPES[given.shape]
    config = Qwen3Config(
        **shape,
        intermediate_size=3 * shape["hidden_size"],
        num_key_value_heads=shape["num_attention_heads"] // 2,
        head_dim=64 if shape["hidden_size"] >= 1024 else 16,
        tie_word_embeddings=True,
        max_position_embeddings=1024,
    )
    Qwen3ForCausalLM(config).save_pretrained(folder)
    AutoTokenizer.from_pretrained(TINY).save_pretrained(folder)


def main() -> None:
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("--device", default="cuda")
    flags.add_argument("--dtype", default="bfloat16")
    flags.add_argument("--shape", choices=[*SHAPES], default="small")
    flags.add_argument("--episodes", type=int, default=64)
    flags.add_argument("--limit", type=int, default=LIMIT_S, help="seconds of one run")
    flags.add_argument(
        "--ranks", type=int, nargs="+", choices=[*RUNS], default=[*RUNS], help="runs, by number of ranks"
    )
    flags.add_argument("--out", type=Path, default=Path("distributed.json"))
    flags.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    flags.add_argument("--model", type=Path, help=argparse.SUPPRESS)
    given = flags.parse_args()
    if given.child:
        return work(given)
    report: dict[str, Any] = {"shape": given.shape, "episodes": given.episodes, "dtype": given.dtype}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        make_model(given, folder / "model")
        results: dict[int, Any] = {}
        for ranks in sorted({0, *given.ranks}):
            name = RUNS[ranks]
            results[ranks], error, seconds = run(ranks, given, folder)
            entry: dict[str, Any] = {"seconds_in_all": round(seconds, 1)}
            if results[ranks] is None:
                entry["error"] = error
            else:
                entry |= times(results[ranks])
                if ranks and results[0]:
                    entry |= compare(results[ranks], results[0])
                    entry["step_time_ratio"] = entry["time/step"] / times(results[0])["time/step"]
            report[name] = entry
            print(name, json.dumps(entry, indent=1), flush=True)
            given.out.write_text(json.dumps(report, indent=1))
    passed = [verdict(ranks, report[RUNS[ranks]]) for ranks in sorted({*given.ranks} - {0})]
    sys.exit(not all(passed))


def verdict(ranks: int, found: dict[str, Any]) -> bool:
    """Whether a run agrees with the one without torchrun; of one rank also in its time."""
    passed = "loss" in found and max(found["loss"][0], found["update_after_first_step"]) <= TOLERANCE
    if ranks == 1:
        passed = passed and found["step_time_ratio"] <= 1 + TOLERANCE
    error = f": {found['error']}" if "error" in found else ""
    print("PASSED" if passed else "FAILED", f"{RUNS[ranks]} against one process, within {TOLERANCE:.0%}{error}")
    return passed


if __name__ == "__main__":
    main()
