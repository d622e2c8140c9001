"""A named mention becomes a vague phrase only if the question still reads well and nothing of the name is left."""

from __future__ import annotations

import pytest

from src.data.readers.mentions import (
    CATEGORIES,
    Kind,
    find_mention,
    kind_from_definition,
    kind_from_phrase,
    kind_from_title,
    shares_name,
)

BAND = Kind("band", "group")
NOVELIST = Kind("novelist", "person")


@pytest.mark.parametrize(
    ("sentence", "noun"),
    [
        ("Titan (formed 1973) is an American rock band from Ohio.", "band"),
        ("Ada Wong (born 3 May 1970) is a retired Canadian film and television producer.", "producer"),
        ("Orn is a species of flowering plant in the daisy family.", "plant"),
        ("The Velt is a quarterly music magazine devoted to folk.", "magazine"),
        ("Bo Ek (1901 – 1980) was a Swedish screen and stage actor.", "actor"),
    ],
)
def test_a_definition_tells_what_kind_of_thing_it_is(sentence: str, noun: str) -> None:
    kind = kind_from_definition(sentence)
    assert kind is not None
    assert kind.noun == noun


def test_unknown_nouns_have_no_kind() -> None:
    assert kind_from_definition("Zorp was held in May and nobody came.") is None
    assert kind_from_phrase("quality of being round") is None
    # Somebody with life dates is a person or nothing, whatever noun comes first.
    assert kind_from_definition("Ida Dahl (1820 – 1890) was an island benefactress of some renown.") is None


def test_brackets_and_last_words_of_a_title_give_a_kind() -> None:
    assert kind_from_title("Numb (Rihanna song)") == Kind("song", "work")
    assert kind_from_title("Elko Regional Airport") == Kind("airport", "building")
    assert kind_from_title("Battle of Velt") == Kind("battle", "event")
    assert kind_from_title("Zorp") is None


def test_every_noun_has_one_category() -> None:
    assert all(noun.islower() for noun in CATEGORIES)
    assert len(set(CATEGORIES.values())) == 10


@pytest.mark.parametrize(
    ("question", "title", "kind", "blurred"),
    [
        ("Which label signed Red Velt?", "Red Velt", BAND, None),
        ("Which label worked with Red Velt?", "Red Velt (band)", BAND, "Which label worked with the band?"),
        ("Did the Red Velt tour Asia?", "Red Velt", BAND, "Did the band tour Asia?"),
        ("Red Velt was founded by whom?", "Red Velt", BAND, "The band was founded by whom?"),
        ("Was Red Velt's singer Danish?", "Red Velt", BAND, "Was the band's singer Danish?"),
        ("Did Ole Jens' wife paint?", "Ole Jens", NOVELIST, "Did the novelist's wife paint?"),
        ("Who played in the rock band Red Velt in 1980?", "Red Velt", BAND, "Who played in the rock band in 1980?"),
        ('Who sang for "Red Velt"?', "Red Velt", BAND, "Who sang for the band?"),
        ("Which band is older, Red Velt or Zorp?", "Red Velt", BAND, "Which is older, the band or Zorp?"),
        ("Red Velt is a band from where?", "Red Velt", BAND, None),
        ("Who wears Red Velt shirts?", "Red Velt", BAND, None),
        ("Did Red Velt or Velt sell more?", "Red Velt", BAND, None),
        ("Is Red Velt louder than Red Velt was?", "Red Velt", BAND, None),
    ],
)
def test_a_mention_is_blurred_or_left_alone(question: str, title: str, kind: Kind, blurred: str | None) -> None:
    mention = find_mention(question, title, kind, any_case=False)
    assert (mention.blurred if mention else None) == blurred
    if mention:
        assert not shares_name(mention.span, mention.blurred, besides=mention.kind.noun)
        assert "the the" not in mention.blurred.lower()


def test_a_thing_is_not_hidden_behind_its_own_name() -> None:
    assert find_mention("Can Curiosity kill a cat?", "Cat", Kind("cat", "living"), any_case=True) is None
    assert find_mention("Did he like Red Bands?", "Red Bands", BAND, any_case=True) is None


def test_lower_case_terms_are_found_where_any_case_counts() -> None:
    mention = find_mention("Does parsley sink in milk?", "Parsley", Kind("plant", "living"), any_case=True)
    assert mention is not None
    assert (mention.span, mention.blurred) == ("parsley", "Does the plant sink in milk?")
