"""How a scene is told in one language, read from plain text blocks.

    @crates
    places: Drinks Depot, Bottling Hall
    open: {N} counts deliveries at {P}
    per: each crate holds {per} bottles
    per listing: Bottles to a crate: {per}.
    per missing: how many bottles a crate holds
    per about: crate, bottles
    ask: how many bottles are fit for sale
    far: what number of drinks can go on the shelf

A key that comes again is another variant; a line that starts with a blank goes on from the line above.
"""

from __future__ import annotations

from msgspec import Struct, field


class Wording(Struct):
    places: tuple[str, ...] = ()
    nouns: dict[str, str] = field(default_factory=dict)
    """Slot -> category of the lexicon that fills it."""
    things: str = ""
    """What the result counts, for scenes that go on from it."""
    unit: str = ""
    fixed: bool = False
    """Whether the facts only make sense in the order in which they are written."""
    open: list[str] = field(default_factory=list)
    facts: dict[str, list[str]] = field(default_factory=dict)
    """`per` -> sentences that state it; `long+wide` -> sentences that state both."""
    listing: dict[str, list[str]] = field(default_factory=dict)
    """The same fact as an article has it."""
    missing: dict[str, str] = field(default_factory=dict)
    about: dict[str, tuple[str, ...]] = field(default_factory=dict)
    ask: list[str] = field(default_factory=list)
    far: list[str] = field(default_factory=list)
    """Ways to ask that keep away from the words of the story."""


def read_wordings(*texts: str) -> dict[str, Wording]:
    found: dict[str, Wording] = {}
    for line in "\n".join(texts).replace("\n  ", " ").splitlines():
        if line.startswith("@"):
            current = found[line[1:].strip()] = Wording()
        elif line:
            key, _, content = line.partition(": ")
            _take(current, key, content.strip())
    return found


def _take(wording: Wording, key: str, content: str) -> None:
    name, _, role = key.partition(" ")
    if role == "listing":
        wording.listing.setdefault(name, []).append(content)
    elif role == "missing":
        wording.missing[name] = content
    elif role == "about":
        wording.about[name] = tuple(word.strip() for word in content.split(","))
    elif name == "places":
        wording.places = tuple(place.strip() for place in content.split(","))
    elif name == "nouns":
        wording.nouns = dict(pair.strip().split("=") for pair in content.split(","))
    elif name == "order":
        wording.fixed = content == "fixed"
    elif name == "things":
        wording.things = content
    elif name == "unit":
        wording.unit = content
    elif name in ("open", "ask", "far"):
        {"open": wording.open, "ask": wording.ask, "far": wording.far}[name].append(content)
    else:
        wording.facts.setdefault(name, []).append(content)
