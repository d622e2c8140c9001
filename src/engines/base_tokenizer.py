"""The tokenizer of the embedded base: byte-level BPE with single digits, which llama.cpp can read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

from ..agents.render import END, MARKS, PAD
from ..core.types import Sample

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

WORD = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
"""Qwen2's way to cut text: every digit stands alone, and llama.cpp knows it by the name `qwen2`."""


def make_tokenizer(samples: Iterable[Sample], vocab: int) -> PreTrainedTokenizerFast:
    """Every mark of the tag layout is one token."""
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
    raw.train_from_iterator(_texts(samples), trainer)
    return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=raw, pad_token=PAD, eos_token=END, clean_up_tokenization_spaces=False
    )


def _texts(samples: Iterable[Sample]) -> Iterable[str]:
    for sample in samples:
        yield sample.prompt
        for turn in sample.dialogue[1:]:
            yield turn.text
        for article in sample.context:
            yield article.text
