"""One training iteration at the shape of Qwen3-0.6B on CUDA, beside TRL's PPOTrainer and GRPOTrainer.

    python bench/trl_cuda.py --trl_ppo SITE --trl_grpo SITE --out trl.json
    python bench/trl_cuda.py ... --shape tiny --device cpu --new 8         a dry run

SITE is a folder that holds a version of TRL (`pip install --no-deps --target SITE trl==1.12.0` for PPO, 1.16.0 for
GRPO). 64 prompts of 256 tokens, 128 tokens said after each, random weights, LoRA of rank 16 on all seven matrices,
bf16, random rewards, one update of all episodes. Each side is a process of its own; the sides take turns, `--rounds`
times. A process makes two iterations to warm up (ours compiles in the first) and measures the next `--iterations`.

Kind to TRL: its reward and value models are tiny (in ours the value is a head on the policy), no gradient
checkpointing, no reference model in GRPO (beta 0; ours computes it), nothing logged or saved.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedTokenizerBase

ROOT = Path(__file__).resolve().parents[1]
SIDES = ("ours_ppo", "trl_ppo", "ours_grpo", "trl_grpo")
EPISODES, GROUP, PROMPT, RANK, WARM = 64, 8, 256, 16, 2
TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


def prompts(tokenizer: PreTrainedTokenizerBase, count: int) -> list[str]:
    """Texts of `PROMPT` tokens each."""
    words = [word for word in ("the", "of", "and", "in", "is", "to", "a") if len(tokenizer.encode(f" {word}")) == 1]
    texts = [
        "".join(f" {words[(row + place * place) % len(words)]}" for place in range(PROMPT)) for row in range(count)
    ]
    if any(len(tokenizer.encode(text)) != PROMPT for text in texts):
        sys.exit(f"the prompts do not have {PROMPT} tokens")
    return texts


def dataset(rows: list[dict[str, Any]]) -> Any:
    """With a name of its own, because datasets 5.2 cannot hash a table of pyarrow 26 on Python 3.12."""
    import pyarrow
    from datasets import Dataset
    from datasets.table import InMemoryTable

    return Dataset(InMemoryTable(pyarrow.Table.from_pylist(rows)), fingerprint="prompts")


def random_rewards(completions: list[Any], **_: Any) -> list[float]:
    return [float(hash(str(one)) % 2) for one in completions]


def ours(given: argparse.Namespace) -> list[dict[str, float]]:
    sys.path[:0] = [str(ROOT), str(ROOT / "packages/askgate-env/src"), str(ROOT / "bench")]
    from iteration_cuda import Fixed, Mute
    from qlora_24gb import RandomReward

    from rollout import pool
    from src.agents.render import TagRenderer
    from src.config.train_config import FinetuneSection, OptimizerSection, RolloutLimits
    from src.engines.job import TrainJob
    from src.engines.pure_pt import PurePT
    from src.strategies.grpo import GRPO
    from src.strategies.ppo import PPO

    tokenizer = AutoTokenizer.from_pretrained(given.model)
    ids = [tokenizer.encode(text) for text in prompts(tokenizer, EPISODES)]

    class Given(Mute):
        """Every sample opens with a prompt of the common length."""

        def opening(self, prompt: str, system: str | None = None) -> list[int]:
            return ids[hash(prompt) % EPISODES]

    grpo = given.side == "ours_grpo"
    engine = PurePT(
        TrainJob(
            model=str(given.model),
            renderer=Given(TagRenderer(tokenizer)),
            strategy=GRPO(group_size=GROUP) if grpo else PPO(),
            sampler=Fixed(pool()[:EPISODES]),
            reward=RandomReward(),
            seed=0,
            max_steps=WARM + given.iterations,
            batch_size=EPISODES,
            device=torch.device(given.device),
            dtype=dtype_of(given),
            finetune=FinetuneSection(method="lora", rank=RANK),
            rollout=RolloutLimits(max_turns=1, max_new_tokens=given.new, max_tokens=PROMPT + 128, slots=EPISODES),
            optimizer=OptimizerSection(pack_tokens=32_768, minibatches=1, critic_warmup_steps=0),
            lora_targets=TARGETS,
        )
    )
    found = []
    for _ in range(WARM + given.iterations):
        start = time.perf_counter()
        metrics = engine.take_step().metrics
        wait(given)
        said = round(metrics["policy_tokens"] * EPISODES)
        if said != EPISODES * given.new:
            sys.exit(f"{said} tokens instead of {EPISODES * given.new}")
        times = {name.removeprefix("time/"): value for name, value in metrics.items() if name.startswith("time/")}
        found.append({"seconds": time.perf_counter() - start} | times)
    return found


def trl_grpo(given: argparse.Namespace) -> list[dict[str, float]]:
    from peft import LoraConfig
    from trl import GRPOConfig, GRPOTrainer

    clock, callback = stopwatch(given)
    tokenizer = AutoTokenizer.from_pretrained(given.model)
    steps = WARM + given.iterations
    arguments = GRPOConfig(
        **common(given),
        max_steps=steps,
        num_generations=GROUP,
        max_completion_length=given.new,
        generation_kwargs={"min_new_tokens": given.new},
        generation_batch_size=EPISODES,
        per_device_train_batch_size=EPISODES // 2,
        gradient_accumulation_steps=2,
        beta=0.0,
    )
    rows = [{"prompt": text} for text in prompts(tokenizer, EPISODES)]
    trainer = GRPOTrainer(
        model=policy(given),
        reward_funcs=random_rewards,
        args=arguments,
        train_dataset=dataset(rows * (steps + 1)),
        processing_class=tokenizer,
        peft_config=LoraConfig(r=RANK, target_modules=TARGETS, task_type="CAUSAL_LM"),
        callbacks=[callback],
    )
    trainer.train()
    return clock


def trl_ppo(given: argparse.Namespace) -> list[dict[str, float]]:
    from peft import LoraConfig
    from transformers import Qwen3Config, Qwen3ForSequenceClassification
    from trl.experimental.ppo import PPOConfig, PPOTrainer

    clock, callback = stopwatch(given)
    tokenizer = AutoTokenizer.from_pretrained(given.model, padding_side="left")
    steps = WARM + given.iterations
    model = policy(given)

    def small() -> Qwen3ForSequenceClassification:
        shape = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 1, "num_attention_heads": 2}
        config = Qwen3Config(
            **shape,
            num_key_value_heads=2,
            vocab_size=model.config.vocab_size,
            num_labels=1,
            pad_token_id=tokenizer.pad_token_id,
        )
        return Qwen3ForSequenceClassification(config).to(given.device, dtype_of(given))

    arguments = PPOConfig(
        **common(given),
        total_episodes=EPISODES * steps,
        response_length=given.new,
        per_device_train_batch_size=EPISODES // 2,
        gradient_accumulation_steps=2,
        local_rollout_forward_batch_size=EPISODES // 2,
        num_ppo_epochs=1,
        num_mini_batches=1,
        num_sample_generations=0,
        temperature=1.0,
    )
    rows = [{"input_ids": tokenizer.encode(text)} for text in prompts(tokenizer, EPISODES)]
    trainer = PPOTrainer(
        args=arguments,
        processing_class=tokenizer,
        model=model,
        ref_model=None,
        reward_model=small(),
        value_model=small(),
        train_dataset=dataset(rows * (steps + 1)),
        eval_dataset=dataset(rows[:1]),
        peft_config=LoraConfig(r=RANK, target_modules=TARGETS, task_type="CAUSAL_LM"),
        callbacks=[callback],
    )
    trainer.train()
    return clock


def common(given: argparse.Namespace) -> dict[str, Any]:
    return {
        "output_dir": str(given.model / "trl"),
        "gradient_checkpointing": False,
        "bf16": given.device == "cuda",
        "use_cpu": given.device == "cpu",
        "report_to": "none",
        "save_strategy": "no",
        "logging_steps": 1000,
        "disable_tqdm": True,
        "learning_rate": 1e-5,
    }


def policy(given: argparse.Namespace) -> Any:
    return AutoModelForCausalLM.from_pretrained(given.model, dtype=dtype_of(given)).to(given.device)


def stopwatch(given: argparse.Namespace) -> tuple[list[dict[str, float]], Any]:
    """Seconds from the end of one step to the end of the next, filled while TRL trains."""
    from transformers import TrainerCallback

    clock: list[dict[str, float]] = []

    class Stopwatch(TrainerCallback):
        began = 0.0

        def on_train_begin(self, *_: Any, **__: Any) -> None:
            self.began = time.perf_counter()

        def on_step_end(self, *_: Any, **__: Any) -> None:
            wait(given)
            now = time.perf_counter()
            clock.append({"seconds": now - self.began})
            self.began = now

    return clock, Stopwatch()


def wait(given: argparse.Namespace) -> None:
    if given.device == "cuda":
        torch.cuda.synchronize()


def dtype_of(given: argparse.Namespace) -> torch.dtype:
    return torch.bfloat16 if given.device == "cuda" else torch.float32


def measure(given: argparse.Namespace) -> None:
    """One side, in this process."""
    run: Callable[[argparse.Namespace], list[dict[str, float]]]
    run = {"trl_ppo": trl_ppo, "trl_grpo": trl_grpo}.get(given.side, ours)
    found = run(given)
    peak = torch.cuda.max_memory_allocated() / 2**30 if given.device == "cuda" else 0.0
    given.out.write_text(json.dumps({"iterations": found[WARM:], "warm_up": found[:WARM], "peak_gib": peak}))


def alternate(given: argparse.Namespace) -> None:
    """All sides in turns, each in a process of its own."""
    sys.path[:0] = [str(ROOT), str(ROOT / "packages/askgate-env/src"), str(ROOT / "bench")]
    from iteration_cuda import SHAPES, network

    results: dict[str, list[dict[str, Any]]] = {side: [] for side in SIDES}
    with tempfile.TemporaryDirectory() as folder:
        network(SHAPES[given.shape], torch.device(given.device), dtype_of(given), Path(folder))
        for _ in range(given.rounds):
            for side in given.sides:
                site = {"trl_ppo": given.trl_ppo, "trl_grpo": given.trl_grpo}.get(side)
                paths = [str(site)] if site else []
                environment = os.environ | {
                    "PYTHONPATH": os.pathsep.join([*paths, *filter(None, [os.environ.get("PYTHONPATH")])]),
                    "PYTHONHASHSEED": "0",
                    "TRL_EXPERIMENTAL_SILENCE": "1",
                }
                out = Path(folder) / "side.json"
                flags = ["--side", side, "--model", folder, "--device", given.device, "--new", str(given.new)]
                command = [sys.executable, __file__, *flags, "--iterations", str(given.iterations), "--out", str(out)]
                if subprocess.run(command, env=environment, check=False).returncode:
                    print(f"{side}: failed", flush=True)
                    continue
                results[side].append(json.loads(out.read_text()))
                seconds = [round(one["seconds"], 3) for one in results[side][-1]["iterations"]]
                print(f"{side}: {seconds} s, peak {results[side][-1]['peak_gib']:.1f} GiB", flush=True)
                given.out.write_text(json.dumps(results))
    medians = {
        side: statistics.median(one["seconds"] for run in runs for one in run["iterations"])
        for side, runs in results.items()
        if runs
    }
    for name in ("ppo", "grpo"):
        if {f"ours_{name}", f"trl_{name}"} <= medians.keys():
            ratio = medians[f"trl_{name}"] / medians[f"ours_{name}"]
            print(f"{name}: {medians[f'ours_{name}']:.3f} s, TRL {medians[f'trl_{name}']:.3f} s: {ratio:.1f} times")


def main() -> None:
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("--trl_ppo", type=Path, help="folder with TRL for PPO")
    flags.add_argument("--trl_grpo", type=Path, help="folder with TRL for GRPO")
    flags.add_argument("--sides", nargs="+", choices=SIDES, default=SIDES)
    flags.add_argument("--shape", default="qwen3-0.6b")
    flags.add_argument("--device", default="cuda")
    flags.add_argument("--new", type=int, default=128)
    flags.add_argument("--rounds", type=int, default=2)
    flags.add_argument("--iterations", type=int, default=3)
    flags.add_argument("--out", type=Path, required=True)
    flags.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    flags.add_argument("--model", type=Path, help=argparse.SUPPRESS)
    given = flags.parse_args()
    (measure if given.side else alternate)(given)


if __name__ == "__main__":
    main()
