"""Benchmark of the local judge: what its scores say, and what they cost.

    askgate quickstart                                        # or any run that recorded episodes
    python bench/judge.py score --method yes_no --out yes_no.jsonl
    python bench/judge.py score --method json --out json.jsonl
    python bench/judge.py table json.jsonl yes_no.jsonl

`score` draws recorded episodes, half of them successes, and demonstrations, each with four planted faults: the same
vague ask three times (`repeat`), the rest of another dialogue (`off_topic`), a wrong answer (`wrong`), one vague ask
that brings nothing (`needless`). The table gives per dimension the AUC: the probability that a success scores higher
than a failure, and a demonstration higher than one with the fault; 0.5 is chance. Costs are CPU seconds of the server.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import sys
from collections import defaultdict
from pathlib import Path
from random import Random

import psutil
from msgspec.structs import replace

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from askgate_env.types import Sample, Turn  # noqa: E402
from src.config.profile import load_profile, scoring_of  # noqa: E402
from src.core.jsonl import read_unique  # noqa: E402
from src.reward.recorded_episodes import RecordedEpisode  # noqa: E402
from src.scoring.client import JudgeClient  # noqa: E402
from src.scoring.judge import own_server_limits  # noqa: E402
from src.scoring.local_judge import cache_folder, judge_weights, serving  # noqa: E402
from src.scoring.prompt import DIMENSIONS, dialogue_text, vote_request  # noqa: E402
from src.scoring.providers import settings_for  # noqa: E402
from src.scoring.votes import BadReply, aggregate, parse_answers, parse_scores  # noqa: E402

FAULTS = ("repeat", "off_topic", "wrong", "needless")
ASK = {"en": "Could you clarify what you mean?", "zh": "请问您指的是什么？"}
REPLY = {"en": "What exactly would you like to know?", "zh": "您具体想知道什么？"}
OPPOSITE = {"yes": "no", "no": "yes", "是": "否", "否": "是"}


def dialogues(args: argparse.Namespace) -> list[tuple[str, Sample | RecordedEpisode]]:
    """Kind and dialogue, in a fixed random order, so that the first ones are a sample of all."""
    rng = Random(args.seed)
    samples = [one for one in read_unique(args.pool, Sample) if one.lang in args.langs]
    episodes = [one for one in read_unique(args.episodes, RecordedEpisode) if one.lang in args.langs]
    rng.shuffle(samples)
    rng.shuffle(episodes)
    drawn: list[tuple[str, Sample | RecordedEpisode]] = []
    for kind, success in (("success", True), ("failure", False)):
        drawn += [(kind, one) for one in episodes if one.episode.success == success][: args.n]
    for sample in samples[: args.n]:
        drawn += [("demonstration", sample), *planted(sample, samples[args.n :], rng)]
    rng.shuffle(drawn)
    return drawn


def planted(sample: Sample, others: list[Sample], rng: Random) -> list[tuple[str, Sample]]:
    first, *rest = sample.dialogue
    vague = (Turn("assistant", "ask", ASK[sample.lang]), Turn("user", "say", REPLY[sample.lang]))
    others = [one for one in others if one.lang == sample.lang]
    alike = [one for one in others if one.task == sample.task and one.answer != sample.answer]
    wrong = OPPOSITE.get(sample.answer) or rng.choice(alike).answer
    stray = rng.choice(others)
    turns = (
        (first, *vague * 3, *rest),
        (first, *stray.dialogue[1:]),
        (first, *rest[:-1], replace(rest[-1], text=wrong)),
        (first, *vague, *rest),
    )
    return [(kind, replace(sample, dialogue=dialogue)) for kind, dialogue in zip(FAULTS, turns, strict=True)]


async def score(args: argparse.Namespace) -> None:
    settings = settings_for({}, scoring_of(load_profile("quickstart")), "local")
    rows = {family.response_format: family for family in settings.provider.families}
    family = rows["yes_no" if args.method == "yes_no" else "grammar"].model_copy(update={"models": ("*",)})
    parse = parse_answers if args.method == "yes_no" else parse_scores
    weights = judge_weights(None, cache_folder({}), print)
    with serving(weights, args.out.with_suffix(".log")) as url, open(args.out, "w", encoding="utf-8") as out:
        provider = settings.provider.model_copy(update={"base_url": url, "families": (family,)})
        server = psutil.Process().children()[-1]
        async with JudgeClient(provider, None, own_server_limits(settings.scoring.limits)) as client:
            for kind, one in dialogues(args):
                before, latency, votes = sum(server.cpu_times()[:2]), 0.0, []
                for vote in range(args.votes):
                    reply = await client.ask(vote_request(provider, one.lang, dialogue_text(one), vote))
                    latency += reply.latency_ms / 1000
                    try:
                        votes.append(parse(reply.text, DIMENSIONS))
                    except BadReply as bad:
                        print(f"{one.id}: {bad}", file=sys.stderr)
                cpu = sum(server.cpu_times()[:2]) - before
                verdict = aggregate(votes)
                line = {"kind": kind, "lang": one.lang, "cpu_s": cpu, "latency_s": latency, "bill": reply.tokens_in}
                out.write(json.dumps({**line, "variance": verdict.variance, **verdict.scores}) + "\n")
                out.flush()


def auc(good: list[float], bad: list[float]) -> str:
    """AUC with its standard error by Hanley and McNeil (1982)."""
    n, m = len(good), len(bad)
    if not n or not m:
        return "-"
    a = sum((one > other) + (one == other) / 2 for one in good for other in bad) / n / m
    spread = a * (1 - a) + (n - 1) * (a / (2 - a) - a * a) + (m - 1) * (2 * a * a / (1 + a) - a * a)
    return f"{a:.2f} ± {math.sqrt(spread / n / m):.2f}"


def table(files: list[Path]) -> None:
    print("| judge | dimension | n | mean | sd | success | " + " | ".join(FAULTS) + " |")
    print("|---" * (6 + len(FAULTS)) + "|")
    for file in files:
        lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        for name in (*DIMENSIONS, "all"):
            scores: dict[str, list[float]] = defaultdict(list)
            for line in lines:
                mean = sum(line[one] for one in DIMENSIONS) / len(DIMENSIONS)
                scores[line["kind"]].append(mean if name == "all" else line[name])
            every = [one for some in scores.values() for one in some]
            mean = sum(every) / len(every)
            sd = math.sqrt(sum((one - mean) ** 2 for one in every) / len(every))
            found = [auc(scores["success"], scores["failure"])]
            found += [auc(scores["demonstration"], scores[fault]) for fault in FAULTS]
            print(f"| {file.stem} | {name} | {len(every)} | {mean:.2f} | {sd:.3f} | {' | '.join(found)} |")
    for file in files:
        lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        cpu = [line["cpu_s"] for line in lines]
        print(f"{file.stem}: {sum(cpu) / len(cpu):.2f} CPU seconds per score, {len(cpu)} scores")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    scoring = verbs.add_parser("score")
    scoring.add_argument("--method", choices=("json", "yes_no"), default="yes_no")
    scoring.add_argument("--pool", type=Path, default=Path("data/rollouts/quickstart.balanced.jsonl"))
    scoring.add_argument("--episodes", type=Path, default=Path("data/episodes/quickstart_calibration.jsonl"))
    scoring.add_argument("--langs", nargs="+", default=["en", "zh"])
    scoring.add_argument("--n", type=int, default=40, help="Dialogues of each kind.")
    scoring.add_argument("--votes", type=int, default=3)
    scoring.add_argument("--seed", type=int, default=1)
    scoring.add_argument("--out", type=Path, required=True)
    verbs.add_parser("table").add_argument("files", nargs="+", type=Path)
    args = parser.parse_args()
    if args.verb == "table":
        table(args.files)
    else:
        asyncio.run(score(args))


if __name__ == "__main__":
    main()
