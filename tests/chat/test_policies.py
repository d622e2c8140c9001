"""Every kind of policy talks in the same environment: folder, adapters, GGUF file, server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM

from askgate_env.types import Sample, Turn
from src.agents.native import NativeRenderer
from src.agents.trajectory import Job
from src.chat.policies import GgufPolicy, open_policy
from src.chat.samples import held_out_samples
from src.core.errors import BadInput
from src.engines.serving import write_serving
from src.release.gguf_check import export_gguf
from src.release.gguf_export import load_merged, load_tokenizer, policy_folders, write_gguf
from tests.agents.test_chat import trl_template
from tests.chat.scripted_server import KEY, scripted
from tests.release.small_models import qwen3, tokenizer_like

TINY = Path("models/tiny")


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def samples() -> list[Sample]:
    return held_out_samples(4, "en", 5)


def said_by(model: Path | str, samples: list[Sample]) -> list[tuple[Turn, ...]]:
    """Dialogues of a policy, each watched as it was made."""
    made = []
    with open_policy(str(model)) as policy:
        for sample in samples:
            watched: list[Turn] = []
            [episode] = policy.rollout([Job(sample)], 6, watch=watched.append)
            assert episode.turns == (Turn("user", "say", sample.prompt), *watched)
            made.append(episode.turns)
    return made


def test_folder_adapters_and_gguf_file_say_the_same(
    samples: list[Sample], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fresh adapters change nothing, and a GGUF file is the same model."""
    expected = said_by("models/tiny", samples)
    assert any(turn.act == "call" for turns in expected for turn in turns)
    base: Any = AutoModelForCausalLM.from_pretrained(policy_folders(TINY)[0])
    base.name_or_path = base.config.name_or_path = "models/tiny"
    adapted: Any = get_peft_model(base, LoraConfig(r=2, target_modules=["q_proj"], task_type="CAUSAL_LM"))
    adapted.save_pretrained(tmp_path / "adapters")
    folder = policy_folders(TINY)[0]
    write_gguf(load_merged(folder, None), load_tokenizer(folder), tmp_path / "tiny.gguf", "f16", "tiny")
    monkeypatch.chdir(tmp_path)
    assert said_by("adapters", samples) == expected
    assert said_by("tiny.gguf", samples) == expected


