"""The tutorial's commands, from JSONL files of the user's to pools that training accepts."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from askgate_env.types import Sample
from src.config.loader import load_train_config
from src.core.errors import BadInput
from src.core.jsonl import read_records
from src.training.data import require_data
from src.training.sampler import open_sampler
from tests.conftest import Askgate

TUTORIAL = Path(__file__).resolve().parents[2] / "docs" / "tutorial.md"


def blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", TUTORIAL.read_text(encoding="utf-8"), flags=re.DOTALL)


def problem(random: Random) -> dict[str, str]:
    """A problem in the pattern of the tutorial's example."""
    trays, each, gifts, price = (
        random.randint(3, 19),
        random.randint(4, 24),
        random.randint(2, 11),
        random.randint(2, 9),
    )
    made = trays * each
    question = (
        f"Amir bakes {trays} trays of buns. Each tray holds {each} buns. Amir gives away {gifts} buns. The rest are "
        f"sold for ${price} apiece. How many dollars does Amir take in?"
    )
    answer = (
        f"Amir bakes {trays} * {each} = <<{trays}*{each}={made}>>{made} buns.\nAfter the gifts {made} - {gifts} = "
        f"<<{made}-{gifts}={made - gifts}>>{made - gifts} are left.\nThey bring {made - gifts} * {price} = "
        f"$<<{made - gifts}*{price}={(made - gifts) * price}>>{(made - gifts) * price}.\n#### {(made - gifts) * price}"
    )
    return {"question": question, "answer": answer}


