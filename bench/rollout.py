"""How fast episodes are made, against `generate` of transformers on the same model and samples: one run, one table.

    python bench/rollout.py                          models/tiny on this machine's processor
    python bench/rollout.py --width 256 --layers 6   random weights of that size
    python bench/rollout.py --device cuda --dtype bfloat16 --width 1024 --layers 28 --slots 128

Eight episodes of each sample, as a group strategy wants them. Tokens that the policy said, in a second:

- *one turn*: prompts in, exactly `--new` tokens out. `generate` gets batches of `--slots` prompts, padded on the left.
- *three turns*: exactly `--new` tokens each, with replies of the environment between them. `generate` keeps nothing
  from turn to turn, so it reads the whole dialogue at each; that is what a trainer around `generate` does.
- *real episodes*: each turn ends where the policy ends it, up to six turns. Only with a model that was taught.

With turns of one length no batch waits for its longest, so the first two rows are kind to `generate`. The two sides
take turns, `--rounds` times; the best of each counts. Idle slots and a busy machine hurt both.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table
from transformers import AutoModelForCausalLM, AutoTokenizer, Qwen3Config, Qwen3ForCausalLM

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "packages/askgate-env/src")]

from askgate_env.env import Env  # noqa: E402
from askgate_env.types import Sample  # noqa: E402
from src.agents.render import TagRenderer  # noqa: E402
from src.agents.trajectory import Job  # noqa: E402
from src.config.train_config import RolloutLimits  # noqa: E402
from src.core.defaults import MIX, TEMPLATES  # noqa: E402
from src.core.jsonl import read_records  # noqa: E402
from src.data.pool.build import build_pool  # noqa: E402
from src.data.pool.plan import BuildPlan  # noqa: E402
from src.rollout.kv_cache import KVCache  # noqa: E402
from src.rollout.scheduler import generate  # noqa: E402

GROUP, MAX_TOKENS = 8, 1024
TINY = ROOT / "models" / "tiny"


class Endless(TagRenderer):
    """No token ends a turn, and no turn holds an act: every turn and every episode is as long as it may be."""

    def __init__(self, renderer: TagRenderer) -> None:
        super().__init__(renderer.tokenizer)
        self.stop_ids = frozenset()

    def decode(self, ids: Sequence[int]) -> str:
        return super().decode(ids).replace("<", " ")


@dataclass(frozen=True)
class Workload:
    """Samples, renderer and limits of one measurement."""

    name: str
    renderer: TagRenderer
    samples: Sequence[Sample]
    turns: int
    new: int
    at_once: int


def pool() -> list[Sample]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "pool.jsonl"
        build_pool(BuildPlan(n=800, templates_dir=TEMPLATES, mix=MIX, seed=4, langs=()), file)
        return list(read_records(file, Sample))


def generated(model: Qwen3ForCausalLM, prompts: list[list[int]], workload: Workload) -> list[list[int]]:
    """What `generate` says after each prompt."""
    said: list[list[int]] = []
    pad, stops = workload.renderer.pad_id, workload.renderer.stop_ids
    for start in range(0, len(prompts), workload.at_once):
        part = prompts[start : start + workload.at_once]
        longest = max(map(len, part))
        out = model.generate(
            input_ids=torch.tensor([[pad] * (longest - len(p)) + p for p in part], device=model.device),
            attention_mask=torch.tensor([[0] * (longest - len(p)) + [1] * len(p) for p in part], device=model.device),
            do_sample=True,
            temperature=1.0,
            top_k=0,
            top_p=1.0,
            max_new_tokens=workload.new,
            eos_token_id=sorted(stops) or None,
            pad_token_id=pad,
        )
        for row in out[:, longest:].tolist():
            end = next((place + 1 for place, token in enumerate(row) if token in stops), len(row))
            said.append(row[:end])
    return said


def by_generate(model: Qwen3ForCausalLM, workload: Workload) -> int:
    renderer = workload.renderer
    envs = [Env(sample, workload.turns) for sample in workload.samples]
    talks = [renderer.opening(env.opening()) for env in envs]
    spoken = 0
    while going := [i for i, env in enumerate(envs) if env.end is None]:
        for i, said in zip(going, generated(model, [talks[i] for i in going], workload), strict=True):
            spoken += len(said)
            reply = envs[i].step(renderer.decode(said))
            if reply is not None:
                closed = [] if said[-1] in renderer.stop_ids else renderer.policy("")[-1:]
                talks[i] += [*said, *closed, *renderer.reply(reply.by, reply.text)]
    return spoken


def by_rollout(model: Qwen3ForCausalLM, workload: Workload) -> int:
    trajectories = generate(
        model,
        workload.renderer,
        [Job(sample) for sample in workload.samples],
        RolloutLimits(
            max_turns=workload.turns, max_new_tokens=workload.new, max_tokens=MAX_TOKENS, slots=workload.at_once
        ),
        generator=torch.Generator().manual_seed(0),
        device=model.device,
    )
    return sum(int(one.policy.sum()) for one in trajectories)


def load(width: int | None, layers: int) -> Qwen3ForCausalLM:
    if width is None:
        return AutoModelForCausalLM.from_pretrained(TINY)
    torch.manual_seed(0)
    head = 32 if width < 512 else 64
    return Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=4096,
            hidden_size=width,
            intermediate_size=3 * width,
            num_hidden_layers=layers,
            num_attention_heads=width // head,
            num_key_value_heads=width // head // 2,
            head_dim=head,
            tie_word_embeddings=True,
        )
    )


def tokens_a_second(
    make: Callable[[Qwen3ForCausalLM, Workload], int], model: Qwen3ForCausalLM, workload: Workload
) -> tuple[float, int]:
    start = time.perf_counter()
    spoken = make(model, workload)
    if model.device.type == "cuda":
        torch.cuda.synchronize()
    return spoken / (time.perf_counter() - start), spoken


def one_step(model: Qwen3ForCausalLM, slots: int) -> tuple[float, float]:
    """Milliseconds of one token in every slot, 250 tokens deep, and those of its matrix products alone."""
    weights = [w for name, w in model.named_parameters() if w.dim() == 2 and (name != "model.embed_tokens.weight")]
    weights.append(model.get_output_embeddings().weight)
    inputs = [torch.randn(slots, w.shape[1], device=w.device, dtype=w.dtype) for w in weights]

    def timed(what: Callable[[], object]) -> float:
        best = float("inf")
        for _ in range(5):
            start = time.perf_counter()
            for _ in range(4):
                what()
            if model.device.type == "cuda":
                torch.cuda.synchronize()
            best = min(best, (time.perf_counter() - start) / 4)
        return best * 1000

    with torch.inference_mode():
        cache = KVCache(model, slots, MAX_TOKENS, model.device, model.dtype)
        cache.read([(slot, list(range(250))) for slot in range(slots)])
        step = timed(lambda: cache.read([(slot, [7]) for slot in range(slots)]))
        return step, timed(lambda: [x @ w.T for x, w in zip(inputs, weights, strict=True)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--width", type=int, help="random weights instead of models/tiny")
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--samples", type=int, default=16)
    parser.add_argument("--slots", type=int, default=64)
    parser.add_argument("--new", type=int, default=24)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", default="float32")
    args = parser.parse_args()

    renderer = TagRenderer(AutoTokenizer.from_pretrained(TINY))
    endless = Endless(renderer)
    jobs = [sample for sample in pool()[: args.samples] for _ in range(GROUP)]
    workloads = [
        Workload("one turn", endless, jobs, 1, args.new, args.slots),
        Workload("three turns", endless, jobs, 3, args.new, args.slots),
    ]
    if args.width is None:
        workloads.append(Workload("real episodes", renderer, jobs, 6, 96, args.slots))

    # The rollout sets its model to its own attention; the other keeps that of transformers.
    device = torch.device(args.device)
    ours, theirs = (load(args.width, args.layers).to(device, getattr(torch, args.dtype)).eval() for _ in range(2))
    size = sum(weight.numel() for weight in ours.parameters()) / 1e6
    table = Table(title=f"{size:.1f} M parameters, {len(jobs)} episodes, {args.slots} at once")
    for column in ("", "tokens said", "generate, tokens/s", "rollout, tokens/s", "times as fast"):
        table.add_column(column, justify="right")
    for workload in workloads:
        slow: list[tuple[float, int]] = []
        fast: list[tuple[float, int]] = []
        for _ in range(args.rounds):
            slow.append(tokens_a_second(by_generate, theirs, workload))
            fast.append(tokens_a_second(by_rollout, ours, workload))
        (slowly, also), (quickly, said) = max(slow), max(fast)
        if workload.renderer is endless and said != also:
            raise SystemExit(f"{workload.name}: {said} tokens here and {also} there")
        table.add_row(workload.name, f"{said:,}", f"{slowly:,.0f}", f"{quickly:,.0f}", f"{quickly / slowly:.1f}")
    console = Console(width=120)
    console.print(table)
    step, products = one_step(ours, args.slots)
    console.print(
        f"one token in each of {args.slots} slots, 250 deep: {step:.2f} ms; matrix products {products:.2f} ms"
    )
    console.print(f"torch {torch.__version__}, {torch.get_num_threads()} threads, {args.device} {args.dtype}")


if __name__ == "__main__":
    main()
