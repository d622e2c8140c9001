"""Small samples of a wanted task, language and difficulty, and pools of them, for the difficulty tests."""

from __future__ import annotations

from collections.abc import Iterable

from askgate_env.types import TASKS, Article, Lang, Level, Provenance, Sample, Task, Turn

TARGET: dict[Level, float] = {"easy": 0.25, "medium": 0.45, "hard": 0.30}

WIKI_CALLS: dict[Level, int] = {"easy": 1, "medium": 3, "hard": 5}
CONTEXT_WORDS: dict[Level, int] = {"easy": 60, "medium": 320, "hard": 700}
CALC_CALLS: dict[Level, tuple[str, ...]] = {
    "easy": ("3+4",),
    "medium": ("3*4", "12+5", "17-2"),
    "hard": ("3*4", "12+5", "17-2", "15/3", "5*9"),
}


def dialogue(calls: Iterable[tuple[str, str]], ask: bool, answer: str) -> tuple[Turn, ...]:
    turns = [Turn("user", "say", "the question")]
    if ask:
        turns += [Turn("assistant", "ask", "Which one do you mean?"), Turn("user", "say", "The older one.")]
    for tool, text in calls:
        turns += [Turn("assistant", "call", text, tool=tool), Turn("tool", "result", "found", tool=tool)]
    return (*turns, Turn("assistant", "answer", answer))


def sample(
    identity: str,
    task: Task = "hotpotqa",
    *,
    lang: Lang = "en",
    premise: str = "",
    clue: str = "",
    question: str = "Who wrote it?",
    context: tuple[Article, ...] = (),
    support: tuple[str, ...] = (),
    turns: tuple[Turn, ...] = (),
    needs_clarification: bool = False,
    ambiguity: tuple[str, ...] = (),
) -> Sample:
    prompt = " ".join(part for part in (premise, clue, question) if part)
    return Sample(
        id=identity,
        task=task,
        lang=lang,
        prompt=prompt,
        premise=premise,
        clue=clue,
        question=question,
        original=prompt,
        context=context,
        support=support,
        answer="yes",
        aliases=(),
        needs_clarification=needs_clarification,
        dialogue=turns or dialogue([], False, "yes"),
        provenance=Provenance("builtin", "train", identity, "t1", "student", "plain", 7),
        ambiguity=ambiguity,
    )


def graded(identity: str, task: Task, level: Level) -> Sample:
    """A sample that measures as `level`, with a clue overlap in the range of that level."""
    return _story(identity, level) if task == "gsm8k" else _lookup(identity, task, level)


def _lookup(identity: str, task: Task, level: Level) -> Sample:
    support = (
        f"The lighthouse of Arnholt was designed by Vera Lindqvist and finished before the storm, note {identity}."
    )
    page = Article("Arnholt", (support, *(["It stands by the sea."] * (CONTEXT_WORDS[level] // 6))))
    clue, question = {
        "easy": ("The lighthouse of Arnholt was designed by Vera Lindqvist.", "Who paid for it?"),
        "medium": ("", "Was the lighthouse, Arnholt, or Kettil Bay or Oslo, finished by 1962 or before?"),
        "hard": (
            "",
            "If Kettil Bay, Oslo, Malmo, Turku and Arnholt each had a keeper, and since one was built by Lindqvist in "
            "1962, then who paid?",
        ),
    }[level]
    calls = [("wiki", f"page {number}") for number in range(WIKI_CALLS[level])]
    return sample(
        identity,
        task,
        clue=clue,
        question=question,
        context=(page,),
        support=(support,),
        turns=dialogue(calls, False, "yes"),
    )


def _story(identity: str, level: Level) -> Sample:
    premise, clue, question = {
        "easy": ("Anna has 3 red pens and 4 blue pens.", "Anna has 3 red pens.", "How many pens has Anna?"),
        "medium": (
            f"Anna buys 12 boxes of pens, each of 24 pens, for shop {identity}.",
            "",
            "How many pens has Anna if each costs 2 dollars?",
        ),
        "hard": (
            "Anna buys 12 boxes, because Bo and Cleo sold 24 and 36 of them, and then each of 5 shops sends back 7, "
            "or 8 if it rains, so 9 stay.",
            "",
            "How many boxes has everyone, if Bo and Anna share?",
        ),
    }[level]
    calls = [("calc", text) for text in CALC_CALLS[level]]
    return sample(
        identity,
        "gsm8k",
        premise=premise,
        clue=clue,
        question=question,
        support=(premise,),
        turns=dialogue(calls, False, "7"),
    )


def graded_samples(counts: dict[Task, dict[Level, int]]) -> list[Sample]:
    """Samples with interleaved levels, so that pool order is not level order."""
    wanted = [
        (place / count, task, level)
        for task in counts
        for level, count in counts[task].items()
        for place in range(count)
    ]
    wanted.sort()
    return [graded(f"s{number:05d}", task, level) for number, (_, task, level) in enumerate(wanted)]


def even_supply(easy: int, medium: int, hard: int) -> dict[Task, dict[Level, int]]:
    return {task: {"easy": easy, "medium": medium, "hard": hard} for task in TASKS}