def test_the_tutorials_commands_build_a_pool_that_trains(
    askgate: Askgate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own/gsm8k").mkdir(parents=True)
    shown = json.loads(blocks("json")[0])
    random = Random(1)
    lines = [shown, *(problem(random) for _ in range(1_200))]
    Path("own/gsm8k/bakery.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    shadow_run, build, validate = [line.split()[1:] for line in blocks("bash")[1].splitlines()]
    assert askgate(*shadow_run).code == 0
    assert askgate(*build).code == 0
    judged = askgate(*validate)
    assert judged.code == 1, "one mould is not diverse, as the tutorial says"
    assert "FAILED distinct2" in judged.out
    samples = list(read_records(Path("data/rollouts/own.jsonl"), Sample))
    assert sum(one.needs_clarification for one in samples) == 90
    Path("own.yaml").write_text(blocks("yaml")[0], encoding="utf-8")
    config = load_train_config(Path("own.yaml"))
    sampler = open_sampler(config.seed_pool, config.shadow_set, config.priority_sampling, seed=1)
    assert sampler is not None


def write_dialogues(*arguments: str) -> None:
    """Runs the tutorial's script, which `examples` has."""
    subprocess.run([sys.executable, *arguments], check=True, timeout=60, capture_output=True)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_sixty_dialogues_become_a_pool_that_trains(
    lang: str, askgate: Askgate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("examples").symlink_to(TUTORIAL.parents[1] / "examples")
    commands = [line.partition("#")[0].split()[1:] for line in blocks("bash")[-1].splitlines()]
    script, shadow_run, build, validate, read = commands
    write_dialogues(*script, "--lang", lang)
    assert len(Path("own_chats/dialogues.jsonl").read_text(encoding="utf-8").splitlines()) == 60
    assert askgate(*shadow_run).code == 0
    built = askgate(*build)
    assert built.code == 0
    assert re.search(r"60 rows read: 40 used \(12 need a question\), \d+ held out for evaluation, 0 skipped", built.out)
    assert askgate(*build[: build.index("--n")], "--n", "16", "--out", build[-1]).code == 0
    assert askgate(*validate).code == 0, "four of 16 need a question: a rate of 0.30 in whole samples"
    assert askgate(*build).code == 0
    judged = askgate(*validate)
    assert judged.code == 0, judged.out
    assert askgate(*read).code == 0
    assert "exempt: roles: no template words these questions" in judged.out
    assert "clarify_rate (points off)" in judged.out
    report = json.loads(Path("reports/chats.json").read_text(encoding="utf-8"))
    assert {"distinct2", "shortcut_auc[hotpotqa]", "shortcut_observation[hotpotqa]"} <= set(report["figures"]["exempt"])
    samples = list(read_records(Path("data/rollouts/chats.jsonl"), Sample))
    assert {one.lang for one in samples} == {lang}
    incomplete = [one for one in samples if one.hidden is not None]
    assert len(incomplete) == 12
    for sample in incomplete:
        assert sample.hidden is not None
        acts = [turn.act for turn in sample.dialogue]
        assert acts == ["say", "call", "result", "ask", "say", "call", "result", "answer"]
        assert all(names[0] in sample.dialogue[3].text for names in sample.hidden.readings)
        assert sample.dialogue[5].text in sample.hidden.span
        assert sample.answer in sample.dialogue[6].text
    changed = {line.partition(":")[0]: line for line in blocks("yaml")[-1].splitlines()}
    kept = [line for line in blocks("yaml")[0].splitlines() if line.partition(":")[0] not in changed]
    Path("own.yaml").write_text("\n".join([*kept, *changed.values()]), encoding="utf-8")
    config = load_train_config(Path("own.yaml"))
    assert config.seed_pool == Path("data/rollouts/chats.jsonl")
    assert open_sampler(config.seed_pool, config.shadow_set, config.priority_sampling, seed=1) is not None
    for flags in (["--plan"], []):
        refused = askgate("train", "--config", "own.yaml", *flags, "--set", "priority_sampling.enable=true")
        assert refused.code == 2
        assert "own.yaml: seed_pool: the pool has no hard samples. What to do: set priority_sampling" in refused.err
        assert "BadInput" not in refused.err
    assert not list(Path("reports").glob("ERROR_*"))
    config.seed_pool.unlink()
    with pytest.raises(BadInput, match=r"build-rollout-pool --source messages --data-dir own_chats --n N --out data"):
        require_data(config)


def test_the_tutorials_row_is_one_of_the_file(tmp_path: Path) -> None:
    write_dialogues(str(TUTORIAL.parents[1] / "examples/own_messages.py"), str(tmp_path / "rows.jsonl"))
    shown = json.loads(blocks("json")[-1])
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text(encoding="utf-8").splitlines()]
    [row] = [row for row in rows if row["messages"] == shown["messages"]]
    assert row["hidden"] == shown["hidden"]
    for page, whole in zip(shown["articles"], row["articles"], strict=True):
        assert page["title"] == whole["title"]
        assert all(sentence in whole["text"] for sentence in page["text"].split(". "))


def test_a_row_that_breaks_a_rule_is_skipped_and_named(
    askgate: Askgate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_dialogues(str(TUTORIAL.parents[1] / "examples/own_messages.py"), "own_chats/dialogues.jsonl")
    bridge = [
        {"role": "user", "content": "When was the iron bridge built?"},
        {"role": "assistant", "content": "in May"},
    ]
    rows: list[dict[str, object]] = [
        {"messages": bridge, "hidden": {"span": "iron"}},
        {"messages": [{"role": "assistant", "content": "Hello."}]},
        {"messages": bridge, "hidden": {"span": "the one in Velt", "options": ["iron"]}},
        {
            "messages": [
                {"role": "user", "content": "How do I bake bread?"},
                {"role": "assistant", "content": "so " * 13},
            ]
        },
        {"messages": bridge},
        {"messages": bridge},
        {"messages": [bridge[0], bridge[1]], "id": "b", "hidden": {"span": " "}},
    ]
    with Path("own_chats/dialogues.jsonl").open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    made = askgate(
        "build_rollout_pool", "--source", "messages", "--data_dir", "own_chats", "--n", "40", "--out", "p.jsonl"
    )
    assert made.code == 0
    named = re.findall(r"own_chats/dialogues\.jsonl:(\d+): skipped: (.{12})", made.out)
    assert sorted(named) == [
        ("61", "`hidden.span"),
        ("62", "no message o"),
        ("63", "`hidden.opti"),
        ("64", "the last ass"),
        ("66", "its question"),
        ("67", "`hidden.span"),
    ]
    documented = TUTORIAL.read_text(encoding="utf-8").replace("\n", " ")
    assert re.sub(r"\s+", " ", documented).find(made.out.splitlines()[0]) > 0


def test_unusable_word_problems_are_named_with_line_and_rule(
    askgate: Askgate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    own = Path("own/gsm8k/bikes.jsonl")
    own.parent.mkdir(parents=True)
    good = [problem(Random(seed)) for seed in range(60)]
    bad = {"question": "Every bike takes 7 hours. How long do 3 bikes take?", "answer": "21 hours.\n#### 21"}
    short = {**good[0], "question": "How many dollars?"}
    own.write_text("".join(json.dumps(one) + "\n" for one in [bad, *good, short]), encoding="utf-8")
    build = ("build-rollout-pool", "--source", "dir", "--data-dir", "own", "--mix", "gsm8k:1.0", "--n", "10")
    done = askgate(*build, "--out", "pool.jsonl")
    assert done.code == 0, done.err
    assert f"{own}:1: 'Every bike takes 7 hours. How long do 3 bikes take?' skipped: the answer has no" in done.out
    assert f"{own}:62: 'How many dollars?' skipped: the question must be two sentences or more" in done.out
    own.write_text(json.dumps(bad) + "\n", encoding="utf-8")
    refused = askgate(*build, "--out", "pool.jsonl")
    assert refused.code == 2
    assert "bikes.jsonl:1: 'Every bike takes" in refused.err
    own.write_text('{"question": "How long?", "answer": 7}\n', encoding="utf-8")
    refused = askgate(*build, "--out", "pool.jsonl")
    assert "bikes.jsonl:1" in refused.err
    assert "correct the row" in refused.err
    slips = [{"question": one["question"], "anwser": one["answer"]} for one in good[:12]]
    own.write_text("".join(json.dumps(one) + "\n" for one in [good[20], *slips]), encoding="utf-8")
    refused = askgate(*build, "--out", "pool.jsonl")
    assert refused.err.count("unknown field 'anwser' (did you mean 'answer'?)") == 10, "one run names them all"
    assert "12 rows cannot be read:" in refused.err
    assert "and 2 more. What to do: rename the field in every row" in refused.err
    without_mark = {**good[0], "answer": good[0]["answer"].split("####")[0]}
    own.write_text("".join(json.dumps(one) + "\n" for one in [without_mark, *good[1:], good[5]]), encoding="utf-8")
    refused = askgate(*build[:-1], "900", "--out", "pool.jsonl")
    assert "bikes.jsonl:1: 'Amir bakes" in refused.err, "skipped rows are named though --n is too large"
    assert "bikes.jsonl:61: 'Amir bakes" in refused.err
    assert "(61 rows read: " in refused.err


def test_long_answers_and_a_mix_without_effect_are_said(
    askgate: Askgate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own").mkdir()
    things = ("old harbour", "mountain hut", "night market", "south garden", "iron bridge", "glass tower")
    rows = [{"question": f"Tell me about the {thing}, please.", "answer": f"{thing} " * 9} for thing in things]
    Path("own/rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    build = ("build_rollout_pool", "--source", "messages", "--data-dir", "own", "--n", "2", "--out", "pool.jsonl")
    done = askgate(*build, "--clarify-rate", "0", "--mix", "hotpotqa:1.0")
    assert done.code == 0, done.err
    assert (
        "--mix hotpotqa:1.0 has no effect: the rows of source messages decide about the tasks (detect:1.00)" in done.err
    )
    assert "task detect: most rows have no answer of at most 12 words, so no answer is checked" in done.err
    none = askgate("samples", "pool.jsonl", "--need-ask")
    assert (none.code, none.out, none.err) == (0, "", "pool.jsonl: no sample needs a clarifying question\n")
    counted = re.search(r"6 rows read: (\d) used", done.out)
    assert counted
    again = askgate(*build[:6], "12", *build[7:], "--clarify-rate", "0", "--reuse", "9")
    assert again.code == 0, again.err
    assert re.search(r"6 rows read: [1-6] used", again.out), "rows, not samples"
    assert "-" not in again.out.split("rows read")[1].split("\n")[0]


def test_unmeasured_checks_of_few_word_problems_have_a_reason(
    askgate: Askgate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own/gsm8k").mkdir(parents=True)
    lines = [problem(Random(seed)) for seed in range(120)]
    Path("own/gsm8k/bakery.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    source = ("--source", "dir", "--data-dir", "own", "--mix", "gsm8k:1.0")
    assert askgate("shadow-run", *source, "--n", "5", "--materialize", "s.jsonl").code == 0
    assert askgate("build-rollout-pool", *source, "--n", "30", "--out", "p.jsonl").code == 0
    done = askgate("validate-pool", "p.jsonl", "--leak-check", "s.jsonl", "--by-task", "gsm8k", "--out", "r.json")
    assert done.code == 1, "what was not measured has not passed"
    for name in ("distinct2", "shortcut_auc[gsm8k]", "shortcut_observation[gsm8k]"):
        assert f"NOT MEASURED {name}, must be" in done.out
    assert "the pool is too small to measure this: distinct2 takes 5,000 tokens" in done.out
    assert "template" not in done.out.split("FAILED validate_pool")[0].split("registers")[1]


def test_word_problems_that_need_every_sentence_say_why(
    askgate: Askgate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own/gsm8k").mkdir(parents=True)
    texts = [
        (
            f"Rosa has {boxes} boxes. Every carton contains {each} novels. How many books does she own?",
            f"<<{boxes}*{each}={boxes * each}>>{boxes * each}\n#### {boxes * each}",
        )
        for boxes in range(2, 9)
        for each in range(11, 20)
    ]
    wrong = (texts[0][0].replace("Rosa", "Lena"), "<<2*11=23>>23\n#### 23")
    lines = [json.dumps({"question": question, "answer": answer}) for question, answer in (*texts, wrong)]
    Path("own/gsm8k/books.jsonl").write_text("\n".join(lines), encoding="utf-8")
    build = ("build-rollout-pool", "--source", "dir", "--data-dir", "own", "--mix", "gsm8k:1.0", "--n", "1")
    done = askgate(*build, "--out", "pool.jsonl")
    assert done.code == 0, done.err
    warning = "no row needs a question: a policy trained on this cannot learn when to ask"
    assert warning in done.err
    assert re.search(r"63 problems: no sentence can be left out: .+: 'Every carton contains 11 novels.'", done.err)
    assert "skipped: 2*11 is 22, not 23" in done.out
    assert "64 rows read: 1 used (0 need a question)" in done.out
    assert warning not in askgate(*build, "--clarify-rate", "0", "--out", "pool.jsonl").err, "none was asked for"
    monkeypatch.setenv("ASKGATE_LANG", "zh")
    said = askgate(*build, "--out", "pool.jsonl")
    assert "没有一行需要提问" in said.err
    assert "63 题没有可删去的句子" in said.err
    assert "跳过：2*11 等于 22，不是 23" in said.out


def test_rows_that_break_one_rule_share_a_line(
    askgate: Askgate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_dialogues(str(TUTORIAL.parents[1] / "examples/own_messages.py"), "own_chats/dialogues.jsonl")
    file = Path("own_chats/dialogues.jsonl")
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    for row in rows[:40]:
        for message in row["messages"]:
            message["role"] = message["role"].replace("user", "customer")
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    build = ("build-rollout-pool", "--source", "messages", "--data-dir", "own_chats", "--n", "40", "--out", "p.jsonl")
    refused = askgate(*build)
    assert f"{file}: 40 rows skipped: no message of a user: its roles are customer, assistant" in refused.err
    assert "(lines 1, 2, 3, ...)" in refused.err
    assert "What to do: correct the skipped rows, which are named above; or run the same" in refused.err
    monkeypatch.setenv("ASKGATE_LANG", "zh")
    said = askgate(*build).err
    assert f"{file}: 跳过 40 行：没有用户消息：" in said
    assert "怎么办：请改正上面列出的被跳过的行；或同一命令改用 --n" in said
    file.rename("own_chats/dialogues.json")
    assert "怎么办：先转换：jq -c" in askgate(*build).err


def test_rows_without_pages_and_unfound_pages_are_said(
    askgate: Askgate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_dialogues(str(TUTORIAL.parents[1] / "examples/own_messages.py"), "own_chats/dialogues.jsonl")
    file = Path("own_chats/dialogues.jsonl")
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    build = ("build-rollout-pool", "--source", "messages", "--data-dir", "own_chats", "--n", "30", "--out", "p.jsonl")
    assert askgate(*build).err == ""
    first = next(at for at, row in enumerate(rows) if row.get("hidden"))
    title = rows[first]["articles"][0]["title"]
    rows[first]["articles"][0]["text"] = "Nothing."
    rows[first]["messages"][0]["content"] = "What do children pay?"
    complete = [row for row in rows if not row.get("hidden")]
    for row in complete[:7]:
        del row["articles"]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    said = askgate(*build).err
    assert "7 of 60 rows have no `articles`: nothing can be looked up for them" in said
    assert f"{file}:{first + 1}: the search does not find {title!r}: use a word of the question in that page" in said


def test_held_out_rows_that_are_left_over_have_their_reason(
    askgate: Askgate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_dialogues(str(TUTORIAL.parents[1] / "examples/own_messages.py"), "own_chats/dialogues.jsonl")
    draw = ("shadow-run", "--source", "messages", "--data-dir", "own_chats", "--materialize", "s.jsonl", "--n")
    refused = askgate(*draw, "60").err
    assert "; too few of them are complete: 30% of the samples need a question. What to do: run the same" in refused
    monkeypatch.setenv("ASKGATE_LANG", "zh")
    assert "；其中信息完整的行太少：需要提问的样本占 30%。怎么办：同一命令改用 --n" in askgate(*draw, "60").err
