"""A user's own chats and tables as samples: accepted formats, `hidden`, refused and skipped rows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from src.core.errors import BadInput
from src.data.readers import messages
from src.data.readers.natural import NaturalSource
from tests.data.natural_rows import pool_of, write_rows

OWN = [
    {"messages": [{"role": "user", "content": f"{verb} the {noun}?"}, {"role": "assistant", "content": answer}], **more}
    for verb, noun, answer, more in (
        ("Who painted", "old harbour", "Ida Roth", {}),
        ("Where can I buy", "blue ticket", "at the pier", {}),
        ("Which bus goes to", "mountain hut", "line nine", {"hidden": {"span": "the hut above Graz"}}),
        ("When was", "bridge", "in June", {"hidden": {"span": "the iron one", "options": ["the stone one"]}}),
        ("What grows in", "south garden", "roses", {}),
        ("Who runs", "night market", "the guild", {}),
    )
]


def dialogue(*texts: str, **more: object) -> dict[str, object]:
    roles = ("user", "assistant") * len(texts)
    return {"messages": [{"role": role, "content": text} for role, text in zip(roles, texts, strict=False)], **more}


def test_own_messages_become_samples_with_their_hidden_information(tmp_path: Path) -> None:
    source = NaturalSource("messages", write_rows(tmp_path, OWN))
    by_question = {item.question: item for item in source._items.values()}
    hidden = by_question["When was the bridge?"].hidden
    assert hidden is not None
    assert hidden.span == "the iron one"
    assert hidden.missing == "which you mean: the iron one, the stone one"
    assert by_question["Who painted the old harbour?"].answer == "Ida Roth"
    assert source.mix == {"hotpotqa": 1.0}


def test_share_gpt_rows_without_answers_are_for_detection(tmp_path: Path) -> None:
    rows = [{"conversations": [{"from": "human", "value": f"Plan trip {at}"}, {"from": "gpt", "value": "x " * 40}]}
            for at in range(3)]  # fmt: skip
    assert NaturalSource("messages", write_rows(tmp_path, rows)).mix == {"detect": 1.0}


def test_an_id_of_the_user_may_have_any_character(tmp_path: Path) -> None:
    folder = write_rows(tmp_path, [{**row, "id": f"~me 3~{place}|x"} for place, row in enumerate(OWN)])
    samples, meta = pool_of("messages", folder, tmp_path / "out", 2, 0.0)
    assert all("~me" in one.provenance.source_id for one in samples)
    assert meta.reused == {}


def test_messages_share_gpt_and_alpaca_rows_give_the_same_item(tmp_path: Path) -> None:
    question, answer = "When was the bridge built?\n\nThe iron one.", "in June"
    call = {"role": "assistant", "content": None, "tool_calls": []}
    parts = [{"type": "text", "text": "When was the bridge built?\n"}, {"type": "text", "text": "The iron one."}]
    rows: list[dict[str, object]] = [
        {"messages": [{"role": "user", "content": question}, call, {"role": "assistant", "content": answer}]},
        {"messages": [{"role": "user", "content": parts}, {"role": "assistant", "content": answer}]},
        {"conversations": [{"from": "human", "value": question}, {"from": "gpt", "value": answer}]},
        {"instruction": "When was the bridge built?", "input": "The iron one.", "output": answer},
    ]
    made = []
    for place, row in enumerate(rows):
        made.append(messages.read([write_rows(tmp_path / str(place), [row]) / "rows.jsonl"]))
    assert made == made[:1] * 4
    [item] = made[0][0]
    assert (item.question, item.answer) == (question, answer)


def test_a_clarifying_question_without_hidden_is_no_complete_sample(tmp_path: Path) -> None:
    asks = ("When does the shop open?", "Which shop do you mean?", "the one in Lyon", "at 9 am")
    rows = [
        dialogue(*asks),
        dialogue("What does it cost?", "Which size?"),
        dialogue("Where is the key?", "At the desk. Anything else?"),
        dialogue("Is it open on Sundays?", "您指的是哪一家？", "the mill", "no", hidden=None),
        dialogue("Who runs the inn?", "Which inn?", "the Bear", "Ida Roth", hidden="the Bear"),
    ]
    folder = write_rows(tmp_path, rows)
    items = {item.question: item for item in NaturalSource("messages", folder)._items.values()}
    assert list(items) == [rows[at]["messages"][0]["content"] for at in (2, 3, 4)]  # type: ignore[index]
    assert [item.hidden.span if item.hidden else "" for item in items.values()] == ["", "", "the Bear"]
    first, second = messages.skipped_rows(folder)
    assert "rows.jsonl:1: skipped: the assistant asks 'Which shop do you mean?' and is told 'the one in Lyon'" in first
    assert 'has no `hidden`: give the words that the question lacks, "hidden": {"span": ' in first
    assert "rows.jsonl:2: skipped: the assistant asks 'Which size?', and the row" in second


@pytest.mark.parametrize("hidden", [["Lyon"], {"missing": "which shop"}, 7])
def test_a_malformed_hidden_field_is_refused_with_an_example(hidden: object, tmp_path: Path) -> None:
    folder = write_rows(tmp_path, [dialogue("When does the shop open?", "at 9", hidden=hidden)])
    with pytest.raises(BadInput, match=r'rows.jsonl:1: .*\$\.hidden.*"hidden": \{"span": "the shop in Lyon"'):
        NaturalSource("messages", folder)


def test_missing_and_options_may_stand_beside_the_hidden_text(tmp_path: Path) -> None:
    more = {"missing": "which shop you mean", "options": ["the shop in Nice"]}
    rows = [dialogue("When does the shop open?", "9 am", hidden="the shop in Lyon", **more)]
    nested = [dialogue("When does the shop open?", "9 am", hidden={"span": "the shop in Lyon", **more})]
    made = [
        messages.read([write_rows(tmp_path / str(at), one) / "rows.jsonl"]) for at, one in enumerate((rows, nested))
    ]
    assert made[0] == made[1]
    assert made[0][0][0].hidden is not None
    folder = write_rows(tmp_path / "without", [*rows, dialogue("When does the bank open?", "8 am", **more)])
    assert "`missing` and `options` belong in `hidden`" in messages.skipped_rows(folder)[0]


def test_a_span_that_is_in_the_question_is_refused(tmp_path: Path) -> None:
    row = {"messages": [{"role": "user", "content": "When was the iron bridge built?"}], "hidden": {"span": "iron"}}
    with pytest.raises(BadInput, match="already in the question"):
        NaturalSource("messages", write_rows(tmp_path, [row]))


def test_only_bare_numbers_are_compared_as_numbers(tmp_path: Path) -> None:
    """`8 pm` would be as right as `8 am`."""
    for place, (answers, task) in enumerate(
        {
            ("8 am", "7.30 am"): "hotpotqa",
            ("上午8点", "18元"): "hotpotqa",
            ("12", "$3.50"): "gsm8k",
            ("5%", "1,250"): "gsm8k",
        }.items()
    ):
        rows = [dialogue(f"When is lesson {at}?", answer) for at, answer in enumerate(answers)]
        items, _ = messages.read([write_rows(tmp_path / str(place), rows) / "rows.jsonl"])
        assert {one.task for one in items} == {task}, answers


def test_two_chinese_characters_count_as_one_word_of_an_answer(tmp_path: Path) -> None:
    answers = ["好" * 24, "好" * 25, "在北门", "九点"]
    rows = [{"instruction": f"第{place}问？", "output": answer} for place, answer in enumerate(answers)]
    items, _ = messages.read([write_rows(tmp_path, rows) / "rows.jsonl"])
    assert [item.answer for item in items] == [answers[0], *answers[2:]]


def test_csv_and_question_and_answer_rows_give_the_same_items(tmp_path: Path) -> None:
    hidden = {"span": "the shop in Lyon", "missing": "which shop you mean", "options": ["the shop in Nice"]}
    rows: list[dict[str, object]] = [
        {"question": "When does the shop open?", "answer": "at 9 am", "hidden": hidden},
        {"question": "Who runs the inn,\nand since when?", "answer": "Ida Roth"},
        {"question": "What next?", "answer": "x " * 13},
    ]
    made = messages.read([write_rows(tmp_path, rows) / "rows.jsonl"])
    (tmp_path / "csv").mkdir()
    file = tmp_path / "csv" / "rows.csv"
    file.write_text(
        "\ufeffQuestion;Answer;Hidden;Missing;Options\n"
        "When does the shop open?;at 9 am;the shop in Lyon;which shop you mean;the shop in Nice\n"
        '"Who runs the inn,\nand since when?";Ida Roth;;;\n'
        f"What next?;{'x ' * 13};;;\n"
    )
    assert messages.read([file]) == made
    file.write_text(file.read_text() + "And then?;;;;\n")
    long, silent = messages.skipped_rows(file.parent)
    assert long.startswith(f"{file}:5: skipped: the last assistant message has more than 12 words")
    assert silent.startswith(f"{file}:6: skipped: the row has no answer, and most rows have a short answer")
    file.write_text("q,a\n1,2\n")
    with pytest.raises(BadInput, match=r"rows\.csv:1: the header has q, a. What to do: name the columns question"):
        messages.read([file])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"question,answer,hiden\nWhen?,at 9,the shop\n", "rows.csv:1: unknown field 'hiden' .did you mean 'hidden'"),
        (
            "question,answer\n几点开门,九点\n".encode("gbk"),
            r"rows.csv: invalid UTF-8 at byte 16.*iconv -f GBK .* > new.csv",
        ),
        ("question,answer\nWhen?,at 9\n".encode("utf-16"), r"rows.csv: .*iconv -f UTF-16 -t UTF-8 .* > new.csv"),
        (b"", "rows.csv:1: its first line is empty. What to do: name the columns"),
        (b"question,reply,note\nWhen?,at 9,x\n", "rows.csv:1: there is no column answer, and reply, note would not be"),
        (b'question,answer\nWhen?,at 9\n"Where,there\n' + b"Who?,me\n" * 20_000, "rows.csv:3: is no row of a CSV file"),
    ],
)
def test_a_table_that_cannot_be_read_is_refused(content: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_bytes(content)
    with pytest.raises(BadInput, match=said):
        NaturalSource("messages", tmp_path)


def test_a_json_array_is_refused_with_the_converting_command(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text("[\n{}\n]")
    with pytest.raises(BadInput, match=r"jq -c '\.\[\]' .*rows\.jsonl > rows\.lines\.jsonl"):
        NaturalSource("messages", tmp_path)


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").touch()
    with pytest.raises(BadInput, match=r"rows.jsonl: has no rows"):
        NaturalSource("messages", tmp_path)


def test_an_alpaca_row_without_instruction_is_skipped_and_named(tmp_path: Path) -> None:
    rows = [{"instruction": "Name a colour.", "output": "red"}, {"instruction": "", "input": "x", "output": "y"}]
    [told] = messages.skipped_rows(write_rows(tmp_path, rows))
    assert told.endswith("rows.jsonl:2: skipped: the row has input, instruction, output: give `messages` with role and "
                         "content, `conversations`, or `instruction`.")  # fmt: skip


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"instruction": "Where?", "output": "there", "hiden": {"span": "the shop"}}, "'hiden' .did you mean 'hidden'"),
        ({"instruction": "Where?", "output": "there", "Answer": "here"}, "'Answer' .did you mean 'answer'"),
        ({"instruction": "Where?", "hidden": {"span": "the shop", "option": ["x"]}}, "hidden: .*mean 'options'"),
        ({"messages": [{"role": "用户", "content": "Where?"}]}, "roles are 用户; known are human, user"),
        ({"问题": "Where?"}, "the row has 问题"),
    ],
)
def test_misspelt_fields_and_unknown_roles_are_named_with_their_row(
    row: dict[str, object], said: str, tmp_path: Path
) -> None:
    with pytest.raises(BadInput, match=rf"rows.jsonl:1.*{said}"):
        messages.read([write_rows(tmp_path, [row]) / "rows.jsonl"])


def test_fields_of_exported_chats_are_accepted(tmp_path: Path) -> None:
    extra = {"metadata": {}, "source": "app", "idx": 1, "conversation_id": "c", "system": "", "tools": [], "uid": "u"}
    items, rows = messages.read([write_rows(tmp_path, [{**row, **extra} for row in OWN]) / "rows.jsonl"])
    assert rows == len(items) == len(OWN)


def test_too_large_a_size_names_one_that_works(tmp_path: Path) -> None:
    words = ("harbour", "library", "windmill", "orchard", "station", "chapel", "tunnel", "bakery", "museum", "quarry")
    verbs = ("painted", "sold", "burnt", "designed", "measured", "repaired")
    rows = [{"instruction": f"Who {verb} our {word}?", "output": "Ida"} for verb in verbs for word in words]
    for row in rows[::2]:
        row |= {"hidden": {"span": f"{row['instruction'][-9:-1]} of Lyon"}}
    folder = write_rows(tmp_path, rows)
    with pytest.raises(BadInput) as refused:
        pool_of("messages", folder, tmp_path / "out", 60, 0.3)
    n = int(re.search(r"with --n (\d+)", str(refused.value))[1])  # type: ignore[index]
    samples, _ = pool_of("messages", folder, tmp_path / "out", n, 0.3)
    assert len(samples) == n > 10
    counts = NaturalSource("messages", folder).row_counts()
    assert counts.rows == 60 == counts.skipped + counts.train + counts.shadow + counts.alike


def test_a_table_of_one_pattern_can_be_trained_on(tmp_path: Path) -> None:
    """Another name makes another question, where there are no numbers as in a word problem."""
    places = [
        f"{first}{last}" for first in ("Bar", "Cor", "Dun", "Elm") for last in ("ton", "ley", "wick", "mouth", "by")
    ]
    rows = [{"question": f"What is the capital of {place}?", "answer": f"{place} City"} for place in places]
    counts = NaturalSource("messages", write_rows(tmp_path, rows)).row_counts()
    assert (counts.alike, counts.train + counts.shadow) == (0, len(places))


def test_a_demonstration_without_articles_does_not_speak_of_pages(tmp_path: Path) -> None:
    samples, _ = pool_of("messages", write_rows(tmp_path, OWN), tmp_path, n=3, rate=0.0)
    assert [sample.dialogue[-1].thought for sample in samples] == ["", "", ""]
