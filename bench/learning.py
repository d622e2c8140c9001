"""What each way of learning gives in need-ask success: SFT alone, SFT for the same time, SFT and then PPO or GRPO.

    python bench/learning.py data --out DIR                          a pool, and held-out samples, half of them need-ask
    python bench/learning.py run --data DIR --out DIR --arm sft_ppo --seed 1 [--set KEY=VALUE ...] [--name LABEL]
    python bench/learning.py table DIR [--against sft_time]          figures of all results, with paired 95% intervals

    for seed in 1 2 3; do for arm in sft sft_time sft_ppo sft_grpo; do
      OMP_NUM_THREADS=1 python bench/learning.py run --data d --out results --arm $arm --seed $seed &
    done; done; wait; python bench/learning.py table results

One process is one arm and one seed, with one thread, so that as many run side by side as there are cores. The settings
are those of `configs/quickstart.yaml` (or `--config`): `models/tiny`, the reward is the outcome by rule, no judge.
`--set` changes them as in `askgate train`; give such a variant a `--name`. `bench/real_models.py` makes data and
weights for the same arms on a GPU (`--device cuda`). Arms:

- *base*: nothing is learned.
- *sft*: the warm start of the config.
- *sft_time*: SFT on `eval.control_tokens`, or on `--tokens`. `table` prints the tokens that SFT reads in the time of
  each other arm: warm-start tokens + seconds of the other steps * SFT tokens per second of the same process.
- *sft_ppo*, *sft_grpo*: the warm start, then the strategy (GRPO with groups of 4). `--save FOLDER` of an *sft* run and
  `--start FOLDER` of these saves the second warm start: the steps of the config are then the strategy's alone.

Every arm is evaluated on all held-out samples, greedy and `--sampled` times at temperature 1, with the same random
numbers for all arms. A result is one JSON file, which holds what each sample contributes to each figure, so that the
table can resample samples. Several seeds are several episodes of each sample. `table` also has success and the ask
figures by source of the samples.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import time
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "packages/askgate-env/src")]

from askgate_env.types import Episode, Sample  # noqa: E402
from src.callbacks.eval_shadow import EvaluationRollout  # noqa: E402
from src.config.loader import load_train_config  # noqa: E402
from src.config.train_config import TrainConfig  # noqa: E402
from src.core.defaults import MIX, TEMPLATES  # noqa: E402
from src.core.files import sha256_file  # noqa: E402
from src.data.pool.build import build_pool  # noqa: E402
from src.data.pool.meta import read_meta  # noqa: E402
from src.data.pool.plan import BuildPlan  # noqa: E402
from src.data.pool.shadow_set import materialize_shadow  # noqa: E402
from src.engines.job import TrainJob, WarmStart  # noqa: E402
from src.engines.models import compile_layers, load_policy, save_policy  # noqa: E402
from src.engines.pure_pt import PurePT  # noqa: E402
from src.engines.sft import SftPlan, fine_tune  # noqa: E402
from src.eval.metrics import MEASURES  # noqa: E402
from src.reward.configured import make_reward  # noqa: E402
from src.runtime.device import DEVICES, get_device, get_dtype, lora_targets, memory_gb, prepare_device  # noqa: E402
from src.training.components import make_strategy, open_renderer  # noqa: E402
from src.training.data import held_out  # noqa: E402
from src.training.sampler import open_sampler  # noqa: E402
from src.training.sft_control import demonstrations  # noqa: E402

CONFIG = ROOT / "configs" / "quickstart.yaml"
ARMS = {
    "base": (),
    "sft": (),
    "sft_time": (),
    "sft_ppo": ("strategy=ppo",),
    "sft_grpo": ("strategy=grpo", "strategy_options.group_size=4"),
}
"""Settings of each arm."""
FIGURES = ("need_ask_success", "complete_success", "overclar_rate", "success", "question_f1", "ask_f1", "avg_turns")
EXTRA = {
    "complete_success": lambda one: (one.success, not one.needs_clarification and one.task != "detect"),
    # By episode: F1 of having asked at all.
    "ask_f1": lambda one: (2 * (one.needs_clarification and one.asks > 0), one.needs_clarification + (one.asks > 0)),
}
"""Figures that `src/eval/metrics.py` does not have."""
BY_SOURCE = ("success", "need_ask_success", "overclar_rate", "question_f1", "ask_f1")
COMPARED = ("need_ask_success", "complete_success", "overclar_rate", "question_f1")
RESAMPLES = 2000
SFT_FACTS = "sft_facts.json"
"""Seconds and tokens of a saved warm start, beside its weights."""
BOTH = ("reward", "success", "need_ask_success", "overclar_rate", "kl", "loss")
SHOWN = (*BOTH, "time/rollout", "time/step", "time/sft")
"""Metrics of a step that are printed."""
CURVE = (*BOTH, "teaching_share", "clip_share", "value_explained")
"""Metrics of a step that the result keeps."""


def make_data(out: Path, n: int, held: int, seed: int) -> None:
    out.mkdir(parents=True, exist_ok=True)
    plan = BuildPlan(n=n, mix=MIX, seed=seed, langs=(), templates_dir=TEMPLATES)
    build_pool(plan, out / "pool.jsonl")
    rare = BuildPlan(n=held, mix=MIX, seed=seed, langs=(), templates_dir=TEMPLATES, clarify_rate=0.5)
    materialize_shadow(rare, stratify=True, out=out / "held_out.jsonl", manifest=None, tag="")


def learn(
    arm: str, config: TrainConfig, job: TrainJob, tokens: int | None, most_seconds: float
) -> tuple[Any, dict[str, Any]]:
    """The policy of an arm, and how it came about. No step of the strategy starts after `most_seconds` of them."""
    facts: dict[str, Any] = {"sft_seconds": 0.0, "sft_tokens": 0.0, "rl_seconds": 0.0, "curve": []}
    if arm in ("base", "sft_time"):
        policy = load_policy(job.model, job.finetune, job.lora_targets, job.device, job.dtype)
        if arm == "sft_time":
            if job.device.type == "cuda":
                compile_layers(policy)  # as the engine does
            read = tokens or config.eval.control_tokens
            if not read:
                raise SystemExit("give --tokens: the config has no eval.control_tokens")
            plan = SftPlan(read, config.eval.control_lr, config.eval.control_batch_tokens, job.seed)
            demos = demonstrations(config.seed_pool, job.renderer, job.rollout)
            start = time.perf_counter()
            facts["sft_tokens"] = fine_tune(policy, demos, plan)["tokens"]
            facts["sft_seconds"] = time.perf_counter() - start
        return policy, facts
    engine = PurePT(job)
    while engine.step < (config.warm_steps if arm == "sft" else config.steps) and facts["rl_seconds"] < most_seconds:
        metrics = engine.take_step().metrics
        if "sft_tokens" in metrics:
            facts["sft_seconds"] += metrics["time/sft"]
            facts["sft_tokens"] += metrics["sft_tokens"]
        else:
            facts["rl_seconds"] += metrics["time/step"]
        print(job.seed, engine.step, {name: round(metrics[name], 4) for name in SHOWN if name in metrics}, flush=True)
        facts["curve"].append({"step": engine.step, **{name: metrics[name] for name in CURVE if name in metrics}})
    facts |= {"tokens_seen": engine.tokens_seen, "steps": engine.step}
    return engine.policy, facts


def make_job(config: TrainConfig, seed: int, device: torch.device) -> TrainJob:
    prepare_device(device)
    renderer, limits = open_renderer(config.base_model), config.rollout_limits(read_meta(config.seed_pool).tools)
    warm = None
    if config.warm_start:
        plan = SftPlan(config.warm_start.tokens, config.warm_start.lr, config.warm_start.batch_tokens, seed)
        warm = WarmStart(config.warm_start.steps, plan, lambda: demonstrations(config.seed_pool, renderer, limits))
    return TrainJob(
        model=config.base_model,
        renderer=renderer,
        strategy=make_strategy(config),
        sampler=open_sampler(config.seed_pool, config.shadow_set, config.priority_sampling, seed),
        reward=make_reward(config),
        seed=seed,
        max_steps=config.steps,
        batch_size=config.batch_size,
        device=device,
        dtype=get_dtype(device, config.precision),
        rollout=limits,
        lr=config.lr,
        optimizer=config.optimizer,
        finetune=config.finetune,
        lora_targets=lora_targets(config.finetune.targets, memory_gb(device)),
        kl_alert=config.kl_alert,
        warm_start=warm,
    )


def contributions(episodes: list[Episode]) -> dict[str, list[list[float]]]:
    """Sum and count that each sample contributes to each figure, in the order of the samples."""
    measures = MEASURES | EXTRA
    found = {name: [[float(x) for x in measures[name](one)] for one in episodes] for name in FIGURES}
    for name in ("complete_success", "success"):  # sums only where there is a count
        found[name] = [[value * (count > 0), count] for value, count in found[name]]
    return found


def run_arm(arguments: argparse.Namespace) -> None:
    torch.set_num_threads(1)
    arm, seed, data, name = arguments.arm, arguments.seed, arguments.data, arguments.name or arguments.arm
    files = (f"seed_pool={data / 'pool.jsonl'}", f"shadow_set={data / 'held_out.jsonl'}", "build=null")
    start = (f"base_model={arguments.start}", "warm_start=null") if arguments.start else ()
    changes = (f"base_model={arguments.model}", *files, *ARMS[arm], *arguments.set, *start)
    config = load_train_config(arguments.config, changes)
    config = config.model_copy(update={"eval": config.eval.model_copy(update={"n": arguments.n})})
    job = make_job(config, seed, get_device((arguments.device,)))
    policy, facts = learn(arm, config, job, arguments.tokens, arguments.most_seconds)
    if arguments.start:
        facts |= json.loads((arguments.start / SFT_FACTS).read_text())
    if arguments.save:
        save_policy(policy, arguments.model, arguments.save)
        (arguments.save / SFT_FACTS).write_text(json.dumps({key: facts[key] for key in ("sft_seconds", "sft_tokens")}))
    samples, levels = held_out(config)
    began, evaluations = time.perf_counter(), {}
    for number in range(arguments.sampled + 1):
        rollout = EvaluationRollout(replace(job, seed=number), samples, levels, greedy=number == 0)
        evaluations["greedy" if number == 0 else f"sampled_{number}"] = contributions(rollout(policy))
    result = {
        "arm": name,
        "seed": seed,
        "set": list(arguments.set),
        "held_out": sha256_file(config.shadow_set),
        "samples": len(samples),
        "need_ask": sum(sample.needs_clarification for sample in samples),
        "sources": [source_of(sample) for sample in samples],
        "evaluation_seconds": time.perf_counter() - began,
        **facts,
        "config": config.model_dump(mode="json"),
        "evaluations": evaluations,
    }
    arguments.out.mkdir(parents=True, exist_ok=True)
    path = arguments.out / f"{name}_seed{seed}.json"
    path.write_text(json.dumps(result))
    print(path, {way: round(value(pooled([result], way), "need_ask_success"), 4) for way in ways([result])})


def source_of(sample: Sample) -> str:
    """The dataset of a sample: its task, where the source has the three seed datasets."""
    source = sample.provenance.source
    return sample.task if source in ("builtin", "dir", "hf") else source


def ways(results: list[dict[str, Any]]) -> list[str]:
    """Ways of evaluation that all results have."""
    had = [{key.partition("_")[0] for key in one["evaluations"]} for one in results]
    return [way for way in ("greedy", "sampled") if all(way in one for one in had)]


def pooled(results: list[dict[str, Any]], way: str) -> dict[str, np.ndarray[Any, Any]]:
    """Contributions of each sample, shape (samples, 2), added up over seeds and evaluations of one way."""
    chosen = [found for one in results for key, found in one["evaluations"].items() if key.startswith(way)]
    return {name: np.sum([found[name] for found in chosen], axis=0) for name in FIGURES if name in chosen[0]}


def value(parts: dict[str, np.ndarray[Any, Any]], name: str) -> float:
    total = parts[name].sum(axis=0)
    return float(total[0] / total[1]) if total[1] else float("nan")


def cell(parts: dict[str, np.ndarray[Any, Any]], name: str) -> str:
    found = value(parts, name)
    return "" if np.isnan(found) else f"{found * (1 if name == 'avg_turns' else 100):.1f}"


def interval(
    ours: dict[str, np.ndarray[Any, Any]], theirs: dict[str, np.ndarray[Any, Any]], name: str
) -> tuple[float, float, float]:
    """Difference of a figure and its 95% interval: a bootstrap over samples, both sides resampled together."""
    n = len(ours[name])
    times = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), size=RESAMPLES).astype(np.float64)
    with np.errstate(invalid="ignore"):  # a resample may have nothing to measure the figure on
        ratios = [(sums := times @ side[name])[:, 0] / sums[:, 1] for side in (ours, theirs)]
    low, high = np.nanpercentile(ratios[0] - ratios[1], [2.5, 97.5])
    return value(ours, name) - value(theirs, name), float(low), float(high)


def print_table(folder: Path, against: str) -> None:
    arms: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for path in sorted((*folder.glob("*_seed*.json"), *folder.glob("*_seed*.json.gz"))):
        result = json.loads((gzip.decompress if path.suffix == ".gz" else bytes)(path.read_bytes()))
        arms[result["arm"]].append(result)
    if against not in arms:
        raise SystemExit(f"no result of {against} in {folder}; give --against one of {', '.join(arms)}")
    if len({(one["held_out"], one["samples"]) for results in arms.values() for one in results}) > 1:
        raise SystemExit("the results are on different held-out samples")
    any_one, shown = arms[against][0], ways([one for results in arms.values() for one in results])
    print(f"{any_one['samples']} held-out samples, {any_one['need_ask']} need-ask; shares in percent")
    for way in shown:
        control = pooled(arms[against], way)
        compared = [f"{name} over {against}" for name in COMPARED]
        print(
            f"\n| {' | '.join([way, 'seeds', *control, *compared])} |\n{'|---' * (len(control) + 2 + len(compared))}|"
        )
        for name, results in arms.items():
            parts = pooled(results, way)
            cells = [cell(parts, one) for one in control]
            for figure in COMPARED:
                delta, low, high = interval(parts, control, figure)
                cells.append(f"{100 * delta:+.1f} ({100 * low:+.1f} to {100 * high:+.1f})")
            print(f"| {name} | {len(results)} | {' | '.join(cells)} |")
    sources = any_one.get("sources", [])
    for way in shown if len(set(sources)) > 1 else []:
        print(f"\n| {way}, by source | samples | arm | {' | '.join(BY_SOURCE)} |\n{'|---' * (3 + len(BY_SOURCE))}|")
        for source in sorted(set(sources)):
            rows = np.array([one == source for one in sources])
            for name, results in arms.items():
                parts = {figure: part[rows] for figure, part in pooled(results, way).items()}
                print(f"| {source} | {rows.sum()} | {name} | {' | '.join(cell(parts, one) for one in BY_SOURCE)} |")
    print("\n| time | SFT tokens | SFT tokens/s | RL s | SFT tokens in the same time |\n|---|---|---|---|---|")
    for name, results in arms.items():
        keys = ("sft_tokens", "sft_seconds", "rl_seconds")
        tokens, seconds, rl = (float(np.mean([one[key] for one in results])) for key in keys)
        if seconds:
            speed = tokens / seconds
            print(f"| {name} | {tokens:,.0f} | {speed:,.0f} | {rl:.0f} | {tokens + rl * speed:,.0f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    data = verbs.add_parser("data", help="make pool and held-out samples")
    data.add_argument("--out", type=Path, required=True)
    data.add_argument("--n", type=int, default=3000)
    data.add_argument("--held", type=int, default=2200)
    data.add_argument("--seed", type=int, default=20250820)
    run = verbs.add_parser("run", help="one arm and one seed")
    run.add_argument("--data", type=Path, required=True, help="folder with pool.jsonl and held_out.jsonl")
    run.add_argument("--out", type=Path, required=True)
    run.add_argument("--arm", choices=ARMS, required=True)
    run.add_argument("--seed", type=int, required=True)
    run.add_argument("--model", default=str(ROOT / "models" / "tiny"))
    run.add_argument("--device", choices=DEVICES, default="cpu")
    run.add_argument("--config", type=Path, default=CONFIG)
    run.add_argument("--save", type=Path, help="folder for the weights of the arm")
    run.add_argument("--start", type=Path, help="folder of a saved sft run, in place of the warm start")
    run.add_argument("--sampled", type=int, default=4, help="sampled evaluations")
    run.add_argument("--name", default="", help="label of a variant")
    run.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    run.add_argument("--tokens", type=int, help="SFT tokens of sft_time")
    run.add_argument("--most_seconds", type=float, default=float("inf"), help="seconds after which the strategy stops")
    run.add_argument("--n", type=int, help="held-out samples, evenly spaced; default: all")
    shown = verbs.add_parser("table", help="figures of all results")
    shown.add_argument("folder", type=Path)
    shown.add_argument("--against", default="sft_time")
    arguments = parser.parse_args()
    if arguments.verb == "data":
        make_data(arguments.out, arguments.n, arguments.held, arguments.seed)
    elif arguments.verb == "run":
        run_arm(arguments)
    else:
        print_table(arguments.folder, arguments.against)


if __name__ == "__main__":
    main()
