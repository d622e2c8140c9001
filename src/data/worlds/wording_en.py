"""English wording of the encyclopedia: its articles here, its phrases and questions in the files beside it.

No phrase may give away the tag of what it names: a bare "The Salt Road" may be a novel or a film.
"""

from __future__ import annotations

from random import Random

from .kb import Entity, Value
from .phrases_en import ASIDES as ASIDES
from .phrases_en import ASIDES_ONE as ASIDES_ONE
from .phrases_en import LEADS as LEADS
from .phrases_en import NOUNS as NOUNS
from .phrases_en import STAND_INS as STAND_INS
from .questions_en import ASKS as ASKS
from .solver import Facts
from .versus_en import COMPARE as COMPARE
from .versus_en import STRATEGY as STRATEGY

Sentence = tuple[str, tuple[str, ...]]
"""A sentence and the relations that it states."""

YES, NO = "yes", "no"

_ARTICLE = {True: "an", False: "a"}


def a(noun: str) -> str:
    return f"{_ARTICLE[noun[0] in 'aeiou']} {noun}"


def when(year: int | None) -> str:
    return f" in {year}" if year else ""


def mention(kind: str, name: str, tag: str) -> str:
    """The name, with its tag where one is given. Events take an article."""
    if kind == "event":
        return f"the {tag} {name}" if tag else f"the {name}"
    if not tag:
        return name
    return {
        "person": f"the {tag} {name}",
        "town": f"{name} in {tag}",
        "work": f"the {tag} {name}",
        "company": f"the {tag} firm {name}",
    }[kind]


def stamp(phrase: str, year: int | None) -> str:
    """A phrase for an amount with its year, in brackets where it could be taken for a year inside the phrase.

    `Harrow Mills in 1931`, but `the firm that Ida Moss joined (figures of 1931)`.
    """
    if year is None:
        return phrase
    bare = all(word == "the" or not word.islower() for word in phrase.split())
    return f"{phrase} in {year}" if bare else f"{phrase} (figures of {year})"


def sentence(text: str) -> str:
    return text[0].upper() + text[1:]


def nests(form: str) -> bool:
    """English phrases nest at their end: not `the person the person Ida studied under studied under`.

    Nor do two years meet there: not `the mayor of the seat of Harrow Mills in 1920 in 1931`.
    """
    return form.endswith("{x}")


WHICH = (
    "which {x} you mean",
    "which {x} is meant",
    "which {x} this is about",
    "which of those called {x} you have in mind",
    "which {x} to look at",
)
WHICH_YEAR = (
    "which year you mean",
    "for what year you want it",
    "which year to look at",
    "what date this is about",
    "in which year this was",
    "which year counts here",
)


def which(kind: str, name: str, rng: Random) -> str:
    return rng.choice(WHICH).format(x=name)


def which_year(rng: Random) -> str:
    return rng.choice(WHICH_YEAR)


FAR = {"easy": 0.0, "medium": 1.4, "hard": 1.9}
"""How much of the wanted paraphrase each level takes: the share of phrases that keep their distance."""
YEAR_WORDS = ("year", "when", "date", "time", "period")
GAP = " "
"""Between two sentences of a question."""
JOIN = " "
QUERIES = {
    "born_in": "birthplace",
    "teacher": "teacher",
    "employer": "employer",
    "mayor": "mayor",
    "author": "maker",
    "house": "firm",
    "setting": "setting",
    "founder": "founder",
    "seat": "head office",
    "town": "host town",
    "patron": "sponsor",
    "winner": "winner",
}


def query(name: str, relation: str) -> str:
    """Words to search for when no title is known yet."""
    return f"{name} {QUERIES.get(relation, relation)}"


def name_words(name: str) -> tuple[str, ...]:
    """An ask about a name uses one of its words, or asks which one is meant."""
    return (*(word for word in name.split() if word not in ("The", "A", "of", "the", "for", "&")), "which one", "mean")


def tag_span(kind: str, tag: str) -> str:
    return {"town": f"the one in {tag}", "company": f"the {tag} firm"}.get(kind, f"the {tag}")


def also_span(kind: str, value: int | str) -> str:
    return {
        "person": f"the one born in {value}",
        "town": f"the one on the {value}",
        "work": f"the one of {value}",
        "company": f"the one founded in {value}",
        "event": f"the one first held in {value}",
    }[kind]


def title(name: str, tag: str, also: int | str | None) -> str:
    return f"{name} ({tag}, {also})" if also else f"{name} ({tag})"


def name_of(value: Value) -> str:
    return value.what.name if isinstance(value.what, Entity) else str(value.what)


def _turns(values: list[Value], one: str, more: str) -> str:
    """`one` with the first value, `more` for each that follows."""
    parts = [one.format(v=name_of(values[0]), y=values[0].year)]
    parts += [more.format(v=name_of(value), y=value.year) for value in values[1:]]
    return "".join(parts) + "."


