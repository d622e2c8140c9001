"""A lookup by title shows the article; a name that two articles share shows both."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from askgate_env.tools import SHOWN, search, wiki
from askgate_env.types import Article

PAGES = (
    Article("Vera Lindqvist (painter)", ("Vera Lindqvist was a painter.", "She was born in Lund.")),
    Article("Vera Lindqvist (chemist)", ("Vera Lindqvist was a chemist.", "She was born in Oslo.")),
    Article("Lund", ("Lund is a city.", "It has a cathedral.")),
    Article("春江大桥", ("春江大桥建于1979年。", "它横跨春江。")),
)


def test_a_title_shows_the_whole_article() -> None:
    assert wiki(PAGES, "Lund") == "Lund: Lund is a city. It has a cathedral."
    assert wiki(PAGES, " 春江大桥 ") == "春江大桥: 春江大桥建于1979年。它横跨春江。"


def test_a_shared_name_returns_both_articles() -> None:
    shown = wiki(PAGES, "Vera Lindqvist")
    assert shown.splitlines() == [
        "1. Vera Lindqvist (painter): Vera Lindqvist was a painter.",
        "2. Vera Lindqvist (chemist): Vera Lindqvist was a chemist.",
    ]


def test_title_words_count_more_than_text_words() -> None:
    assert search(PAGES, "where is Lund")[0].title == "Lund"


def test_a_chinese_query_finds_a_chinese_page() -> None:
    assert search(PAGES, "大桥建于哪一年")[0].title == "春江大桥"


def test_an_empty_search_says_so() -> None:
    assert wiki(PAGES, "Tokyo") == "nothing found"
    assert wiki(PAGES, "") == "nothing found"
    assert wiki(PAGES, "?!") == "nothing found"
    assert wiki((), "Lund") == "nothing found"


def test_no_more_than_three_hits_are_shown() -> None:
    many = [Article(f"City {number}", (f"City {number} is a city.",)) for number in range(9)]
    assert len(wiki(many, "a city").splitlines()) == SHOWN


@given(st.text(max_size=80))
def test_the_same_query_always_gives_the_same_text(query: str) -> None:
    assert wiki(PAGES, query) == wiki(PAGES, query) != ""
