"""Write 60 dialogues of a help desk in the OpenAI messages format: the file of the tutorial on your own dialogues.

    python examples/own_messages.py own/dialogues.jsonl
    python examples/own_messages.py own_zh/dialogues.jsonl --lang zh

Every dialogue is about a place of an invented town (`own_messages.yaml`). Some services have two places. A user who
does not say which one leaves something out, and the row says what under `hidden`. Users speak in the same way of a
service with one place, so the wording alone does not tell whether to ask.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import yaml

CONTENT = Path(__file__).with_suffix(".yaml")
WHICH = {"en": ("Do you mean {} or {}?", "which place you mean"), "zh": ("您说的是{}还是{}？", "您指的是哪一处")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--lang", choices=("en", "zh"), default="en")
    arguments = parser.parse_args()
    services = yaml.safe_load(CONTENT.read_text(encoding="utf-8"))[arguments.lang]
    rows = [row for service in services for row in dialogues(service, arguments.lang)]
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    with arguments.out.open("w", encoding="utf-8") as out:
        out.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    print(f"{len(rows)} dialogues in {arguments.out}, {sum('hidden' in row for row in rows)} of them incomplete")


def dialogues(service: dict[str, Any], lang: str) -> list[dict[str, Any]]:
    """The dialogues of a service. With two places the first question names its place and the others leave it open."""
    places, pages = service["places"], articles(service, lang)
    made = []
    for number, (question, _, *answers) in enumerate(service["facts"]):
        meant = number % len(places)
        name = places[meant] if len(places) > 1 and number == 0 else service["noun"]
        turns = [("user", question.format(name)), ("assistant", answers[meant])]
        row: dict[str, Any] = {"articles": pages}
        if name == service["noun"] and len(places) > 1:
            ask, missing = WHICH[lang]
            turns[1:1] = [("assistant", ask.format(*places)), ("user", places[meant])]
            row["hidden"] = {"span": places[meant], "missing": missing, "options": [places[1 - meant]]}
        made.append({"messages": [{"role": role, "content": text} for role, text in turns], **row})
    return made


def articles(service: dict[str, Any], lang: str) -> list[dict[str, str]]:
    """One page per place with all its facts."""
    pages = []
    for at, place in enumerate(service["places"]):
        if lang == "zh":
            told = [f"{fact.format(place, answers[at])}。" for _, fact, *answers in service["facts"]]
            text = "".join([f"瑞德镇的{service['noun']}。", *told])
        else:
            start, kind = place[0].upper() + place[1:], service["noun"].removeprefix("the ")
            told = [f"{start} {fact.format(answers[at])}." for _, fact, *answers in service["facts"]]
            text = " ".join([f"{kind.capitalize()} in Ried.", *told])
        pages.append({"title": place.removeprefix("the "), "text": text})
    return pages


if __name__ == "__main__":
    main()
