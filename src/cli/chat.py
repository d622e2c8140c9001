"""Verbs that show a policy at work: chat."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from ..core.defaults import SEED
from ..core.errors import BadInput
from ..core.types import Lang, Turn
from . import options
from .loop import INTERRUPTED

if TYPE_CHECKING:
    from ..chat.policies import Policy
    from ..core.types import Article, Sample
    from .dialogue import DialoguePrinter

MAX_TURNS, MAX_TURNS_TYPED = 6, 12
"""Turns of the policy: as in evaluations, and with a person, who may be asked more."""
DRAWN = 40
"""Samples of the built-in worlds that `--simulate` draws from."""


def chat(
    model: Annotated[
        str,
        Argument(
            metavar="MODEL",
            help="Model folder such as models/tiny or a run's final_model, folder of LoRA adapters, GGUF file, hub "
            "model, or URL of an OpenAI-compatible server ($POLICY_MODEL, $POLICY_API_KEY).",
        ),
    ],
    simulate: Annotated[
        bool, Option("--simulate", help="Draw a task and let the user simulator play the user.")
    ] = False,
    pool: Annotated[
        Path | None, Option(help="Pool to draw tasks from, with --simulate. Default: held-out generated worlds.")
    ] = None,
    articles: Annotated[
        Path | None, Option(help="Articles for the wiki tool: a .jsonl with title and text, or a text file.")
    ] = None,
    lang: options.OneLang = "en",
    temperature: Annotated[float, Option(min=0, max=2, help="0 takes the likeliest token.")] = 0.0,
    seed: options.Seed = SEED,
) -> None:
    """Talk with a policy in the terminal.

    You type the task and answer its questions, or the simulator does. Ctrl-D ends it.
    """
    if pool is not None and not simulate:
        raise BadInput("the tasks of a pool are for the simulator", where="--pool", remedy="add --simulate")
    if articles is not None and simulate:
        raise BadInput("a drawn task has its own articles", where="--articles", remedy="leave out --simulate")
    from ..chat.policies import open_policy
    from ..chat.samples import read_articles
    from .dialogue import DialoguePrinter

    pages = read_articles(articles) if articles else ()
    samples = _draw(pool, lang, seed) if simulate else None
    printer = DialoguePrinter(lang, you=not simulate)
    try:
        with open_policy(model, temperature, seed) as policy:
            if samples is not None:
                _simulate(policy, samples, pool, printer)
            else:
                printer.say("typed", model=model)
                printer.say("articles" if pages else "no_articles", count=len(pages))
                printer.say("leave")
                _talk(policy, pages, printer)
    except EOFError:
        printer.console.print()
        printer.say("bye")
    except KeyboardInterrupt:
        printer.console.print()
        printer.say("bye")
        raise typer.Exit(INTERRUPTED) from None


def _talk(policy: Policy, articles: tuple[Article, ...], printer: DialoguePrinter) -> None:
    """Dialogues with a person, until the input ends."""
    from ..agents.trajectory import Job
    from ..chat.samples import typed_sample

    while True:
        sample = typed_sample(printer.read(), articles)

        def watch(turn: Turn) -> None:
            if turn.by != "user":  # the person sees what they typed
                printer.turn(turn)

        work = partial(policy.rollout, [Job(sample)], MAX_TURNS_TYPED, printer.typed, watch)
        episode = printer.wait_for(work)
        if episode.end != "answer":
            printer.ended(episode)
        printer.console.print()


def _simulate(policy: Policy, samples: Iterator[Sample], pool: Path | None, printer: DialoguePrinter) -> None:
    """Dialogues with the simulator about drawn samples, one each time that the person presses Enter."""
    from ..agents.trajectory import Job
    from ..reward.reward import TrainingReward

    printer.say("simulated", source=pool or printer.text("builtin"))
    for number, sample in enumerate(samples):
        if number:
            printer.say("another")
            printer.read(empty=True)
        printer.turn(Turn("user", "say", sample.prompt))
        work = partial(policy.rollout, [Job(sample)], MAX_TURNS, watch=printer.turn)
        episode = printer.wait_for(work)
        printer.result(sample, episode, TrainingReward()(episode, sample))
    printer.say("no_more")


def _draw(pool: Path | None, lang: Lang, seed: int) -> Iterator[Sample]:
    """Samples in random order."""
    from random import Random

    from ..chat.samples import held_out_samples
    from ..core.jsonl import read_unique
    from ..core.types import Sample

    samples = held_out_samples(DRAWN, lang, seed) if pool is None else list(read_unique(pool, Sample))
    if not samples:
        raise BadInput("has no samples", where=str(pool), remedy="build a pool: askgate build_rollout_pool")
    return iter(Random(f"chat:{seed}").sample(samples, len(samples)))
