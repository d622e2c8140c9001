"""Contents of an exported file: names, numbers, sizes, marks. Read with the gguf library, without llama.cpp."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from gguf import GGMLQuantizationType, GGUFReader, GGUFWriter, TokenType
from gguf.quants import dequantize

from src.checkpoint.seal import seal
from src.core.errors import BadInput
from src.release.gguf_check import ODD_TEXTS
from src.release.gguf_export import in_pairs, load_merged, policy_folders, write_gguf
from src.release.gguf_tokenizer import (
    PRE_TOKENIZERS,
    exported_tokenizer,
    pre_tokenizer_name,
    read_tokenizer,
    write_vocabulary,
)
from tests.release.small_models import ADDED, CHATML, SPECIAL, llama, qwen3, tokenizer_like


def exported(folder: Path, model: Any, kind: Any = "f16", way: str = "qwen2") -> GGUFReader:
    path = folder / f"{kind}.gguf"
    write_gguf(model, tokenizer_like(way), path, kind, "small")
    return GGUFReader(path)


def contents(reader: GGUFReader, key: str) -> Any:
    field = reader.get_field(key)
    return None if field is None else field.contents()


def numbers(reader: GGUFReader) -> dict[str, Any]:
    return {tensor.name: dequantize(tensor.data, tensor.tensor_type) for tensor in reader.tensors}


def test_tied_embeddings_are_stored_once_and_untied_ones_twice(tmp_path: Path) -> None:
    assert "output.weight" not in numbers(exported(tmp_path, qwen3()))
    assert "output.weight" in numbers(exported(tmp_path, llama()))


def test_qwen3_keeps_its_norms_and_the_order_of_its_rows(tmp_path: Path) -> None:
    model = qwen3()
    found, layer = numbers(exported(tmp_path, model)), model.model.layers[1].self_attn
    assert np.array_equal(found["blk.1.attn_q_norm.weight"], layer.q_norm.weight.detach().numpy())
    assert np.array_equal(found["blk.1.attn_k_norm.weight"], layer.k_norm.weight.detach().numpy())
    query = layer.q_proj.weight.detach().numpy()
    assert np.array_equal(found["blk.1.attn_q.weight"], query.astype(np.float16).astype(np.float32))


def test_llama_query_and_key_rows_are_stored_in_pairs(tmp_path: Path) -> None:
    model = llama()
    found, layer = numbers(exported(tmp_path, model)), model.model.layers[0].self_attn
    key = layer.k_proj.weight.detach().numpy().astype(np.float16).astype(np.float32)
    # Two heads of 16: dimension 0 is turned with dimension 8, so they come to stand side by side.
    assert np.array_equal(found["blk.0.attn_k.weight"][:4], key[[0, 8, 1, 9]])
    assert np.array_equal(found["blk.0.attn_k.weight"][16:18], key[[16, 24]])
    bias = layer.q_proj.bias.detach().numpy()
    assert np.array_equal(found["blk.0.attn_q.bias"][:4], bias[[0, 8, 1, 9]])
    value = layer.v_proj.weight.detach().numpy().astype(np.float16).astype(np.float32)
    assert np.array_equal(found["blk.0.attn_v.weight"], value)


def test_pairs_of_one_head_by_hand() -> None:
    rows = np.arange(4, dtype=np.float32)[:, None]
    assert in_pairs(rows, heads=1).ravel().tolist() == [0, 2, 1, 3]


@pytest.mark.parametrize(("kind", "most"), [("f16", 1e-3), ("q8_0", 1e-2)])
def test_stored_values_are_exact_up_to_their_format(tmp_path: Path, kind: Any, most: float) -> None:
    model = qwen3()
    reader = exported(tmp_path, model, kind)
    types = {tensor.name: tensor.tensor_type for tensor in reader.tensors}
    assert types["blk.0.ffn_down.weight"] == GGMLQuantizationType[kind.upper()]
    assert {types[name] for name in types if "norm" in name} == {GGMLQuantizationType.F32}
    down = model.model.layers[0].mlp.down_proj.weight.detach().numpy()
    off = np.abs(numbers(reader)["blk.0.ffn_down.weight"] - down).max()
    assert 0 < off < most * np.abs(down).max()


def test_rows_without_whole_blocks_stay_in_f16(tmp_path: Path) -> None:
    reader = exported(tmp_path, qwen3(intermediate_size=80), "q8_0")
    types = {tensor.name: tensor.tensor_type for tensor in reader.tensors}
    assert types["blk.0.ffn_down.weight"] == GGMLQuantizationType.F16
    assert types["blk.0.ffn_up.weight"] == GGMLQuantizationType.Q8_0


WIDE = {"hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 8, "num_attention_heads": 8}


def test_q4_k_m_is_the_mixture_of_llama_cpp(tmp_path: Path) -> None:
    """Six bits for the logits and for some values and down projections, four for the rest; all near the weights."""
    model = qwen3(**WIDE)
    reader = exported(tmp_path, model, "q4_k_m")
    types = {tensor.name: tensor.tensor_type.name for tensor in reader.tensors if len(tensor.shape) > 1}
    six = {f"blk.{layer}.{name}.weight" for layer in (0, 3, 6, 7) for name in ("attn_v", "ffn_down")}
    assert {name for name in types if types[name] == "Q6_K"} == six | {"token_embd.weight"}
    assert {types[name] for name in types.keys() - six - {"token_embd.weight"}} == {"Q4_K"}
    assert contents(reader, "general.file_type") == 15
    stored, layers = numbers(reader), model.model.layers
    for name, weight, most in (
        ("blk.1.ffn_down.weight", layers[1].mlp.down_proj.weight, 0.08),
        ("blk.0.ffn_down.weight", layers[0].mlp.down_proj.weight, 0.02),
    ):
        exact = weight.detach().numpy()
        assert 0 < np.sqrt(np.mean((stored[name] - exact) ** 2)) < most * exact.std()


def test_rows_without_whole_super_blocks_get_five_and_eight_bits(tmp_path: Path) -> None:
    reader = exported(tmp_path, qwen3(num_hidden_layers=8), "q4_k_m")
    types = {tensor.name: tensor.tensor_type.name for tensor in reader.tensors}
    assert (types["blk.1.ffn_down.weight"], types["blk.0.ffn_down.weight"]) == ("Q5_0", "Q8_0")
    assert types["token_embd.weight"] == "Q8_0"


def test_a_weight_that_is_no_number_is_refused(tmp_path: Path) -> None:
    model = qwen3(**WIDE)
    with torch.no_grad():
        model.model.layers[0].mlp.up_proj.weight[3, 4] = torch.nan
    with pytest.raises(BadInput, match="no numbers") as caught:
        exported(tmp_path, model, "q4_k_m")
    assert caught.value.where == "blk.0.ffn_up.weight"


def test_a_weight_beyond_f16_is_refused_without_a_file(tmp_path: Path) -> None:
    model = qwen3()
    with torch.no_grad():
        model.model.layers[0].mlp.up_proj.weight[3, 4] = 1e6
    with pytest.raises(BadInput, match="beyond F16") as caught:
        exported(tmp_path, model)
    assert caught.value.where == "blk.0.ffn_up.weight"
    assert list(tmp_path.iterdir()) == []


def test_the_same_model_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "other"):
        write_gguf(llama(), tokenizer_like("smollm"), tmp_path / name, "q8_0", "small")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()


def test_sizes_positions_and_marks_are_stored(tmp_path: Path) -> None:
    tokenizer, reader = tokenizer_like("qwen2"), exported(tmp_path, qwen3())
    assert contents(reader, "qwen3.attention.key_length") == 32
    assert contents(reader, "qwen3.attention.head_count_kv") == 2
    assert contents(reader, "qwen3.rope.freq_base") == 10000.0
    assert contents(reader, "tokenizer.ggml.pre") == "qwen2"
    assert contents(reader, "tokenizer.ggml.eos_token_id") == tokenizer.eos_token_id
    assert contents(reader, "tokenizer.chat_template") == CHATML
    types = contents(reader, "tokenizer.ggml.token_type")
    ids = {mark: tokenizer.convert_tokens_to_ids(mark) for mark in (*SPECIAL, *ADDED)}
    assert {types[ids[mark]] for mark in SPECIAL} == {TokenType.CONTROL}
    assert {types[ids[mark]] for mark in ADDED} == {TokenType.USER_DEFINED}
    assert types[-1] == TokenType.UNUSED, "the model has more rows than the tokenizer has tokens"


@pytest.mark.parametrize("way", PRE_TOKENIZERS)
def test_the_tokenizer_can_be_read_back(tmp_path: Path, way: str) -> None:
    before, after = tokenizer_like(way), read_tokenizer(exported(tmp_path, qwen3(), way=way))
    for text in (*ODD_TEXTS, "<|im_start|>user\nhi<|im_end|>", "<think>so</think>"):
        for special in (False, True):
            ids = before.encode(text, add_special_tokens=special)
            assert after.encode(text, add_special_tokens=special) == ids
        assert after.decode(ids) == before.decode(ids)
    messages = [{"role": "user", "content": "你好"}]
    assert after.apply_chat_template(messages) == before.apply_chat_template(messages)
    assert (after.bos_token_id, after.eos_token_id) == (before.bos_token_id, before.eos_token_id)


def test_the_default_chat_template_is_exported() -> None:
    tokenizer = tokenizer_like("qwen2")
    for templates, exported in (({"tool_use": "other", "default": CHATML}, CHATML), (None, None)):
        tokenizer.chat_template = templates
        writer = GGUFWriter(None, "qwen3")
        write_vocabulary(writer, tokenizer, exported_tokenizer(tokenizer, 1000), 1000)
        found = writer.kv_data[0].get("tokenizer.chat_template")
        assert (found and found.value) == exported


def test_an_unknown_pre_tokenizer_is_refused() -> None:
    odd = {"type": "Split", "pattern": {"Regex": r"\p{L}+"}, "behavior": "Isolated", "invert": False}
    with pytest.raises(BadInput, match="has no name for"):
        pre_tokenizer_name(odd, ignore_merges=False)
    with pytest.raises(BadInput, match="has no name for"):
        pre_tokenizer_name(None, ignore_merges=False)


def test_other_tokenizers_than_byte_level_bpe_are_refused() -> None:
    from tokenizers import Tokenizer, models
    from transformers import PreTrainedTokenizerFast

    sentence_piece = Tokenizer(models.BPE(byte_fallback=True))
    words = Tokenizer(models.WordLevel({"a": 0}, unk_token="a"))
    for raw, why in ((sentence_piece, "SentencePiece"), (words, "WordLevel")):
        with pytest.raises(BadInput, match=why):
            exported_tokenizer(PreTrainedTokenizerFast(tokenizer_object=raw), 8)


@pytest.mark.parametrize(
    ("model", "key"),
    [
        (lambda: qwen3(hidden_act="gelu"), "hidden_act"),
        (lambda: qwen3(use_sliding_window=True, sliding_window=8, max_window_layers=0), "layer_types"),
        (lambda: llama(rope_parameters={"rope_type": "dynamic", "rope_theta": 1e4, "factor": 2.0}), "rope_parameters"),
    ],
)
def test_models_that_llamacpp_computes_differently_are_refused(tmp_path: Path, model: Any, key: str) -> None:
    with pytest.raises(BadInput) as caught:
        exported(tmp_path, model())
    assert caught.value.where == f"config.json: {key}"
    assert list(tmp_path.iterdir()) == []


def test_another_family_is_refused(tmp_path: Path) -> None:
    from transformers import GPT2Config, GPT2LMHeadModel

    model = GPT2LMHeadModel(GPT2Config(vocab_size=512, n_embd=32, n_layer=1, n_head=2))
    with pytest.raises(BadInput, match="gpt2 are not exported"):
        exported(tmp_path, model)


def test_adapters_of_a_4_bit_base_are_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Merged into the base as it is stored, they are not quite the model that was measured."""
    qwen3().save_pretrained(tmp_path / "model")
    for method in ("lora", "qlora"):
        adapter = tmp_path / method
        adapter.mkdir()
        (adapter / "adapter_config.json").write_text("{}")
        seal(adapter, 1, {"config": {"finetune": {"method": method}}})
        with pytest.raises(BadInput, match="the adapters do not fit the model"):
            load_merged(tmp_path / "model", adapter)
        assert ("trained on a base of 4 bits" in caplog.text) == (method == "qlora")


def test_adapters_without_a_model_are_refused(tmp_path: Path) -> None:
    (tmp_path / "adapter_config.json").write_text("{}")
    with pytest.raises(BadInput, match="these are adapters"):
        load_merged(tmp_path, None)
    with pytest.raises(BadInput, match="no such folder"):
        policy_folders(tmp_path / "none")
    qwen3().save_pretrained(tmp_path / "model")
    with pytest.raises(BadInput, match="there is no adapter_config"):
        load_merged(tmp_path / "model", tmp_path / "model")