def page(entity: Entity, f: Facts, rng: Random) -> list[Sentence]:
    """The article of an entity: its sentences with the relations that each states."""
    (first, stated), *rest = _PAGES[entity.kind](entity, f, rng)
    if rng.random() < 0.7:
        first = f"{first[:-1]}, known for {rng.choice(KNOWN_FOR[entity.kind])}."
    return [(first, stated), *rest]


KNOWN_FOR = {
    "person": (
        "long letters and a short temper",
        "a collection of pressed ferns",
        "never travelling without an umbrella",
        "lectures that ran past midnight",
        "a habit of whistling at work",
        "lending money and forgetting it",
        "two lost lawsuits against neighbours",
        "a stubborn dislike of trains",
        "sketches on the backs of bills",
        "keeping bees on a flat roof",
        "beautiful and illegible handwriting",
        "early walks in any weather",
    ),
    "town": (
        "plum dumplings and crooked chimneys",
        "bells that ring a minute late",
        "its covered market of green iron",
        "steep lanes and blue shutters",
        "a fair of copper pots each spring",
        "fog until noon and clear evenings",
        "mills that stand idle nowadays",
        "a bridge with nine uneven arches",
        "pear orchards along the old wall",
        "a library in a former stable",
        "storks on nearly every roof",
        "salt cellars carved from local stone",
    ),
    "work": (
        "a slow opening and a sudden end",
        "its many quarrels about money",
        "the weather in nearly every scene",
        "jokes that only locals understand",
        "a part for a talking parrot",
        "having no villain at all",
        "its unusual use of silence",
        "a long passage about soup",
        "lines that schoolchildren learn by heart",
        "an ending that was changed twice",
        "the colour green throughout",
        "its tender view of old age",
    ),
    "company": (
        "strict ledgers and generous holidays",
        "a red door that is never locked",
        "paying every bill on Fridays",
        "its brass band of retired workers",
        "a museum of broken tools",
        "training orphans for a trade",
        "wrapping goods in old maps",
        "two strikes over the canteen",
        "a cat on every company seal",
        "samples sent to strangers",
        "its rivalry with a cousin's shop",
        "clocks that run five minutes fast",
    ),
    "event": (
        "bad weather and good soup",
        "speeches in rhyme",
        "a procession of lanterns at dusk",
        "prizes of smoked cheese",
        "judges who wear borrowed hats",
        "quarrels that last until the next one",
        "a rule against applause",
        "its free ferry for visitors",
        "torches along the main street",
        "children who run the ticket office",
        "an opening delayed every time",
        "music from open windows",
    ),
}


def _person(e: Entity, f: Facts, rng: Random) -> list[Sentence]:
    born, died, town = name_of(f["born"][0]), name_of(f["died"][0]), name_of(f["born_in"][0])
    first = rng.choice(
        (
            f"{e.name}, {a(e.tag)}, was born in {town} in {born} and died in {died}.",
            f"{e.name} ({born}-{died}) was {a(e.tag)} born in {town}.",
            f"Born in {town} in {born}, {e.name} was {a(e.tag)} and died in {died}.",
            f"{a(e.tag).capitalize()} born in {town}, {e.name} lived from {born} to {died}.",
        )
    )
    out: list[Sentence] = [(first, ("born", "died", "born_in", "tag"))]
    if "teacher" in f:
        teacher = name_of(f["teacher"][0])
        text = rng.choice(
            (
                f"As a student {e.name} was taught by {teacher}.",
                f"{e.name} studied under {teacher}.",
                f"The teacher of {e.name} was {teacher}.",
                f"It was {teacher} who taught {e.name}.",
            )
        )
        out.append((text, ("teacher",)))
    if "employer" in f:
        start = rng.choice(
            (
                f"{e.name} joined {{v}} in {{y}}",
                f"In {{y}} {e.name} went to work for {{v}}",
                f"In {{y}} {e.name} joined {{v}}",
            )
        )
        out.append((_turns(f["employer"], start, rng.choice((", then {v} in {y}", " and {v} in {y}"))), ("employer",)))
    return out


def _town(e: Entity, f: Facts, rng: Random) -> list[Sentence]:
    river, founded = name_of(f["river"][0]), name_of(f["founded"][0])
    high = name_of(f["elevation"][0])
    first = rng.choice(
        (
            f"{e.name} is a town in the region of {e.tag}, founded in {founded} on the river {river}.",
            f"{e.name}, a town on the river {river} in {e.tag}, was founded in {founded}.",
            f"The town of {e.name} lies on the river {river} in {e.tag} and dates from {founded}.",
            f"Founded in {founded}, {e.name} is a town in {e.tag} and stands on the river {river}.",
        )
    )
    height = rng.choice(
        (
            f"{e.name} lies {high} metres above the sea.",
            f"The market square of {e.name} is {high} metres above sea level.",
            f"The elevation of {e.name} is {high} metres above the sea.",
        )
    )
    out: list[Sentence] = [(first, ("tag", "river", "founded")), (height, ("elevation",))]
    if "population" in f:
        one = rng.choice(
            (
                f"{e.name} had {{v}} inhabitants in {{y}}",
                f"In {{y}} {e.name} had {{v}} inhabitants",
                f"The number of inhabitants of {e.name} was {{v}} in {{y}}",
            )
        )
        out.append((_turns(f["population"], one, " and {v} in {y}"), ("population",)))
    if "mayor" in f:
        one = rng.choice(
            (
                f"{{v}} was elected mayor of {e.name} in {{y}}",
                f"In {{y}} {{v}} became mayor of {e.name}",
                f"{e.name} elected {{v}} as its mayor in {{y}}",
            )
        )
        out.append((_turns(f["mayor"], one, rng.choice((", followed by {v} in {y}", " and {v} in {y}"))), ("mayor",)))
    return out


