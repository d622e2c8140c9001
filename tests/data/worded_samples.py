"""A small generator of varied questions in two wordings: a stand-in for the builder with pack_v1 and pack_v2.

Stories have skeletons with slots for names, things and numbers, so that two samples are honest siblings: same
wording, other content.
"""

from __future__ import annotations

from random import Random

from askgate_env.types import LANGS, TASKS, Article, Hidden, Lang, Sample
from tests.data.samples import MIX, make_sample

SYLLABLES = ["ka", "lo", "mi", "ren", "sta", "vul", "tor", "be", "qui", "zan", "dre", "pho", "nis", "wex", "gol", "fra"]
HAN = "山水火木金土日月星云风雨雪花草树鸟鱼马牛羊河海湖江城村路桥门窗书笔纸墨画歌舞琴棋诗酒茶米面石竹梅兰菊松柏鹤鹿虎龙"
SHAPES = [
    "{who} bought {n} {adj} {x} from {other}.",
    "In {other}, every {adj} {x} costs {n} coins.",
    "{other} gave {who} {n} more {x} that were {adj}.",
    "After the {adj} storm {n} {x} were lost near {other}.",
    "{n} {adj} {x} stay with {other} until spring.",
]
Pack = dict[Lang, list[str]]
V1: Pack = {
    "en": ["Question: {q} Answer:", "Please answer this. {q}"],
    "zh": ["问题：{q}答案：", "请回答：{q}"],
}
V2: Pack = {
    "en": [
        "Hi! I run a small shop with my sister and we got stuck on this one: {q} Would you walk me through it, please?",
        "{q} I have asked three colleagues already, and nobody could agree.",
        "For tomorrow's lesson (eight-year-olds!) I need this solved: {q} Keep every step visible.",
        "quick one before my bus leaves, {q} cheers",
        "To whom it may concern: the committee requests an answer to the following. {q} Yours faithfully.",
        "My grandmother bets I can't figure this out... {q} Prove her wrong with me?",
    ],
    "zh": ["老师好，今天作业有道题想了半天：{q}能讲讲思路吗？", "急！赶车中，{q}谢啦", "兹有一事请教，{q}盼复为感。"],
}
ROLES = ["student", "teacher", "clerk", "nurse"]
REGISTERS = ["plain", "casual", "formal"]


def word(rng: Random, lang: Lang = "en") -> str:
    if lang == "zh":
        return "".join(rng.sample(HAN, 2))
    return "".join(rng.choice(SYLLABLES) for _ in range(rng.randint(2, 3)))


def name(rng: Random) -> str:
    return word(rng).capitalize()


def story(rng: Random, lang: Lang) -> str:
    who = word(rng, "zh") if lang == "zh" else name(rng)
    if lang == "zh":
        facts = [
            f"{who}从{word(rng, 'zh')}{word(rng, 'zh')}买来{rng.randint(2, 999)}个{word(rng, 'zh')}。" for _ in range(3)
        ]
        return "".join(facts) + f"{who}一共有多少{word(rng, 'zh')}？"
    facts = [
        rng.choice(SHAPES).format(who=who, n=rng.randint(2, 999), adj=word(rng), x=word(rng), other=name(rng))
        for _ in range(4)
    ]
    return " ".join(facts) + f" How many {word(rng)} does {who} have?"


def wordy(count: int, pack: Pack, seed: int = 1, *, clarify: float = 0.3, start: int = 0) -> list[Sample]:
    """A sample whose content depends on the seed only, in either wording."""
    return [_sample(f"s{seed}-{number}", pack, clarify) for number in range(start, start + count)]


def _sample(identity: str, pack: Pack, clarify: float) -> Sample:
    rng = Random(identity)
    task = rng.choices(TASKS, [MIX[task] for task in TASKS])[0]
    lang = rng.choices(LANGS, [0.7, 0.3])[0]
    asked = story(rng, lang)
    hidden = None
    if rng.random() < clarify:
        # The span stands nowhere in the question, and nothing in the question tells that it is missing.
        span = f"{name(rng)} {name(rng)}"
        hidden = Hidden("entity", span, f"which {word(rng)} it was", (span,))
    return make_sample(
        identity,
        rng.choice(pack[lang]).format(q=asked),
        task=task,
        lang=lang,
        original=asked,
        context=(Article(name(rng), tuple(story(rng, lang) for _ in range(2))),),
        hidden=hidden,
        role=rng.choice(ROLES),
        register=rng.choice(REGISTERS),
    )
