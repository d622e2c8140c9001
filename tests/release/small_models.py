"""Models with a few thousand weights of each exported family, with a tokenizer for each way to split text.

Their random weights have a large spread, so that the likeliest token is no near tie.
"""

from __future__ import annotations

import json
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

from src.release.gguf_tokenizer import PRE_TOKENIZERS
from tests.agents.small_tokenizer import SENTENCES

CHATML = (
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
SPECIAL = ("<|im_start|>", "<|im_end|>", "<|begin|>")
ADDED = ("<think>", "</think>")


def tokenizer_like(way: str) -> PreTrainedTokenizerFast:
    """A tokenizer that splits text as llama.cpp does under that name; llama-bpe also puts a mark before every text."""
    raw = Tokenizer(models.BPE(ignore_merges=PRE_TOKENIZERS[way].ignore_merges))
    # The library has no pre-tokenizer from JSON alone.
    whole = json.loads(raw.to_str()) | {
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": list(PRE_TOKENIZERS[way].rules)}
    }
    if way == "llama-bpe":
        around = [{"SpecialToken": {"id": "<|begin|>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]
        mark = {"<|begin|>": {"id": "<|begin|>", "ids": [2], "tokens": ["<|begin|>"]}}
        whole["post_processor"] = {
            "type": "TemplateProcessing", "single": around, "pair": around, "special_tokens": mark,
        }  # fmt: skip
    raw = Tokenizer.from_str(json.dumps(whole))
    raw.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=420,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=list(SPECIAL),
        show_progress=False,
    )
    raw.train_from_iterator(SENTENCES * 3, trainer)
    made = PreTrainedTokenizerFast(tokenizer_object=raw, bos_token="<|begin|>", eos_token="<|im_end|>")
    made.add_tokens(list(ADDED))
    made.chat_template = CHATML
    return made


def qwen3(rows: int = 512, **more: Any) -> Any:
    """A Qwen3 model with wide heads, norms on queries and keys, and tied embeddings."""
    shape = {"hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4}
    wanted: dict[str, Any] = {**shape, "num_key_value_heads": 2, "head_dim": 32, "tie_word_embeddings": True, **more}
    return _drawn(Qwen3ForCausalLM, Qwen3Config(vocab_size=rows, max_position_embeddings=512, **wanted))


def llama(rows: int = 512, **more: Any) -> Any:
    """A Llama model with untied embeddings, biases, and the frequencies of Llama 3."""
    rope = {
        "rope_type": "llama3", "rope_theta": 10000.0, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 64,
    }  # fmt: skip
    shape = {"hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4}
    wanted: dict[str, Any] = {
        **shape, "num_key_value_heads": 2, "tie_word_embeddings": False, "attention_bias": True,
        "rope_parameters": rope, **more,
    }  # fmt: skip
    return _drawn(LlamaForCausalLM, LlamaConfig(vocab_size=rows, max_position_embeddings=512, **wanted))


def _drawn(kind: Any, config: Any) -> Any:
    model = kind(config).eval()
    generator = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            noise = torch.randn(weight.shape, generator=generator)
            weight.copy_(1 + 0.3 * noise if "norm" in name else 0.2 * noise)
    return model