def _work(e: Entity, f: Facts, rng: Random) -> list[Sentence]:
    author, year, house = name_of(f["author"][0]), name_of(f["year"][0]), name_of(f["house"][0])
    first = rng.choice(
        (
            f"{e.name} is {a(e.tag)} made by {author}, which came out in {year}.",
            f"{e.name}, {a(e.tag)} of {year}, was made by {author}.",
            f"{author} is the maker of {e.name}, {a(e.tag)} that came out in {year}.",
            f"{author} made {e.name}, {a(e.tag)} which came out in {year}.",
        )
    )
    setting = name_of(f["setting"][0])
    second = rng.choice(
        (
            f"{e.name} is set in {setting} and was brought out by {house}.",
            f"{house} brought out {e.name}, which is set in {setting}.",
            f"The setting of {e.name}, brought out by {house}, is {setting}.",
        )
    )
    return [(first, ("author", "year", "tag")), (second, ("setting", "house"))]


def _company(e: Entity, f: Facts, rng: Random) -> list[Sentence]:
    founder, founded = name_of(f["founder"][0]), name_of(f["founded"][0])
    first = rng.choice(
        (
            f"{e.name} is a firm in the {e.tag} trade, founded by {founder} in {founded}.",
            f"{e.name}, a {e.tag} firm, was founded in {founded} by {founder}.",
            f"In {founded} {founder} founded {e.name}, a firm in the {e.tag} trade.",
            f"Founded by {founder} in {founded}, {e.name} is a firm in the {e.tag} trade.",
        )
    )
    out: list[Sentence] = [(first, ("founder", "founded", "tag"))]
    if "seat" in f:
        one = rng.choice(
            (
                f"The head office of {e.name} was in {{v}} in {{y}}",
                f"In {{y}} {e.name} had its head office in {{v}}",
                f"{e.name} had its head office in {{v}} in {{y}}",
            )
        )
        out.append((_turns(f["seat"], one, " and in {v} from {y}"), ("seat",)))
    if "staff" in f:
        one = rng.choice(
            (
                f"{e.name} employed {{v}} people in {{y}}",
                f"In {{y}} {e.name} employed {{v}} people",
                f"The number of people employed by {e.name} was {{v}} in {{y}}",
            )
        )
        out.append((_turns(f["staff"], one, " and {v} in {y}"), ("staff",)))
    return out


def _event(e: Entity, f: Facts, rng: Random) -> list[Sentence]:
    town, first_year, patron = name_of(f["town"][0]), name_of(f["first"][0]), name_of(f["patron"][0])
    first = rng.choice(
        (
            f"The {e.name} is {a(e.tag)} held in {town}, for the first time in {first_year}.",
            f"First held in {first_year}, the {e.name} is {a(e.tag)} in {town}.",
            f"{town} hosts the {e.name}, {a(e.tag)} that was first held in {first_year}.",
            f"The {e.name}, {a(e.tag)} held in {town}, was first held in {first_year}.",
        )
    )
    sponsor = rng.choice(
        (
            f"The sponsor of the {e.name} is {patron}.",
            f"The {e.name} is sponsored by {patron}.",
            f"{patron} is the firm that sponsors the {e.name}.",
        )
    )
    out: list[Sentence] = [(first, ("town", "first", "tag")), (sponsor, ("patron",))]
    if "winner" in f:
        one = rng.choice(
            (
                f"{{v}} won the {e.name} in {{y}}",
                f"In {{y}} {{v}} won the {e.name}",
                f"The winner of the {e.name} was {{v}} in {{y}}",
            )
        )
        out.append((_turns(f["winner"], one, " and {v} in {y}"), ("winner",)))
    if "visitors" in f:
        one = rng.choice(
            (
                f"The {e.name} counted {{v}} visitors in {{y}}",
                f"In {{y}} the {e.name} counted {{v}} visitors",
                f"The number of visitors at the {e.name} was {{v}} in {{y}}",
            )
        )
        out.append((_turns(f["visitors"], one, " and {v} in {y}"), ("visitors",)))
    return out


_PAGES = {"person": _person, "town": _town, "work": _work, "company": _company, "event": _event}
