"""Commands that show a policy at work: chat and demo."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from askgate_env.types import Lang, Turn

from ..core.defaults import SEED
from ..core.errors import BadInput
from ..core.files import shipped
from ..core.paths import REPORTS
from . import options, show
from .loop import INTERRUPTED

if TYPE_CHECKING:
    from askgate_env.types import Article, Sample

    from ..chat.demo import Demo
    from ..chat.policies import Policy
    from .dialogue import DialoguePrinter, Row

TINY, TINY_TRAINED = Path("models/tiny"), Path("models/tiny-trained")
MAX_TURNS, MAX_TURNS_TYPED = 6, 12  # turns of the policy: as in evaluations, and with a person, who may be asked more
WIDE = 110  # columns of a terminal in which the demo shows both policies side by side
RESULT_SHOWN = 240  # characters of a tool's result that the demo shows in the terminal; its page has all of them


def chat(
    model: Annotated[str, Argument(metavar="MODEL")],
    simulate: Annotated[bool, Option("--simulate")] = False,
    pool: Path | None = None,
    articles: Path | None = None,
    adapter: Path | None = None,
    *,
    lang: options.OneLang,
    temperature: Annotated[float, Option(min=0, max=2)] = 0.0,
    seed: Annotated[int, Option(min=0)] = SEED,
) -> None:
    """Talk with a model in the terminal.

    You type a question and answer the policy's clarifying questions. With --simulate, the user simulator does both.
    Ctrl-D ends the chat.
    """
    if pool is not None and not simulate:
        raise BadInput("the questions of a pool are for the simulator", where="--pool", remedy="add --simulate")
    if articles is not None and simulate:
        raise BadInput("a drawn question has its own articles", where="--articles", remedy="leave out --simulate")
    from ..chat.policies import open_policy
    from ..chat.samples import read_articles
    from .dialogue import DialoguePrinter

    pages = read_articles(articles) if articles else ()
    samples = _draw(pool, lang, seed) if simulate else None
    printer = DialoguePrinter(lang, you=not simulate)
    try:
        with open_policy(model, temperature, seed, adapter=adapter) as policy:
            if samples is not None:
                _simulate(policy, samples, pool, printer)
            else:
                printer.say("typed", model=model)
                if shipped(Path(model)).resolve() in {shipped(one).resolve() for one in (TINY, TINY_TRAINED)}:
                    printer.say("tiny")
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


def demo(
    trained: Path = TINY_TRAINED, base: Path = TINY, *, lang: options.OneLang, out: Path = REPORTS / "demo.html"
) -> None:
    """Show a model before and after training, side by side.

    Takes less than a minute and trains nothing. All numbers shown are measured during the demo.
    """
    from ..chat.demo import run_demo, write_page
    from .dialogue import DialoguePrinter

    made = run_demo(base, trained, lang, show.Terminal())
    write_page(made, out)
    printer = DialoguePrinter(lang)
    for number in range(len(made.shown)):
        _print_pair(made, number, printer)
    _print_counts(made, printer)
    show.say(f"{printer.label('demo', 'page')} {out}")
    if trained == TINY_TRAINED:
        show.say(f"{printer.label('demo', 'train')} askgate quickstart")
    show.say(f"{printer.label('demo', 'talk')} askgate chat {trained} --simulate")


def _print_pair(made: Demo, number: int, printer: DialoguePrinter) -> None:
    """One sample with both dialogues: in two columns if the terminal is wide, else one after the other."""
    from rich.table import Table
    from rich.text import Text

    from .dialogue import HEADING, grid, result_rows, sample_rows, turn_rows

    place = made.shown[number]
    sample = made.samples[place]
    missing = printer.label("demo", "lacking" if sample.hidden else "complete")
    chosen = f" ({printer.label('demo', 'chosen')})" if place == made.chosen else ""
    printer.headline(f"{number + 1}/{len(made.shown)} {sample.task}: {missing}{chosen}")
    printer.turn(Turn("user", "say", sample.prompt))
    printer.rows(sample_rows(sample, made.lang))
    sides: dict[str, list[Row]] = {}
    for name, side in made.sides.items():
        episode = side.episodes[place]
        turns = [row for turn in episode.turns[1:] for row in turn_rows(turn, made.lang)]
        for _, text in turns:
            text.truncate(RESULT_SHOWN, overflow="ellipsis")
        sides[f"{printer.label('demo', name)} {side.model}"] = turns + result_rows(episode, made.lang)
    if printer.console.is_terminal and printer.console.width >= WIDE:
        columns = Table(box=None, expand=True, padding=(0, 2, 0, 0), pad_edge=False, header_style=HEADING)
        for heading in sides:
            columns.add_column(heading, ratio=1)
        columns.add_row(*map(grid, sides.values()))
        printer.console.print(columns)
    else:
        for heading, rows in sides.items():
            printer.console.print(Text(heading, HEADING))
            printer.rows(rows)
    printer.console.print()


def _print_counts(made: Demo, printer: DialoguePrinter) -> None:
    """A table of the counts of both policies over all samples of the demo."""
    counts = {name: side.counts() for name, side in made.sides.items()}
    printer.headline(printer.label("demo", "about").format(n=len(made.samples)))
    rows = [
        [printer.label("demo", figure), *(f"{found[figure][0]}/{found[figure][1]}" for found in counts.values())]
        for figure in counts["base"]
    ]
    show.print_table(("", *(printer.label("demo", name) for name in counts)), rows)
    printer.console.print()


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
    from askgate_env.reward import TrainingReward

    from ..agents.trajectory import Job

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
    """Samples of the pool, or held-out ones of the built-in worlds, in random order."""
    from random import Random

    from askgate_env.types import Sample

    from ..chat.samples import DRAWN, held_out_samples
    from ..core.jsonl import read_unique

    samples = held_out_samples(DRAWN, lang, seed) if pool is None else list(read_unique(pool, Sample))
    if not samples:
        raise BadInput("has no samples", where=str(pool), remedy="build a pool: askgate build-rollout-pool")
    return iter(Random(f"chat:{seed}").sample(samples, len(samples)))
