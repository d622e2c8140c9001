"""Converts a byte-level BPE tokenizer to GGUF and back, with special tokens, merges and chat template.

A GGUF file does not have the rules by which text is split into words before BPE. It has a name, and llama.cpp has the
rules of that name. A wrong name gives other tokens for the same text and no error, so a tokenizer is exported only if
its rules are literally those of a name in PRE_TOKENIZERS.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from gguf import GGUFReader, GGUFWriter, TokenType
from msgspec import Struct

from ..core.errors import BadInput

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast

Rule = dict[str, Any]
"""One step of a pre-tokenizer, as in `tokenizer.json`."""


class PreTokenizer(Struct, frozen=True):
    """Rules that split text into words before BPE."""

    rules: list[Rule]
    ignore_merges: bool
    """Whether a word that is a token itself is taken whole, without merges."""


PRE_TOKENIZERS = msgspec.json.decode(
    Path(__file__).with_name("pre_tokenizers.json").read_bytes(), type=dict[str, PreTokenizer]
)
"""Pre-tokenizers by their name in llama.cpp (`tokenizer.ggml.pre`)."""
_KEY = "tokenizer.ggml."
_SPECIAL = {"bos_token": "bos", "eos_token": "eos", "unk_token": "unknown", "pad_token": "padding"}
"""Special tokens: name in `transformers`, name in GGUF."""


def exported_tokenizer(tokenizer: PreTrainedTokenizerBase, size: int) -> dict[str, Any]:
    """Content of tokenizer.json. Refuses a tokenizer that llama.cpp cannot express, or with more than `size` tokens."""
    made = _tokenizer_json(tokenizer)
    largest = max([*made["model"]["vocab"].values(), *(entry["id"] for entry in made["added_tokens"])])
    if largest >= size:
        what = f"the tokenizer has token {largest}, the model has {size} rows"
        raise BadInput(what, where="tokenizer.json", remedy="use the tokenizer that belongs to the model")
    _pre_tokenizer(made)  # raises if llama.cpp has no name for its rules
    return made


def _pre_tokenizer(made: Mapping[str, Any]) -> str:
    return pre_tokenizer_name(made["pre_tokenizer"], bool(made["model"].get("ignore_merges")))


def write_vocabulary(
    writer: GGUFWriter, tokenizer: PreTrainedTokenizerBase, made: Mapping[str, Any], size: int
) -> None:
    """Writes the vocabulary of `exported_tokenizer`. Rows without a token get a name that occurs in no text."""
    model = made["model"]
    added = {entry["id"]: entry for entry in made["added_tokens"]}
    by_id = {number: token for token, number in model["vocab"].items()}
    by_id |= {number: entry["content"] for number, entry in added.items()}
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(_pre_tokenizer(made))
    writer.add_token_list([by_id.get(number, f"[PAD{number}]") for number in range(size)])
    writer.add_token_types([_type(added.get(number), number in by_id) for number in range(size)])
    writer.add_token_merges([merge if isinstance(merge, str) else " ".join(merge) for merge in model["merges"]])
    special = {ours: getattr(tokenizer, f"{theirs}_id") for theirs, ours in _SPECIAL.items()}
    for name, number in special.items():
        if number is not None:
            writer.add_uint32(f"{_KEY}{name}_token_id", number)
    plain, marked = (tokenizer.encode("a", add_special_tokens=special_too) for special_too in (False, True))
    writer.add_add_bos_token(len(marked) > len(plain) and marked[0] == special["bos"])
    writer.add_add_eos_token(len(marked) > len(plain) and marked[-1] == special["eos"])
    writer.add_add_space_prefix(False)
    template = tokenizer.chat_template  # a tokenizer may have several by name
    template = template if isinstance(template, str) or template is None else template.get("default")
    if template is not None:
        writer.add_chat_template(template)


def open_reader(path: Path) -> GGUFReader:
    try:
        return GGUFReader(path)
    except (ValueError, IndexError, UnicodeDecodeError) as error:
        raise BadInput(f"is damaged ({error})", where=str(path), remedy="export the model again") from error


def read_tokenizer(reader: GGUFReader) -> PreTrainedTokenizerFast:
    """The tokenizer of a GGUF file, from that file alone: the model's folder is not needed."""
    from tokenizers import Tokenizer
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast

    kind = _field(reader, "model")
    if kind != "gpt2":
        remedy = "use a model with byte-level BPE (gpt2), such as Qwen3, Llama 3 or SmolLM2"
        raise BadInput(f"the tokenizer is of kind {kind}", where=f"{_KEY}model", remedy=remedy)
    tokens, types, merges = (_field(reader, name) for name in ("tokens", "token_type", "merges"))
    splitting = PRE_TOKENIZERS.get(_field(reader, "pre"))
    if splitting is None:
        what = f"text is split by the rules {_field(reader, 'pre')!r}, which are not known here"
        raise BadInput(what, where=f"{_KEY}pre", remedy=f"use a file with one of these: {', '.join(PRE_TOKENIZERS)}")
    ids = {theirs: _field(reader, f"{ours}_token_id") for theirs, ours in _SPECIAL.items()}
    ways = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    added = [
        {"id": number, "content": tokens[number], **ways, "special": type_ == TokenType.CONTROL}
        for number, type_ in enumerate(types)
        if type_ in (TokenType.CONTROL, TokenType.USER_DEFINED)
    ]
    made = {
        "version": "1.0",
        "added_tokens": added,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": splitting.rules},
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {
            "type": "BPE",
            "ignore_merges": splitting.ignore_merges,
            "vocab": {token: number for number, token in enumerate(tokens) if types[number] != TokenType.UNUSED},
            "merges": [merge.split(" ", 1) for merge in merges],
        },
    }
    built = Tokenizer.from_str(json.dumps(made))
    around = [ids[f"{name}_token"] if _field(reader, f"add_{name}_token") else None for name in ("bos", "eos")]
    bos, eos = ([] if number is None else [tokens[number]] for number in around)
    if bos or eos:
        single, pair = [*bos, "$A", *eos], [*bos, "$A", *eos, *bos, "$B", *eos]
        used = [(tokens[number], number) for number in around if number is not None]
        built.post_processor = TemplateProcessing(single=single, pair=pair, special_tokens=used)
    tokenizer: PreTrainedTokenizerFast = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=built,
        clean_up_tokenization_spaces=False,
        **{name: tokens[number] for name, number in ids.items() if number is not None},
    )
    field = reader.get_field("tokenizer.chat_template")
    if field is not None:
        tokenizer.chat_template = field.contents()
    return tokenizer


