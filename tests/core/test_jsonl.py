"""A line that does not fit is refused with file, line, field and remedy."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askgate_env.types import Article
from src.core.errors import BadInput
from src.core.jsonl import MAX_LINE_BYTES, read_lines, read_records, write_records

GOOD = b'{"title":"Oslo","sentences":["Oslo is a city."]}\n'


def refused(path: Path) -> BadInput:
    with pytest.raises(BadInput) as caught:
        list(read_records(path, Article))
    assert caught.value.remedy
    return caught.value


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b'{"title": "Oslo", "sentences": [\n', "not valid JSON"),
        (b"not json\n", "not valid JSON"),
        (b'{"title":"Osl\xff","sentences":[]}\n', "UTF-8"),
        (b'{"title":"Oslo"}\n', "sentences"),
        (b'{"title":7,"sentences":[]}\n', "$.title"),
        (b'{"title":"Oslo","sentences":[],"extra":1}\n', "extra"),
        (b"[]\n", "array"),
    ],
)
def test_an_error_names_line_and_fault(tmp_path: Path, line: bytes, problem: str) -> None:
    path = tmp_path / "pool.jsonl"
    path.write_bytes(GOOD + b"\n" + line + GOOD)
    error = refused(path)
    assert error.where == f"{path}:3"
    assert problem in error.what


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    assert refused(tmp_path / "none.jsonl").where == str(tmp_path / "none.jsonl")


def test_a_line_past_the_limit_is_refused_without_reading_on(tmp_path: Path) -> None:
    path = tmp_path / "pool.jsonl"
    path.write_bytes(GOOD + b'{"title":"' + b"x" * (10 * 2**20) + b'","sentences":[]}\n')
    error = refused(path)
    assert error.where == f"{path}:2"
    assert "4 MB" in error.what


def test_a_line_at_the_limit_is_read(tmp_path: Path) -> None:
    path = tmp_path / "pool.jsonl"
    frame = b'{"title":"","sentences":[]}\n'
    path.write_bytes(frame.replace(b'""', b'"' + b"x" * (MAX_LINE_BYTES - len(frame)) + b'"'))
    assert path.stat().st_size == MAX_LINE_BYTES
    assert len(list(read_records(path, Article))) == 1


def test_blank_lines_are_skipped_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "pool.jsonl"
    path.write_bytes(b"\n  \n" + GOOD + b"\r\n" + GOOD.rstrip())
    assert [number for number, _ in read_lines(path)] == [3, 5]


@given(st.lists(st.tuples(st.text(), st.lists(st.text()))))
def test_written_records_are_read_back(
    tmp_path_factory: pytest.TempPathFactory, pages: list[tuple[str, list[str]]]
) -> None:
    path = tmp_path_factory.mktemp("jsonl") / "pages.jsonl"
    articles = [Article(title, tuple(sentences)) for title, sentences in pages]
    with open(path, "wb") as handle:
        assert write_records(handle, articles) == len(articles)
    assert list(read_records(path, Article)) == articles


def test_the_byte_order_mark_of_windows_is_ignored(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": 1}\n', encoding="utf-8-sig")
    assert list(read_lines(path)) == [(1, b'{"a": 1}\n')]


def test_a_gbk_file_is_refused_with_the_command_converting_it(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": "问题"}\n', encoding="gbk")
    with pytest.raises(BadInput, match=r"rows.jsonl:1: invalid UTF-8 at byte 7.*iconv -f GBK -t UTF-8 \S+rows.jsonl >"):
        list(read_records(path, dict))
