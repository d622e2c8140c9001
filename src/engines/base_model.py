"""`models/tiny`: the embedded base policy, made from scratch by ordinary SFT on built-in demonstrations.

Its demonstrations come from worlds of their own (another seed than any pool's), so no sample that it is later trained or
judged on was ever shown to it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

from ..agents.render import MARKS
from ..core.types import Sample

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerFast

WORD = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""Qwen2's way to cut text: every digit stands alone, and llama.cpp knows it by the name `qwen2`."""
PAD, END = "<|pad|>", "<|end|>"


@dataclass(frozen=True)
class Shape:
    """The size of the network. At most 6M parameters: two cores must roll it out."""

    vocab: int = 4096
    width: int = 192
    layers: int = 5
    heads: int = 6
    kv_heads: int = 2
    head_width: int = 32
    inner: int = 512
    positions: int = 1024


def make_tokenizer(texts: Iterable[str], vocab: int) -> PreTrainedTokenizerFast:
    """Byte-level BPE with single digits; every mark of the tag layout is one token."""
    from transformers import PreTrainedTokenizerFast

    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(WORD), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    raw.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab,
        special_tokens=list(MARKS),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    raw.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=raw, pad_token=PAD, eos_token=END, clean_up_tokenization_spaces=False
    )


def texts_of(samples: Iterable[Sample]) -> Iterable[str]:
    for sample in samples:
        yield sample.prompt
        for turn in sample.dialogue[1:]:
            yield turn.text
        for article in sample.context:
            yield article.text


def make_network(shape: Shape, tokenizer: PreTrainedTokenizerFast, seed: int) -> PreTrainedModel:
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM

    config = Qwen3Config(
        vocab_size=shape.vocab,
        hidden_size=shape.width,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.kv_heads,
        head_dim=shape.head_width,
        intermediate_size=shape.inner,
        max_position_embeddings=shape.positions,
        tie_word_embeddings=True,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=None,
    )
    torch.manual_seed(seed)
    return Qwen3ForCausalLM(config)


def save_policy(model: PreTrainedModel, tokenizer: Any, folder: Path) -> None:
    """Weights as safetensors in the precision they have, and the tokenizer beside them."""
    model.save_pretrained(folder, safe_serialization=True)
    tokenizer.save_pretrained(folder)
