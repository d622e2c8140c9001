"""Small invented records in the official formats; nobody in them exists."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FIRST = ["Alda", "Bero", "Cilla", "Dorn", "Edda", "Falk", "Gitta", "Harro", "Ilka", "Jorn"]
LAST = ["Amsel", "Brandt", "Clausen", "Dahl", "Ebers", "Fink", "Grote", "Hansen", "Ilves", "Jessen"]
JOBS = ["novelist", "painter", "composer", "physicist", "boxer"]
LIVES = [
    "who left school early and worked on whaling ships",
    "best remembered for quarrels with the archbishop",
    "and twice mayor of a market town in the hills",
    "from the harbour quarter of the old capital",
    "whose letters fill nine volumes",
]

GOODS = ["pens", "lamps", "bolts", "candles", "spoons", "ribbons", "whistles", "buttons", "stamps", "kites"]
KEPT = [
    "in the cellar",
    "under the stairs of the old town hall",
    "behind a green curtain",
    "on two carts by the northern gate",
    "at a cousin's barn",
    "in a boat that leaks a little",
    "beside the stove",
    "on the upper floor of the mill",
    "below the chapel roof",
    "in the yard next to some hens",
]
TRADES = [
    "runs a shop for school things",
    "sells what travelling people need",
    "took over a stall from an uncle last winter",
    "supplies small theatres all over the valley",
    "trades with sailors who come ashore in May",
    "keeps a market stand that opens before dawn",
    "clears out houses and never throws anything away",
    "helps at a fair where everybody haggles",
    "writes long lists for a forgetful merchant",
    "inherited a warehouse full of odds and ends",
]


def person(number: int) -> str:
    """An invented person. Neighbours share no name; the first hundred are all different."""
    return f"{FIRST[number % 10]} {LAST[(number // 10 + 3 * number) % 10]}"


def born(number: int) -> int:
    """Year of birth. Those of the same job were born before and after each other, so that it matters who is meant."""
    return 1500 + 5 * number


def biography(number: int) -> list[str]:
    name, job = person(number), JOBS[number % len(JOBS)]
    return [
        f"{name} (born {born(number)}) was a Norlandic {job} {LIVES[number % len(LIVES)]}.",
        f"In later years the family moved to a farm near village {number}, where little is recorded.",
    ]


def place(number: int) -> tuple[str, list[str]]:
    title = f"Lake Orn {number}"
    return title, [f"{title} is a lake in the north of the country.", "Its shores are steep and covered with pines."]


def hotpot(number: int) -> dict[str, Any]:
    """A comparison question, who was born first. The answer is the person with the lower number."""
    one, two = person(2 * number), person(2 * number + 1)
    context = [[one, biography(2 * number)], [two, biography(2 * number + 1)]]
    context += [list(place(10 * number + extra)) for extra in range(8)]
    return {
        "_id": f"{number:024x}",
        "question": f"Who was born first, {one} or {two}?",
        "answer": one,
        "type": "comparison",
        "level": "hard",
        "supporting_facts": [[one, 0], [two, 0]],
        "context": context,
    }


def strategy(number: int) -> dict[str, Any]:
    name = person(number)
    return {
        "qid": f"{number:020x}",
        "term": name,
        "description": f"Norlandic {JOBS[number % len(JOBS)]}",
        "question": f"Could {name} have seen the great comet of {born(number) - 10}?",
        "answer": False,
        "facts": [f"{name} was born in {born(number)}", f"The great comet was seen in {born(number) - 10}."],
        "decomposition": [f"When was {name} born?", "When was the comet seen?", "Is #2 after #1?"],
        "evidence": [[[[f"{name}-1"]], [[f"Comet {number}-1"], "no_evidence"], ["operation"]]],
    }


def paragraphs(number: int) -> dict[str, Any]:
    comet = f"Comet {number} is a comet. It was seen in {born(number) - 10} by everybody who looked up at night."
    shape = {"section": "", "headers": [""], "para_index": 1}
    return {
        f"{person(number)}-1": {"title": person(number), "content": " ".join(biography(number)), **shape},
        f"Comet {number}-1": {"title": f"Comet {number}", "content": comet, **shape},
    }


def gsm(number: int) -> dict[str, str]:
    """A record with its own goods and place: records that tell the same story twice would be skipped."""
    name, goods, kept = FIRST[number % 10], GOODS[(number // 10 + 3 * number) % 10], KEPT[number // 4 % 10]
    trade = TRADES[(number // 4 + 7 * number) % 10]
    boxes, each, price = 30 + number, 13 + number % 7, 7 + number % 3
    total = boxes * each
    return {
        "question": f"{name} {trade}. {name} has {boxes} boxes {kept}. "
        f"Each box holds {each} {goods}. The {goods} cost ${price} each. How much are all the {goods} worth?",
        "answer": f"There are {boxes}*{each} = <<{boxes}*{each}={total}>>{total} {goods}.\n"
        f"They are worth {total}*{price} = $<<{total}*{price}={total * price}>>{total * price}.\n"
        f"#### {total * price:,}",
    }


def write_all(folder: Path, count: int = 40) -> Path:
    for task in ("hotpotqa", "strategyqa", "gsm8k"):
        (folder / task).mkdir(parents=True, exist_ok=True)
    numbers = range(count)
    pages = {name: page for number in numbers for name, page in paragraphs(number).items()}
    (folder / "hotpotqa" / "any_name.json").write_text(json.dumps([hotpot(number) for number in numbers]))
    (folder / "strategyqa" / "strategyqa_train.json").write_text(json.dumps([strategy(number) for number in numbers]))
    (folder / "strategyqa" / "strategyqa_train_paragraphs.json").write_text(json.dumps(pages))
    (folder / "gsm8k" / "train.jsonl").write_text("".join(json.dumps(gsm(number)) + "\n" for number in numbers))
    return folder
