"""A byte-level tokenizer with a few hundred tokens and given marks, built in memory."""

from __future__ import annotations

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

SENTENCES = (
    "Which Vera Lindqvist do you mean? The chemist was born in Oslo in 1899 and the painter in Lund.",
    "How many bottles does a crate hold? Six times seven is forty-two. I look at the user and the assistant.",
    "您说的是哪一位？那位画家出生于1899年。多少钱一张？",
)


def small_tokenizer(
    special: tuple[str, ...], added: tuple[str, ...] = (), bos: str | None = None, eos: str | None = None
) -> PreTrainedTokenizerFast:
    """`special` marks become special tokens; `added` marks become single ordinary tokens, like `<think>` in Qwen3."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=420,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=list(special),
        show_progress=False,
    )
    tokenizer.train_from_iterator(SENTENCES, trainer)
    made = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token=bos, eos_token=eos)
    made.add_tokens(list(added))
    return made
