"""Exports of pools and recorded episodes: messages, ShareGPT, DPO pairs, JSONL and parquet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from askgate_env.actions import say, system
from askgate_env.env import play
from askgate_env.pool import DEMO_POOL, load_pool
from askgate_env.types import Episode, Sample
from src.core.errors import BadInput
from src.data.export import Form, export, facts_path, first_difference
from src.data.readers import messages as reader
from tests.conftest import Askgate

SAMPLES = load_pool()
NEED = next(one for one in SAMPLES if one.needs_clarification and one.lang == "en")
CLEAR = next(one for one in SAMPLES if not one.needs_clarification and one.lang == "en")


def demonstration(sample: Sample) -> list[str]:
    return [say(turn) for turn in sample.dialogue if turn.by == "assistant"]


def without_ask(sample: Sample) -> list[str]:
    return [say(turn) for turn in sample.dialogue if turn.by == "assistant" and turn.act != "ask"]


def rows(folder: Path, form: Form, episodes: list[Episode] | None = None) -> list[dict[str, Any]]:
    file = None
    if episodes is not None:
        file = folder / "episodes.jsonl"
        file.write_bytes(b"".join(msgspec.json.encode(one) + b"\n" for one in episodes))
    export(DEMO_POOL, form, folder / "out.jsonl", file)
    return [json.loads(line) for line in (folder / "out.jsonl").read_bytes().splitlines()]


def test_messages_are_the_demonstrations_with_their_system_prompt(tmp_path: Path) -> None:
    made = rows(tmp_path, "messages")
    assert len(made) == len(SAMPLES)
    for row, sample in zip(made, SAMPLES, strict=True):
        said = row["messages"]
        assert said[0] == {"role": "system", "content": system(sample.lang)}
        assert [one["role"] for one in said[1:]] == ["user", "assistant"] * (len(said) // 2)
        assert [one["content"] for one in said if one["role"] == "assistant"] == demonstration(sample)
        assert (row["id"], row["source"], row["split"]) == (sample.id, "builtin", "train")


def test_share_gpt_says_the_same_and_can_be_read_again(tmp_path: Path) -> None:
    plain, shared = rows(tmp_path, "messages"), rows(tmp_path, "sharegpt")
    names = {"system": "system", "user": "human", "assistant": "gpt"}
    for one, other in zip(plain, shared, strict=True):
        told = [{"from": names[message["role"]], "value": message["content"]} for message in one["messages"]]
        assert other["conversations"] == told
    items, count = reader.read([tmp_path / "out.jsonl"])
    assert count == len(SAMPLES)
    assert {item.question for item in items} <= {sample.prompt for sample in SAMPLES}


def test_of_recorded_episodes_those_are_exported_that_earned_the_outcome(tmp_path: Path) -> None:
    right, lucky = play(NEED, demonstration(NEED)), play(NEED, without_ask(NEED))
    made = rows(tmp_path, "messages", [right, lucky, play(CLEAR, ["<answer>no idea</answer>"])])
    assert [row["id"] for row in made] == [NEED.id]
    facts = json.loads(facts_path(tmp_path / "out.jsonl").read_bytes())
    assert facts["left_out"] == {"episodes that did not earn the outcome": 2}
    assert list(facts["episodes"]) == [(tmp_path / "episodes.jsonl").as_posix()]


def test_a_pair_is_the_turn_in_which_the_episodes_part(tmp_path: Path) -> None:
    """The ask is chosen and the answer without it rejected, after the same search."""
    right, lucky = play(NEED, demonstration(NEED)), play(NEED, without_ask(NEED))
    [row] = rows(tmp_path, "dpo", [lucky, right])
    place = next(at for at, turn in enumerate(right.turns) if turn.act == "ask")
    assert first_difference(right, lucky) == place
    assert len(row["prompt"]) == 1 + place
    assert row["prompt"][-1]["role"] == "user"
    assert row["chosen"] == [{"role": "assistant", "content": say(right.turns[place])}]
    assert row["rejected"] == [{"role": "assistant", "content": say(lucky.turns[place])}]
    assert (row["chosen_reward"], row["rejected_reward"], row["chosen_from"]) == (1.0, 0.0, "episode")


def test_the_demonstration_is_chosen_where_no_episode_is_right(tmp_path: Path) -> None:
    [row] = rows(tmp_path, "dpo", [play(NEED, without_ask(NEED))])
    assert (row["chosen_reward"], row["rejected_reward"], row["chosen_from"]) == (None, 0.0, "demonstration")
    assert "<ask>" in row["chosen"][0]["content"]


def test_a_needless_ask_loses_to_the_same_direct_answer(tmp_path: Path) -> None:
    asked = play(CLEAR, ["<ask>What do you mean?</ask>", *demonstration(CLEAR)])
    assert asked.success
    [row] = rows(tmp_path, "dpo", [asked, play(CLEAR, demonstration(CLEAR))])
    assert row["rejected"][0]["content"] == "<ask>What do you mean?</ask>"
    assert row["rejected_reward"] == pytest.approx(0.93)


def test_of_several_worse_episodes_the_nearest_is_rejected(tmp_path: Path) -> None:
    near = play(NEED, [*demonstration(NEED)[:-1], "<answer>no idea</answer>"])
    far = play(NEED, ["<answer>no idea</answer>"])
    [row] = rows(tmp_path, "dpo", [far, play(NEED, demonstration(NEED)), near])
    assert len(row["prompt"]) == len(near.turns)


def test_recorded_rewards_decide_where_all_episodes_have_one(tmp_path: Path) -> None:
    right = play(CLEAR, demonstration(CLEAR))
    other = play(CLEAR, ["<calc>1 + 1</calc>", *demonstration(CLEAR)])
    low, high = replace(right, reward={"outcome": 1.0}), replace(other, reward={"outcome": 1.0, "dim/support": 0.3})
    [row] = rows(tmp_path, "dpo", [low, high])
    assert row["chosen"][0]["content"] == "<calc>1 + 1</calc>"
    assert row["chosen_reward"] == pytest.approx(1.3)


def test_equal_rewards_foreign_samples_and_cut_turns_make_no_pair(tmp_path: Path) -> None:
    right = play(CLEAR, demonstration(CLEAR))
    foreign = replace(right, sample_id="elsewhere")
    with pytest.raises(BadInput, match=r"1 episodes of samples that are not in the pool; .*cut off; .*equal rewards"):
        rows(tmp_path, "dpo", [right, foreign, play(NEED, [])])
    assert not (tmp_path / "out.jsonl").exists()


def test_recorded_lines_with_their_model_are_read_too(tmp_path: Path) -> None:
    episode = msgspec.to_builtins(play(NEED, without_ask(NEED)))
    line = {"id": "a/0", "source_id": "s", "split": "train", "model": "0" * 64, "episode": episode}
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs/shadow.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    assert export(DEMO_POOL, "dpo", tmp_path / "out.jsonl", tmp_path / "runs").rows == 1


def test_parquet_has_the_rows_of_jsonl(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    plain = rows(tmp_path, "messages")
    facts = export(DEMO_POOL, "messages", tmp_path / "out.parquet")
    assert parquet.read_table(tmp_path / "out.parquet").to_pylist() == plain
    assert facts.rows == len(plain)
    again = export(DEMO_POOL, "messages", tmp_path / "again.parquet")
    assert again.sha256 == facts.sha256


def test_the_verb_names_skips_and_warns_of_held_out_samples(askgate: Askgate, tmp_path: Path) -> None:
    provenance = replace(CLEAR.provenance, split="shadow")
    (tmp_path / "held.jsonl").write_bytes(msgspec.json.encode(replace(CLEAR, provenance=provenance)) + b"\n")
    made = askgate("export", tmp_path / "held.jsonl", "--format", "messages", "--out", tmp_path / "out.jsonl")
    assert made.code == 0
    assert "1 rows; by source: builtin 1" in made.out
    assert "1 of 1 rows are of held-out samples" in made.err


@pytest.mark.parametrize(
    ("flags", "what"),
    [
        (["--format", "messages", "--out", "out.csv"], "neither in .jsonl nor in .parquet"),
        (["--format", "messages", "--out", str(DEMO_POOL)], "overwrite its input"),
        (["--format", "dpo", "--out", "out.jsonl"], "pairs need recorded episodes"),
        (["--format", "dpo", "--out", "out.jsonl", "--episodes", "nowhere.jsonl"], "nowhere.jsonl"),
    ],
)
def test_what_cannot_be_exported_is_refused(askgate: Askgate, tmp_path: Path, flags: list[str], what: str) -> None:
    refused = askgate("export", DEMO_POOL, *flags)
    assert refused.code == 2
    assert what in refused.err


CHAT = (
    "{% for one in messages %}<|im_start|>{{ one.role }}\n{{ one.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["messages", "dpo"])
def test_trl_trains_on_an_export(form: Form, tmp_path: Path) -> None:
    """Five steps of TRL's SFTTrainer on messages, and of its DPOTrainer on pairs; every weight moves."""
    trl = pytest.importorskip("trl")
    from datasets import load_dataset
    from transformers import Qwen3Config, Qwen3ForCausalLM

    from tests.agents.small_tokenizer import small_tokenizer

    made = rows(tmp_path, form, [play(one, without_ask(one)) for one in SAMPLES] if form == "dpo" else None)
    assert len(made) >= 20
    tokenizer = small_tokenizer(("<|im_start|>", "<|im_end|>", "<|endoftext|>"), eos="<|im_end|>")
    tokenizer.pad_token, tokenizer.chat_template = "<|endoftext|>", CHAT
    size = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "head_dim": 8}
    model = Qwen3ForCausalLM(
        Qwen3Config(vocab_size=len(tokenizer), num_attention_heads=2, num_key_value_heads=1, **size)
    )
    model.save_pretrained(tmp_path / "base")  # DPOTrainer loads its reference from there
    model = Qwen3ForCausalLM.from_pretrained(tmp_path / "base")
    before = {name: weight.detach().clone() for name, weight in model.named_parameters()}
    data = load_dataset(
        "json", data_files=str(tmp_path / "out.jsonl"), split="train", cache_dir=str(tmp_path / "cache")
    )
    settings = {"max_steps": 5, "per_device_train_batch_size": 4, "report_to": [], "use_cpu": True, "logging_steps": 1}
    kinds = {"messages": (trl.SFTConfig, trl.SFTTrainer), "dpo": (trl.DPOConfig, trl.DPOTrainer)}
    config, trainer = kinds[form]
    args = config(str(tmp_path / "run"), save_strategy="no", max_length=4096, learning_rate=1e-3, **settings)
    done = trainer(model, args=args, train_dataset=data, processing_class=tokenizer)
    done.train()
    losses = [line["loss"] for line in done.state.log_history if "loss" in line]
    print(form, len(made), "rows, losses", losses)
    assert len(losses) == 5
    assert losses[-1] < losses[0]
    moved = {name for name, weight in model.named_parameters() if not (weight == before[name]).all()}
    assert moved == set(before)
