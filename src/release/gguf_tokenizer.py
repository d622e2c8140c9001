"""The tokenizer of a GGUF file, there and back: byte-level BPE with its marks, its merges and its chat template."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gguf import GGUFReader, GGUFWriter, TokenType

from ..core.errors import BadInput
from .gguf_words import name_of, pre_tokenizer, way_of

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast

_KEY = "tokenizer.ggml."
_MARKS = {"bos_token": "bos", "eos_token": "eos", "unk_token": "unknown", "pad_token": "padding"}
"""Names in `transformers` and in GGUF."""


@dataclass(frozen=True)
class Vocabulary:
    """What a byte-level BPE tokenizer is made of."""

    pre: str
    tokens: list[str]
    types: list[int]
    merges: list[str]
    marks: dict[str, int]
    """By the name in GGUF: bos, eos, ..."""
    add_bos: bool
    add_eos: bool
    chat_template: str | None


def vocabulary(tokenizer: PreTrainedTokenizerBase, size: int) -> Vocabulary:
    """`size` rows has the model's embedding; those without a token get a name that no text can hold."""
    made = json.loads(_backend(tokenizer).to_str())
    model = made["model"]
    added = {entry["id"]: entry for entry in made["added_tokens"]}
    _refuse_other_kinds(made)
    by_id = {number: token for token, number in model["vocab"].items()}
    by_id |= {number: entry["content"] for number, entry in added.items()}
    if max(by_id) >= size:
        raise BadInput(
            f"the tokenizer has token {max(by_id)}, the model has {size} rows",
            where="tokenizer.json",
            remedy="use the tokenizer that belongs to the model",
        )
    marks = {ours: mark_id(tokenizer, theirs) for theirs, ours in _MARKS.items()}
    plain, dressed = (tokenizer.encode("a", add_special_tokens=special) for special in (False, True))
    return Vocabulary(
        pre=name_of(made["pre_tokenizer"], bool(model.get("ignore_merges"))),
        tokens=[by_id.get(number, f"[PAD{number}]") for number in range(size)],
        types=[_type(added.get(number), number in by_id) for number in range(size)],
        merges=[merge if isinstance(merge, str) else " ".join(merge) for merge in model["merges"]],
        marks={name: number for name, number in marks.items() if number is not None},
        add_bos=len(dressed) > len(plain) and dressed[0] == marks["bos"],
        add_eos=len(dressed) > len(plain) and dressed[-1] == marks["eos"],
        chat_template=_template(tokenizer.chat_template),
    )


def write_vocabulary(writer: GGUFWriter, found: Vocabulary) -> None:
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(found.pre)
    writer.add_token_list(found.tokens)
    writer.add_token_types(found.types)
    writer.add_token_merges(found.merges)
    for name, number in found.marks.items():
        writer.add_uint32(f"{_KEY}{name}_token_id", number)
    writer.add_add_bos_token(found.add_bos)
    writer.add_add_eos_token(found.add_eos)
    writer.add_add_space_prefix(False)
    if found.chat_template is not None:
        writer.add_chat_template(found.chat_template)


