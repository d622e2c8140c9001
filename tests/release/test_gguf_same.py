"""llama.cpp computes an exported file as PyTorch computes the model: same tokens for a text, same next token."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from src.core.errors import BadInput
from src.release.gguf_check import Agreement, _greedy_check, agreement, check_samples, other_tokens, texts_of
from src.release.gguf_export import load_merged, load_tokenizer, policy_folders, write_gguf
from src.release.llamacpp import LlamaCpp, open_gguf
from tests.release.small_models import llama, qwen3, tokenizer_like

YARN = {"rope_type": "yarn", "rope_theta": 1e4, "factor": 4.0, "original_max_position_embeddings": 32}
LINEAR = {"rope_type": "linear", "rope_theta": 1e4, "factor": 2.0}
PROMPTS = [[5 * place % 300 + 3 * at for at in range(7 + 11 * place)] for place in range(6)]


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> None:
    torch.set_num_threads(1)


def compared(folder: Path, model: Any, kind: Any = "f16", against: Any = None) -> Agreement:
    write_gguf(model, tokenizer_like("qwen2"), folder / "model.gguf", kind, "small")
    with open_gguf(folder / "model.gguf", 256, folder / "server.log") as llama_cpp:
        return agreement(llama_cpp, against or model, PROMPTS)


@pytest.mark.parametrize(
    "model",
    [qwen3, llama, lambda: qwen3(rope_parameters=YARN), lambda: llama(rope_parameters=LINEAR)],
    ids=["qwen3", "llama3", "qwen3-yarn", "llama-linear"],
)
def test_the_file_gives_the_same_next_tokens(tmp_path: Path, model: Any) -> None:
    found = compared(tmp_path, model())
    assert [one for one in found.differences if one.gap > 0.02] == []
    assert found.tokens >= 100


def test_another_model_is_detected(tmp_path: Path) -> None:
    """The comparison can fail: slightly changed weights of the same shape give wide gaps."""
    other = qwen3()
    with torch.no_grad():
        other.model.layers[0].mlp.down_proj.weight += 0.1
    found = compared(tmp_path, qwen3(), against=other)
    assert found.same_share < 0.98
    assert max(one.gap for one in found.differences) > 0.02


@pytest.mark.parametrize(
    ("kind", "share", "remedy"),
    [
        ("q8_0", 0.97, "export with --type f16"),
        ("q8_0", 0.98, ""),
        ("q4_k_m", 0.89, "export with --type q8_0"),
        ("q4_k_m", 0.90, ""),
    ],
)
def test_too_few_same_choices_fail_the_check_of_the_format(kind: Any, share: float, remedy: str) -> None:
    made = _greedy_check(Agreement(1, 0, 100, round(100 * share), share, share, []), kind)
    assert made.passed is not bool(remedy)
    assert remedy in made.remedy


def test_adapters_are_merged_into_the_file(tmp_path: Path) -> None:
    from peft import LoraConfig, get_peft_model

    base = llama()
    base.save_pretrained(tmp_path / "base")
    adapted = get_peft_model(base, LoraConfig(r=4, lora_alpha=64, target_modules=["q_proj", "v_proj", "down_proj"]))
    generator = torch.Generator().manual_seed(1)
    for name, weight in adapted.named_parameters():
        if "lora_B" in name:
            weight.data = 0.1 * torch.randn(weight.shape, generator=generator)
    adapted.save_pretrained(tmp_path / "adapter")
    merged = load_merged(tmp_path / "base", tmp_path / "adapter")
    found = compared(tmp_path, merged, against=adapted.eval())
    assert [one for one in found.differences if one.gap > 0.02] == []
    with adapted.disable_adapter(), open_gguf(tmp_path / "model.gguf", 256, tmp_path / "server.log") as llama_cpp:
        assert agreement(llama_cpp, adapted, PROMPTS).same_share < 0.98, "the adapters change what is said"


@pytest.fixture(scope="module", params=["tiny", "qwen2", "llama-bpe", "smollm", "gpt-2"])
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A tokenizer, and llama.cpp with a file that contains it."""
    folder = tmp_path_factory.mktemp("tokenizer")
    if request.param == "tiny":
        tiny = policy_folders(Path("models/tiny"))[0]
        tokenizer, model = load_tokenizer(tiny), load_merged(tiny, None)
    else:
        tokenizer, model = tokenizer_like(request.param), qwen3()
    write_gguf(model, tokenizer, folder / "model.gguf", "q8_0", "small")
    with open_gguf(folder / "model.gguf", 256, folder / "server.log") as llama_cpp:
        yield tokenizer, llama_cpp


@pytest.fixture(scope="module")
def texts() -> list[str]:
    """Questions, articles and replies in both languages, and odd ones."""
    return list(texts_of(check_samples(60)))


def test_samples_and_odd_texts_are_the_same_tokens(pair: tuple[Any, LlamaCpp], texts: list[str]) -> None:
    tokenizer, llama_cpp = pair
    assert len(texts) > 300
    assert other_tokens(llama_cpp, tokenizer, texts) == []


# Letters, digits, blanks and marks of several scripts, in any order.
PIECES = st.sampled_from(
    [*"aZéß中文字。，0123456789 \n\r\t'’.,!?-_<>|/\\\"()", "  ", "\r\n", "'s", "'LL", "’s", "<|end|>"]
)
TEXTS = st.lists(st.one_of(PIECES, st.characters(codec="utf-8")), max_size=40).map("".join)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=TEXTS)
def test_any_text_is_the_same_tokens(pair: tuple[Any, LlamaCpp], text: str) -> None:
    tokenizer, llama_cpp = pair
    assert other_tokens(llama_cpp, tokenizer, [text]) == []


def test_a_wrong_pre_tokenizer_name_is_detected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Digits are split one by one instead of together: llama.cpp reports no error, the comparison does."""
    from src.release import gguf_tokenizer

    tokenizer = tokenizer_like("gpt-2")
    monkeypatch.setattr(gguf_tokenizer, "pre_tokenizer_name", lambda rules, ignore_merges: "qwen2")
    write_gguf(qwen3(), tokenizer, tmp_path / "model.gguf", "q8_0", "small")
    with open_gguf(tmp_path / "model.gguf", 256, tmp_path / "server.log") as llama_cpp:
        assert other_tokens(llama_cpp, tokenizer, ["Oslo", "in 1899 and"]) == ["in 1899 and"]


def test_a_damaged_file_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    write_gguf(qwen3(), tokenizer_like("qwen2"), path, "f16", "small")
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(BadInput, match="did not start"), open_gguf(path, 256, tmp_path / "server.log"):
        pass
    path.write_text("no model")
    with pytest.raises(BadInput, match="not a GGUF file"), open_gguf(path, 256, tmp_path / "server.log"):
        pass