def _tokenizer_json(tokenizer: PreTrainedTokenizerBase) -> dict[str, Any]:
    """Contents of tokenizer.json. Refuses anything but byte-level BPE."""
    from transformers import PreTrainedTokenizerFast

    if not isinstance(tokenizer, PreTrainedTokenizerFast):
        raise _not_byte_level("it has no tokenizer.json")
    made: dict[str, Any] = json.loads(tokenizer.backend_tokenizer.to_str())
    model = made["model"]
    if model["type"] != "BPE":
        raise _not_byte_level(f"it is {model['type']}")
    if model.get("byte_fallback"):
        raise _not_byte_level("it falls back to bytes, as SentencePiece does")
    if made["normalizer"] not in (None, {"type": "NFC"}):
        raise _not_byte_level("it rewrites text before splitting it")
    return made


def _not_byte_level(why: str) -> BadInput:
    remedy = "export a model with byte-level BPE, such as Qwen3, Llama 3, SmolLM2 or models/tiny"
    return BadInput(f"the tokenizer is not byte-level BPE: {why}", where="tokenizer.json", remedy=remedy)


def _type(added: Mapping[str, Any] | None, known: bool) -> int:
    if not known:
        return int(TokenType.UNUSED)
    if added is None:
        return int(TokenType.NORMAL)
    return int(TokenType.CONTROL if added["special"] else TokenType.USER_DEFINED)


def _field(reader: GGUFReader, name: str) -> Any:
    field = reader.get_field(_KEY + name)
    return None if field is None else field.contents()


def pre_tokenizer_name(pre_tokenizer: Rule | None, ignore_merges: bool) -> str:
    """The name that llama.cpp has for the rules of a tokenizer."""
    rule: Rule = pre_tokenizer or {"type": "Sequence", "pretokenizers": []}
    found = _without_offsets(rule["pretokenizers"] if rule["type"] == "Sequence" else [rule])
    for name, known in PRE_TOKENIZERS.items():
        if known.ignore_merges == ignore_merges and found == _without_offsets(known.rules):
            return name
    what = "the tokenizer splits text by rules that llama.cpp has no name for, as far as this exporter knows"
    remedy = f"use a model that splits text like one of these: {', '.join(PRE_TOKENIZERS)}"
    raise BadInput(what, where="tokenizer.json: pre_tokenizer", remedy=remedy)


def _without_offsets(rules: Sequence[Rule]) -> list[Rule]:
    """The rules without `trim_offsets`, which changes no token."""
    return [{key: value for key, value in rule.items() if key != "trim_offsets"} for rule in rules]
