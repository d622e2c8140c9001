"""Peak memory of training Qwen3 shapes in the memory of a 24, 48 and 80 GB card, beside the forecast.

    python bench/memory_cards.py --forecast                                the table without measuring, on any machine
    python bench/memory_cards.py --out memory_cards.json                   needs one CUDA card with 96 GB or more
    python bench/memory_cards.py --device cpu --models tiny --cards 24     a dry run, without peaks

The settings are those of `askgate train --model --data` (src/training/run_plan.py): for each model and card the method
that it chooses without bitsandbytes, and QLoRA. A run is a warm start of one step and two steps of PPO with random
weights, on episodes of 2 turns with 512 tokens: the key-value cache is as large as with 4,096 tokens, and the packs of
an update are as full. Each run is a process that may allocate what its card has less 1 GiB for the CUDA context
(`set_per_process_memory_fraction`). Runs are side by side while their forecasts fit the device, so their seconds are
upper limits. What was not measured after `--limit` seconds is left out.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "packages/askgate-env/src"), str(ROOT / "bench")]
sys.path += filter(None, [os.environ.get("EXTRA_SITE")])

from decode_cuda import SHAPES, random_model  # noqa: E402
from iteration_cuda import Fixed, Mute, tell  # noqa: E402
from qlora_24gb import CONTEXT, RandomReward  # noqa: E402

from askgate_env.actions import TOOLS  # noqa: E402
from rollout import TINY, pool  # noqa: E402
from src.config.train_config import TARGETS, TrainConfig  # noqa: E402
from src.core.errors import BadInput  # noqa: E402
from src.runtime.device import GB, lora_targets  # noqa: E402
from src.training.forecast import Memory, Shape, costs, fit_memory  # noqa: E402
from src.training.run_plan import MAX_TOKENS, choose_method, run_settings  # noqa: E402

MODELS, CARDS, TURNS, STEPS = ("0.6B", "1.7B", "4B", "8B"), (24, 48, 80), 2, 2
DATA: Any = SimpleNamespace(
    seed_pool=Path("pool.jsonl"), shadow_set=Path("held_out.jsonl"), shares={"gsm8k": 1.0}, characters=200_000
)
CUDA = torch.device("cuda")


@dataclass(frozen=True)
class Row:
    """One model on one card with one method."""

    model: str
    card: int
    """Memory in 10^9 bytes."""
    method: str
    checkpointing: bool

    @property
    def config(self) -> TrainConfig:
        settings = run_settings("random", DATA, MAX_TOKENS) | {"finetune": {"method": self.method}}
        settings["optimizer"] |= {"gradient_checkpointing": self.checkpointing, "critic_warmup_steps": 0}
        return TrainConfig.model_validate(settings)

    @property
    def targets(self) -> tuple[str, ...]:
        return lora_targets(TARGETS, self.card * 1e9 / GB)

    def forecast(self) -> Memory:
        return fit_memory(self.config, shape_of(self.model), CUDA, torch.bfloat16, self.targets, self.card * 1e9)


def shape_of(model: str) -> Shape:
    return Shape.of(random_model(model, torch.device("meta"), torch.float32, lora=False).config)


def rows(models: list[str], cards: list[int]) -> Iterator[Row]:
    """The method that is chosen for each model and card without QLoRA, and QLoRA."""
    for model in models:
        for card in cards:
            settings, methods = run_settings("random", DATA, MAX_TOKENS), []
            try:
                plan = choose_method(settings, shape_of(model), CUDA, card * 1e9 / GB, four_bits=False)
                methods.append((plan.method, plan.settings["optimizer"]["gradient_checkpointing"]))
            except BadInput:
                pass
            yield from (Row(model, card, *one) for one in (*methods, ("qlora", True)))


def train(row: Row, folder: Path, device: torch.device) -> dict[str, Any]:
    """Peaks of a run on its card, in GiB."""
    from transformers import AutoTokenizer

    from src.agents.render import TagRenderer
    from src.data.collate import demo_tokens
    from src.engines.job import TrainJob, WarmStart
    from src.engines.pure_pt import PurePT
    from src.engines.sft import Demo, SftPlan
    from src.strategies.ppo import PPO

    config, memory, cuda = row.config, row.forecast(), device.type == "cuda"
    if cuda:
        total = torch.cuda.mem_get_info()[1]
        torch.cuda.set_per_process_memory_fraction((row.card * 1e9 - CONTEXT) / total)
    else:
        config = config.model_copy(update={"rollout_len": 8, "batch_size": 4})
    renderer, samples = Mute(TagRenderer(AutoTokenizer.from_pretrained(folder))), pool()[: config.batch_size]

    def demonstrations() -> list[Demo]:
        pairs = [demo_tokens(one, renderer, thoughts=True) for one in samples]
        return [Demo(np.array(tokens, np.int32), np.array(said, np.bool_)) for tokens, said in pairs]

    limits = config.rollout_limits(TOOLS).model_copy(update={"slots": memory.slots, "max_turns": TURNS})
    engine = PurePT(
        TrainJob(
            model=str(folder),
            renderer=renderer,
            strategy=PPO(),
            sampler=Fixed(samples),
            reward=RandomReward(),  # type: ignore[arg-type]
            seed=0,
            max_steps=1 + STEPS,
            batch_size=config.batch_size,
            device=device,
            dtype=torch.bfloat16 if cuda else torch.float32,
            finetune=config.finetune,
            lora_targets=row.targets,
            rollout=limits,
            optimizer=config.optimizer.model_copy(update={"pack_tokens": memory.pack_tokens}),
            lr=config.lr,
            warm_start=WarmStart(1, SftPlan(8192, 1e-4, 4096, 0), demonstrations),
        )
    )
    found: dict[str, Any] = {"allocated": 0.0, "reserved": 0.0}
    for _ in range(1 + STEPS):
        start = time.perf_counter()
        metrics = engine.take_step().metrics
        found["step_s"] = time.perf_counter() - start
        found["allocated"] = max(found["allocated"], metrics["memory/peak_mb"] / 1024)
        found["reserved"] = max(found["reserved"], torch.cuda.max_memory_reserved() / GB if cuda else 0.0)
    return found | {"finite": bool(np.isfinite(metrics["grad_norm"]))}


def make_model(model: str, folder: Path, device: torch.device) -> None:
    from transformers import AutoTokenizer

    tokenizer, dtype = AutoTokenizer.from_pretrained(TINY), torch.bfloat16 if device.type == "cuda" else torch.float32
    network = random_model(model, device, dtype, lora=False)
    if model == "tiny":
        network.resize_token_embeddings(len(tokenizer))
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def measure(found: list[Row], given: argparse.Namespace, work: Path) -> dict[Row, dict[str, Any]]:
    """Each different run once, side by side while the forecasts fit the device; the largest first."""
    began, results, running = time.monotonic(), dict[Row, dict[str, Any]](), dict[Row, subprocess.Popen[bytes]]()
    total = torch.cuda.mem_get_info()[0] / GB if given.device == "cuda" else 1.0
    for model in dict.fromkeys(row.model for row in found):
        make_model(model, work / model, torch.device(given.device))
    if given.device == "cuda":
        torch.cuda.empty_cache()
    tell("random weights written")
    needs = {row: row.forecast().peak / GB * 1.15 + 1 if given.device == "cuda" else 1.0 for row in found}
    waiting = sorted(needs, key=lambda row: needs[row], reverse=True)
    while (waiting or running) and time.monotonic() - began < given.limit:
        free = total - sum(needs[row] for row in running)
        for row in [one for one in waiting if needs[one] <= free]:
            if needs[row] <= free and len(running) < given.side_by_side:
                free -= needs[row]
                waiting.remove(row)
                words = [sys.executable, __file__, "--device", given.device, "--work", str(work)]
                running[row] = subprocess.Popen([*words, "--one", json.dumps(asdict(row))])
        for row, process in list(running.items()):
            if process.poll() is not None:
                del running[row]
                out = work / f"{hash_of(row)}.json"
                results[row] = json.loads(out.read_text()) if out.exists() else {"exit": process.returncode}
                tell(f"{row}: {results[row]}")
        time.sleep(0.2)
    for process in running.values():
        process.kill()
        process.wait()
    return results


def hash_of(row: Row) -> str:
    return f"{row.model}-{row.card}-{row.method}-{row.checkpointing}"


def show(found: list[Row], results: dict[Row, dict[str, Any]], same: dict[Row, Row]) -> None:
    """The table of docs/training.md. Memory is allocated by torch and, for the forecast, without the CUDA context."""
    print("| model | card | method | slots | forecast, GiB | allocated, GiB | reserved, GiB | last step, s |")
    print("|---|---|---|---|---|---|---|---|")
    context = costs()["memory"]["context_gib"]
    for row in found:
        method = f"{row.method}{', gradient checkpointing' if row.checkpointing else ''}"
        try:
            memory = row.forecast()
        except BadInput:
            print(f"| {row.model} | {row.card} GB | {method} | does not fit | | | | |")
            continue
        one = results.get(same.get(row, row), {})
        cells = [f"{one[name]:.1f}" if name in one else "" for name in ("allocated", "reserved", "step_s")]
        peak = memory.peak / GB - context
        print(f"| {row.model} | {row.card} GB | {method} | {memory.slots} | {peak:.1f} | {' | '.join(cells)} |")


def main() -> None:
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("--forecast", action="store_true", help="measure nothing")
    flags.add_argument("--models", nargs="+", choices=[*SHAPES], default=[*MODELS])
    flags.add_argument("--cards", nargs="+", type=int, default=[*CARDS])
    flags.add_argument("--device", default="cuda")
    flags.add_argument("--limit", type=float, default=170.0, help="seconds")
    flags.add_argument("--side-by-side", type=int, default=6, help="processes at a time")
    flags.add_argument("--out", type=Path)
    flags.add_argument("--work", type=Path, help="folder for random weights, 29 GB; default: a temporary one")
    flags.add_argument("--one", help=argparse.SUPPRESS)
    given = flags.parse_args()
    if given.one:
        row = Row(**json.loads(given.one))
        try:
            found = train(row, given.work / row.model, torch.device(given.device))
        except torch.OutOfMemoryError as error:
            found = {"out_of_memory": str(error).splitlines()[0]}
        (given.work / f"{hash_of(row)}.json").write_text(json.dumps(found))
        return
    every = list(rows(given.models, given.cards))
    fitting: dict[Row, Memory] = {}
    for row in every:
        try:
            fitting[row] = row.forecast()
        except BadInput:
            continue
    # A larger card that changes nothing need not be measured again.
    smallest: dict[Any, Row] = {}
    for row, memory in fitting.items():
        smallest.setdefault((replace(row, card=0), row.targets, memory.slots, memory.pack_tokens), row)
    same = {
        row: smallest[replace(row, card=0), row.targets, memory.slots, memory.pack_tokens]
        for row, memory in fitting.items()
    }
    results: dict[Row, dict[str, Any]] = {}
    if not given.forecast:
        four_bits = given.device == "cuda" and find_spec("bitsandbytes") is not None
        with tempfile.TemporaryDirectory() as temporary:
            work = given.work or Path(temporary)
            work.mkdir(parents=True, exist_ok=True)
            runs = [row for row in dict.fromkeys(same.values()) if row.method != "qlora" or four_bits]
            results = measure(runs, given, work)
        if given.out:
            given.out.write_text(json.dumps([asdict(row) | one for row, one in results.items()], indent=1))
    show(every, results, same)


if __name__ == "__main__":
    main()
