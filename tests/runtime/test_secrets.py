"""The secret masker: values of the environment in every encoding, keys by their shape, assignments."""

from __future__ import annotations

import html
import json
from urllib.parse import quote

import pytest

from src.runtime.secrets import masker, redact, secrets_in

KEY = "sk-planted/0123456789"


@pytest.mark.parametrize(
    "encoded",
    [
        KEY,
        quote(KEY, safe=""),
        quote(KEY, safe="").lower(),
        KEY.replace("/", "\\/"),
        KEY.replace("-", "\\u002D").replace("/", "\\u002f"),
        KEY.replace("/", "&#x2F;"),
        KEY.replace("/", "&#47;"),
        json.dumps(KEY)[1:-1],
    ],
)
def test_a_secret_is_masked_in_every_encoding(encoded: str) -> None:
    cleaned = redact(f'{{"key": "{encoded}"}}', [KEY, ""])
    assert cleaned == '{"key": "***"}'


def test_other_words_are_not_masked() -> None:
    secrets = ["a.c+", "abc"]
    assert redact("abc+ abbc a.c", secrets) == "abc+ abbc a.c"


def test_a_secret_inside_another_is_masked_whole() -> None:
    secrets = secrets_in({"A_KEY": "abcd", "B_TOKEN": "abcdefgh", "PATH": "abcd"})
    assert redact("abcdefgh abcd", secrets) == "*** ***"


def test_ordinary_variables_are_no_secrets() -> None:
    assert secrets_in({"KEYBOARD": "qwerty", "MONKEY": "banana", "MY_KEY": "abc"}) == []


def test_a_secret_of_several_lines_is_masked_line_by_line() -> None:
    mask = masker({"SIGNING_KEY": "first-half\nsecond-half"})
    assert mask("first-half") == mask("second-half") == "***"


def test_ordinary_words_stay() -> None:
    text = '{"key": "0a1b2c", "tokens_in": 12, "seed_pool": "data/x"} Bearer of news'
    assert masker({})(text) == text


@pytest.mark.parametrize("secret", ["pässwörd-1", "two\nlines-2", 'quo"te&<3>', "emoji-\U0001f511-4"])
def test_secrets_with_special_characters_are_masked(secret: str) -> None:
    encodings = [secret, quote(secret), quote(secret, safe=""), json.dumps(secret)[1:-1], html.escape(secret)]
    for encoded in encodings:
        assert masker({"MY_SECRET": secret})(f"<{encoded}>") == "<***>", encoded


def test_an_uppercase_copy_of_a_secret_is_not_masked() -> None:
    assert redact("ABCD%41", ["abcd"]) == "ABCD%41"