def read_tokenizer(reader: GGUFReader) -> PreTrainedTokenizerFast:
    """From the file alone, so that a file can be evaluated where its folder is not at hand."""
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerFast

    kind = _field(reader, "model")
    if kind != "gpt2":
        raise BadInput(
            f"the tokenizer is of kind {kind}",
            where=f"{_KEY}model",
            remedy="use a model with byte-level BPE (gpt2), such as Qwen3, Llama 3 or SmolLM2",
        )
    tokens: list[str] = _field(reader, "tokens")
    types: list[int] = _field(reader, "token_type")
    merges: list[str] = _field(reader, "merges")
    way = way_of(_field(reader, "pre"))
    ids = {theirs: _field(reader, f"{ours}_token_id") for theirs, ours in _MARKS.items()}
    marks = {number for number, type_ in enumerate(types) if type_ in (TokenType.CONTROL, TokenType.USER_DEFINED)}
    bos, eos = ids["bos_token"], ids["eos_token"]
    made = {
        "version": "1.0",
        "added_tokens": [_added(number, tokens[number], types[number]) for number in sorted(marks)],
        "pre_tokenizer": pre_tokenizer(way),
        "post_processor": _post_processor(
            tokens[bos] if _field(reader, "add_bos_token") and bos is not None else None,
            tokens[eos] if _field(reader, "add_eos_token") and eos is not None else None,
            {tokens[number]: number for number in (bos, eos) if number is not None},
        ),
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {
            "type": "BPE",
            "ignore_merges": way.ignore_merges,
            "vocab": {token: number for number, token in enumerate(tokens) if types[number] != TokenType.UNUSED},
            "merges": [merge.split(" ", 1) for merge in merges],
        },
    }
    tokenizer: PreTrainedTokenizerFast = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=Tokenizer.from_str(json.dumps(made)),
        clean_up_tokenization_spaces=False,
        **{name: tokens[number] for name, number in ids.items() if number is not None},
    )
    field = reader.get_field("tokenizer.chat_template")
    if field is not None:
        tokenizer.chat_template = field.contents()
    return tokenizer


def _template(found: str | Mapping[str, str] | None) -> str | None:
    """A tokenizer may have several, by name; where nobody names one it uses `default`."""
    return found if isinstance(found, str) or found is None else found.get("default")


def mark_id(tokenizer: PreTrainedTokenizerBase, name: str) -> int | None:
    token = tokenizer.special_tokens_map.get(name)
    found = None if token is None else tokenizer.convert_tokens_to_ids(str(token))
    return found if isinstance(found, int) else None


def _backend(tokenizer: PreTrainedTokenizerBase) -> Any:
    from transformers import PreTrainedTokenizerFast

    if not isinstance(tokenizer, PreTrainedTokenizerFast):
        raise _not_byte_level("it has no tokenizer.json")
    return tokenizer.backend_tokenizer


def _refuse_other_kinds(made: Mapping[str, Any]) -> None:
    model = made["model"]
    if model["type"] != "BPE":
        raise _not_byte_level(f"it is {model['type']}")
    if model.get("byte_fallback"):
        raise _not_byte_level("it falls back to bytes, as SentencePiece does")
    if made["normalizer"] not in (None, {"type": "NFC"}):
        raise _not_byte_level("it rewrites text before it is cut")


def _not_byte_level(why: str) -> BadInput:
    return BadInput(
        f"the tokenizer is no byte-level BPE: {why}",
        where="tokenizer.json",
        remedy="export a model with byte-level BPE, such as Qwen3, Llama 3, SmolLM2 or models/tiny",
    )


def _type(added: Mapping[str, Any] | None, known: bool) -> int:
    if not known:
        return int(TokenType.UNUSED)
    if added is None:
        return int(TokenType.NORMAL)
    return int(TokenType.CONTROL if added["special"] else TokenType.USER_DEFINED)


def _added(number: int, token: str, type_: int) -> dict[str, Any]:
    special = type_ == TokenType.CONTROL
    ways = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    return {"id": number, "content": token, **ways, "special": special}


def _post_processor(bos: str | None, eos: str | None, ids: Mapping[str, int]) -> dict[str, Any] | None:
    """Puts the marks around a text where the file says so."""
    if bos is None and eos is None:
        return None

    def around(sequence: str) -> list[dict[str, Any]]:
        before, after = ([{"SpecialToken": {"id": mark, "type_id": 0}}] if mark else [] for mark in (bos, eos))
        return [*before, {"Sequence": {"id": sequence, "type_id": 0}}, *after]

    used = {mark: {"id": mark, "ids": [ids[mark]], "tokens": [mark]} for mark in (bos, eos) if mark}
    pair = [*around("A"), *around("B")]
    return {"type": "TemplateProcessing", "single": around("A"), "pair": pair, "special_tokens": used}


def _field(reader: GGUFReader, name: str) -> Any:
    field = reader.get_field(_KEY + name)
    return None if field is None else field.contents()
