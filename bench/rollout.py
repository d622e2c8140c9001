"""How fast episodes are made, against `generate` of transformers on the same tokens: one run, one table.

    python bench/rollout.py                          a model of 1.3 M parameters on this machine's processor
    python bench/rollout.py --width 256 --layers 6   5.8 M parameters
    python bench/rollout.py --device cuda --dtype bfloat16 --width 1024 --layers 28

Both sides play the same samples with the same model, eight episodes of each sample, and every turn has exactly
`--new` tokens, so both say the same number. That is kind to `generate`: its batch never waits for one long turn.

- *one turn*: prompts in, `--new` tokens out. `generate` gets batches of `--slots` prompts, padded on the left.
- *episodes*: three turns with the replies of the environment between them. `generate` keeps nothing from turn to turn,
  so it reads the whole dialogue at each; that is what a trainer around `generate` does.

Weights are random: speed does not depend on them. The two sides take turns, `--rounds` times; the best of each counts.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from src.agents.env import Env  # noqa: E402
from src.agents.render import END, MARKS, PAD, TagRenderer  # noqa: E402
from src.agents.rollout import rollout  # noqa: E402
from src.agents.slots import Slots  # noqa: E402
from src.agents.trajectory import Job  # noqa: E402
from src.core.jsonl import read_records  # noqa: E402
from src.core.types import Sample  # noqa: E402
from src.data.plan import BuildPlan  # noqa: E402
from src.data.pool import build_pool  # noqa: E402

GROUP, VOCAB, MAX_TOKENS, TURNS = 8, 4096, 1024, 3


class Endless(TagRenderer):
    """No token ends a turn, and no turn holds an act: every turn and every episode is as long as it may be."""

    def __init__(self, tokenizer: PreTrainedTokenizerFast) -> None:
        super().__init__(tokenizer)
        self.stop_ids = frozenset()

    def decode(self, ids: Sequence[int]) -> str:
        return super().decode(ids).replace("<", " ")


def samples_and_renderer() -> tuple[list[Sample], Endless]:
    with tempfile.TemporaryDirectory() as folder:
        pool = Path(folder) / "pool.jsonl"
        mix = {"hotpotqa": 0.45, "strategyqa": 0.30, "gsm8k": 0.25}
        build_pool(BuildPlan(n=800, templates_dir=ROOT / "templates" / "pack_v2", mix=mix, seed=4, langs=()), pool)
        samples = list(read_records(pool, Sample))
    words = Tokenizer(models.BPE())
    words.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    words.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    size = VOCAB - len(MARKS)
    trainer = trainers.BpeTrainer(vocab_size=size, initial_alphabet=alphabet, show_progress=False, min_frequency=1)
    words.train_from_iterator([sample.prompt for sample in samples], trainer)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, pad_token=PAD, eos_token=END)
    tokenizer.add_special_tokens({"additional_special_tokens": [mark for mark in MARKS if mark not in (PAD, END)]})
    return samples, Endless(tokenizer)


def generated(model: Qwen3ForCausalLM, prompts: list[list[int]], pad: int, new: int, at_once: int) -> list[list[int]]:
    """What `generate` says after each prompt."""
    said: list[list[int]] = []
    for start in range(0, len(prompts), at_once):
        part = prompts[start : start + at_once]
        longest = max(map(len, part))
        ids = torch.tensor([[pad] * (longest - len(p)) + p for p in part], device=model.device)
        mask = torch.tensor([[0] * (longest - len(p)) + [1] * len(p) for p in part], device=model.device)
        out = model.generate(
            input_ids=ids,
            attention_mask=mask,
            do_sample=True,
            temperature=1.0,
            top_k=0,
            top_p=1.0,
            max_new_tokens=new,
            min_new_tokens=new,
            eos_token_id=None,
            pad_token_id=pad,
        )
        said += out[:, longest:].tolist()
    return said


def by_generate(
    model: Qwen3ForCausalLM, renderer: Endless, samples: list[Sample], turns: int, new: int, at_once: int
) -> int:
    envs = [Env(sample, turns) for sample in samples]
    talks = [renderer.opening(env.opening()) for env in envs]
    spoken = 0
    while going := [i for i, env in enumerate(envs) if env.end is None]:
        for i, said in zip(
            going, generated(model, [talks[i] for i in going], renderer.pad_id, new, at_once), strict=True
        ):
            spoken += len(said)
            reply = envs[i].step(renderer.decode(said))
            if reply is not None:
                talks[i] += [*said, *renderer.policy("")[-1:], *renderer.reply(reply.by, reply.text)]
    return spoken


def by_rollout(
    model: Qwen3ForCausalLM, renderer: Endless, samples: list[Sample], turns: int, new: int, at_once: int
) -> int:
    played = rollout(
        model,
        renderer,
        [Job(sample) for sample in samples],
        max_turns=turns,
        max_new_tokens=new,
        max_tokens=MAX_TOKENS,
        temperature=1.0,
        slots=at_once,
        generator=torch.Generator().manual_seed(0),
        device=model.device,
    )
    assert not any(one.episode.end == "length" for one in played)
    return sum(int(one.policy.sum()) for one in played)


def tokens_a_second(make: Callable[[], int], device: torch.device) -> tuple[int, float]:
    start = time.perf_counter()
    spoken = make()
    if device.type == "cuda":
        torch.cuda.synchronize()
    return spoken, spoken / (time.perf_counter() - start)


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
        cache = Slots(model, slots, MAX_TOKENS, model.device, model.dtype)
        cache.read([(slot, list(range(250))) for slot in range(slots)])
        step = timed(lambda: cache.read([(slot, [7]) for slot in range(slots)]))
        return step, timed(lambda: [x @ w.T for x, w in zip(inputs, weights, strict=True)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--samples", type=int, default=16)
    parser.add_argument("--slots", type=int, default=64)
    parser.add_argument("--new", type=int, default=24)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", default="float32")
    args = parser.parse_args()

    device = torch.device(args.device)
    samples, renderer = samples_and_renderer()
    torch.manual_seed(0)
    config = Qwen3Config(
        vocab_size=len(renderer.tokenizer),
        hidden_size=args.width,
        intermediate_size=3 * args.width,
        num_hidden_layers=args.layers,
        num_attention_heads=args.width // 32,
        num_key_value_heads=args.width // 64,
        head_dim=32,
        tie_word_embeddings=True,
    )
    # The rollout sets its model to its own attention; the other keeps that of transformers.
    ours, theirs = (Qwen3ForCausalLM(config).to(device, getattr(torch, args.dtype)).eval() for _ in range(2))
    theirs.load_state_dict(ours.state_dict())
    jobs = [sample for sample in samples[: args.samples] for _ in range(GROUP)]

    table = Table(title=f"{sum(w.numel() for w in ours.parameters()) / 1e6:.1f} M parameters, {args.slots} at once")
    for column in ("", "tokens said", "generate, tokens/s", "rollout, tokens/s", "times as fast"):
        table.add_column(column, justify="right")
    for name, turns in (("one turn", 1), ("episodes", TURNS)):
        best: dict[str, tuple[int, float]] = {}
        for _ in range(args.rounds):
            for side, play, model in (("generate", by_generate, theirs), ("rollout", by_rollout, ours)):
                got = tokens_a_second(lambda: play(model, renderer, jobs, turns, args.new, args.slots), device)  # noqa: B023
                best[side] = max(best.get(side, got), got)
        (said, slow), (also, fast) = best["generate"], best["rollout"]
        assert said == also
        table.add_row(name, str(said), f"{slow:,.0f}", f"{fast:,.0f}", f"{fast / slow:.1f}")
    console = Console(width=120)
    console.print(table)
    step, products = one_step(ours, args.slots)
    console.print(
        f"one token in each of {args.slots} slots, 250 deep: {step:.2f} ms, its matrix products {products:.2f} ms"
    )
    console.print(f"torch {torch.__version__}, {torch.get_num_threads()} threads, {args.device} {args.dtype}")


if __name__ == "__main__":
    main()