def test_a_policy_with_native_calls_is_talked_with_in_calls(
    samples: list[Sample], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Folder and GGUF file remember that it calls functions; the check of the export reads such prompts too."""
    monkeypatch.chdir(tmp_path)
    model, tokenizer = qwen3(), tokenizer_like("qwen2")
    tokenizer.add_tokens(["<tool_call>", "</tool_call>"])
    tokenizer.chat_template = trl_template("qwen3")
    model.config.max_position_embeddings = 2048
    model.save_pretrained("policy")
    tokenizer.save_pretrained("policy")
    tags = one_turn("policy", samples[0])
    write_serving(Path("policy"), "base", ("calc",), native=True)
    monkeypatch.setattr("src.release.gguf_check.check_samples", lambda: samples[:2])
    report, _ = export_gguf(Path("policy"), Path("policy.gguf"), "f16", None, print, lambda done: None)
    assert report.passed
    native = one_turn("policy", samples[0])
    assert native == one_turn("policy.gguf", samples[0])
    assert native != tags, "another prompt"
    with open_policy("policy.gguf") as policy:
        assert isinstance(policy, GgufPolicy)
        plain, actions = (policy._renderers.of([[{"role": role, "content": "x"}]]) for role in ("user", "system"))
    assert isinstance(actions, NativeRenderer)
    assert not isinstance(plain, NativeRenderer), "plain chat lists no functions"


def one_turn(model: str, sample: Sample) -> str:
    """How the policy begins. Further on, rounding may decide between two unlikely words of a random model."""
    with open_policy(model) as policy:
        [episode] = policy.rollout([Job(sample)], max_turns=1)
    return episode.turns[1].text[:8]


def test_a_server_gets_the_dialogue_as_messages(samples: list[Sample]) -> None:
    sample = next(one for one in samples if one.hidden is not None)
    assert sample.hidden is not None
    ask = f"Could you tell me {sample.hidden.missing}?"
    thinking = {"content": f"<ask>{ask}</ask>", "reasoning_content": "Something is missing."}
    with (
        scripted("<calc>6*7</calc>", thinking, f"<answer>{sample.answer}</answer>") as server,
        open_policy(server.url, environment={"POLICY_API_KEY": KEY}) as policy,
    ):
        [episode] = policy.rollout([Job(sample)], 6)
    assert episode.need_ask_success
    assert episode.turns[3].thought == "Something is missing."
    assert [one["model"] for one in server.sent] == ["someone"] * 3
    system, prompt, *rest = server.sent[-1]["messages"]
    assert "<ask>" in system["content"]
    assert prompt == {"role": "user", "content": sample.prompt}
    assert [one["role"] for one in rest] == ["assistant", "user"] * 2
    assert rest[1]["content"] == "42"
    assert rest[2]["content"] == f"<ask>{ask}</ask>"


def test_a_server_that_refuses_is_named_without_the_key(samples: list[Sample]) -> None:
    with (
        scripted() as server,
        open_policy(server.url, environment={"POLICY_API_KEY": KEY}) as policy,
        pytest.raises(BadInput, match="HTTP 400") as refused,
    ):
        policy.rollout([Job(samples[0])], 6)
    assert server.url in str(refused.value)
    assert KEY not in str(refused.value)


def test_one_of_a_servers_several_models_must_be_named(samples: list[Sample]) -> None:
    with scripted("<answer>1</answer>", models=("a", "b")) as server:
        with pytest.raises(BadInput, match=r"offers 2 models \(a, b\).*POLICY_MODEL"), open_policy(server.url):
            pass
        with open_policy(server.url, environment={"POLICY_MODEL": "b"}) as policy:
            policy.rollout([Job(samples[0])], 6)
    assert server.sent[0]["model"] == "b"


def test_what_is_no_policy_is_refused_with_what_to_type(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("run/checkpoints/local/final_model").mkdir(parents=True)
    Path("run/checkpoints/local/final_model/config.json").write_text("{}")
    Path("empty").mkdir()
    Path("no.gguf").write_text("no model")
    for model, why in (
        ("nowhere", "nowhere: no such model. What to do: name a model folder, a .gguf file"),
        ("models/none", "models/none: no such model"),
        ("run", "What to do: name run/checkpoints/local/final_model"),
        ("empty", "has no model"),
        ("no.gguf", "is not a GGUF file"),
        ("none.gguf", "no such file"),
    ):
        with pytest.raises(BadInput) as refused, open_policy(model):
            pass
        assert why in str(refused.value)


def test_plain_chat_equals_the_chat_template_and_generation_of_transformers(tmp_path: Path) -> None:
    """Also in the middle of a dialogue and with a system prompt. The GGUF file says the same."""
    model, tokenizer = qwen3(), tokenizer_like("qwen2")
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    write_gguf(model, tokenizer, tmp_path / "small.gguf", "f16", "small")
    first = [{"role": "system", "content": "Be short."}, {"role": "user", "content": "How many eggs are left?"}]
    prompts: list[list[dict[str, str]]] = [
        first[1:],
        [*first, {"role": "assistant", "content": "Of which?"}, {"role": "user", "content": "Of <|im_end|> twelve."}],
        [*first, {"role": "assistant", "content": "Of which?"}, {"role": "user", "content": "Of twelve."}],
    ]
    folder, file = dict[int, str](), dict[int, str]()
    with open_policy(str(tmp_path)) as policy:
        policy.complete(prompts, lambda index, reply: folder.update({index: reply.thought + reply.text}))
        most = policy.reply_tokens
    with open_policy(str(tmp_path / "small.gguf")) as policy:
        policy.complete(prompts, lambda index, reply: file.update({index: reply.thought + reply.text}))
    for index in range(len(prompts)):
        # Its weights have 16 bits, so a long reply of a random model may end differently.
        assert file[index][:8] == folder[index][:8]
    for index in (0, 2):
        ids: Any = tokenizer.apply_chat_template(prompts[index], add_generation_prompt=True, return_tensors="pt")
        ids = ids if isinstance(ids, torch.Tensor) else ids["input_ids"]
        made = model.generate(ids, do_sample=False, max_new_tokens=most, eos_token_id=tokenizer.eos_token_id)
        expected = str(tokenizer.decode(made[0, ids.shape[1] :], skip_special_tokens=True)).strip()
        assert folder[index] == expected
    assert folder[1] != folder[2], "a tag in a message is text"
