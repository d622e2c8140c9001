"""Exports a model to GGUF and checks the file against PyTorch (`askgate export-gguf`).

The check has two parts: the same text gives the same tokens, and the same tokens give the same most likely next token.
llama.cpp continues a prompt greedily; PyTorch then reads prompt and continuation in one pass and gives its own choice
at every position. The two agree everywhere exactly if both would have written the same continuation. Where they differ,
the gap is the difference of PyTorch's logits of the two tokens: a near tie is rounding, a wide gap is another model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import torch
from msgspec import Struct

from askgate_env.types import Sample

from ..agents.native import action_format, make_renderer, saved_functions
from ..core.check import Check, Report, check, evidence, now, remedies, report
from ..core.defaults import SEED
from ..core.errors import BadInput
from ..core.files import refuse_overlap, write_json
from ..core.model_files import model_sha256
from ..data.pool.build import builtin_samples
from ..runtime.progress import Tell
from .gguf_export import Kind, load_merged, load_tokenizer, policy_folders, write_gguf
from .llamacpp import LlamaCpp, open_gguf

PROMPTS = 50
NEW_TOKENS = 32
"""Maximum length of a continuation; a turn of a policy is shorter."""
ODD_TEXTS = (
    "", " ", "  \n\n\t x", "a  b   c\n\n  d\r\n", "1234567890", "3.14159, 1,000,000 and 12/03/2024; 50%-60%",
    "don't I'LL we've You'Re 'tis O'Neil's", "café naïve Ωμέγα Привет שלום مرحبا नमस्ते ภาษาไทย",
    "您说的是哪一位？那位画家出生于1899年，卒于1953年。", "第3题：（a）“多少钱”——￥12.50！",
    "한국어 テスト ｶﾀｶﾅ １２３", "👩‍👩‍👧 🙂🏽 ∑∫√ ½ ² ⅷ ①", "f(x)=x**2; // a_b-c{d}[e]<f>&amp;",
    "http://a.b/c?d=e#f", "\u00a0\u3000\u200b\ufeff end", "e\u0301 versus \u00e9", "ALLCAPS camelCase snake_case",
    "-1e-5 +7 ~8 ^9", "<ask>what?</ask> <think>x</think> <|end|>",
)  # fmt: skip
"""Blanks, digits, punctuation and scripts: texts that pre-tokenizers split differently."""
SAME: dict[Kind, float] = {"f16": 1.0, "q8_0": 0.98, "q4_k_m": 0.90}
"""Share of positions at which llama.cpp must choose the same token as PyTorch."""
TOO_FEW_BITS = {"q8_0": "eight_bits_too_few", "q4_k_m": "four_bits_too_few"}
NEAR_TIE = 0.02
"""Gap in logits. F16 rounds a weight by up to 1 in 2,048, so two tokens that are this close may swap. Such a position
is reported, but does not count against F16."""
_SHOWN = 20


class Difference(Struct, frozen=True):
    """A position at which PyTorch and llama.cpp chose different tokens."""

    prompt: int
    place: int
    pytorch: int
    llamacpp: int
    gap: float
    """PyTorch's logit of its own token, less that of llama.cpp's token."""


class Agreement(Struct, frozen=True):
    """Agreement of llama.cpp and PyTorch over all prompts."""

    prompts: int
    prompts_same: int
    tokens: int
    same: int
    same_share: float
    """Share of positions with the same choice after the same tokens."""
    until_first_share: float
    """Share of tokens before the first difference of their continuation."""
    differences: list[Difference]


def export_gguf(
    model: Path, out: Path, kind: Kind, adapter: Path | None, tell: Tell, progress: Callable[[int], None]
) -> tuple[Report, Path]:
    """Writes the GGUF file, and its report beside it. A file that fails its check is kept as `NAME.failed.gguf`; then
    an earlier file at `out` stays as it is, with its report."""
    started = now()
    folder, adapter = policy_folders(model, adapter)
    refuse_overlap({"--out": out, "the report": _report_file(out)}, {})
    network, tokenizer = load_merged(folder, adapter), load_tokenizer(folder)
    unchecked = out.with_suffix(".unchecked.gguf")
    tell(f"writing {out}")
    functions = saved_functions(adapter or folder)
    try:
        write_gguf(network, tokenizer, unchecked, kind, folder.name, functions)
        tell(f"comparing it with PyTorch on {PROMPTS} prompts")
        samples = check_samples()
        renderer = make_renderer(tokenizer, frozenset(), *action_format(functions))
        prompts = [renderer.opening(sample.prompt, None) for sample in samples]
        texts = list(texts_of(samples))
        with open_gguf(unchecked, max(map(len, prompts)) + NEW_TOKENS + 1) as llama:
            others = other_tokens(llama, tokenizer, texts)
            agreed = agreement(llama, network.float(), prompts, progress)
        checks = [
            check("tokenizer_same", 1 - len(others) / len(texts), ">=", 1.0, *remedies("release")["not_the_model"]),
            _greedy_check(agreed, kind),
        ]
        made = unchecked.rename(out if all(one.passed for one in checks) else out.with_suffix(".failed.gguf"))
    finally:
        unchecked.unlink(missing_ok=True)  # after an error
    arguments: dict[str, Any] = {
        "model": str(model),
        "model_sha256": model_sha256(folder),
        "type": kind,
        **({"adapter": str(adapter), "adapter_sha256": model_sha256(adapter)} if adapter else {}),
    }
    figures = {
        "texts": len(texts),
        "other_tokens": others[:_SHOWN],
        "near_ties": len(agreed.differences) - len(wide_gaps(agreed)),
        **msgspec.to_builtins(agreed),
    }
    whole = report("export_gguf", checks, figures, evidence([], [made], arguments, started))
    write_json(_report_file(made), whole)
    return whole, _report_file(made)


def _report_file(gguf: Path) -> Path:
    return gguf.with_name(f"{gguf.name}.json")


def wide_gaps(found: Agreement) -> list[float]:
    """Gaps of the differences that are no near ties."""
    return [one.gap for one in found.differences if one.gap > NEAR_TIE]


def _greedy_check(found: Agreement, kind: Kind) -> Check:
    if kind == "f16":
        share, remedy = 1 - len(wide_gaps(found)) / found.tokens, "not_the_model"
    else:
        share, remedy = found.same_share, TOO_FEW_BITS[kind]
    return check(f"greedy_same[{kind}]", share, ">=", SAME[kind], *remedies("release")[remedy])


def check_samples(n: int = PROMPTS) -> list[Sample]:
    """Samples of the built-in worlds in both languages, always the same."""
    return builtin_samples(n, SEED, split="shadow")


def other_tokens(llama: LlamaCpp, tokenizer: Any, texts: Sequence[str]) -> list[str]:
    """Texts that llama.cpp tokenizes differently from the model's tokenizer."""
    return [text for text in texts if llama.tokenize(text) != tokenizer.encode(text, add_special_tokens=False)]


def texts_of(samples: Sequence[Sample]) -> Iterator[str]:
    yield from ODD_TEXTS
    for sample in samples:
        yield from (turn.text for turn in sample.dialogue)
        yield from (article.text for article in sample.context)


def agreement(
    llama: LlamaCpp, model: Any, prompts: Sequence[Sequence[int]], progress: Callable[[int], None] = lambda done: None
) -> Agreement:
    """Compares llama.cpp with `model`, which should be float32 if it fits into memory."""
    found: list[Difference] = []
    tokens = 0
    first: list[int] = []
    for number, prompt in enumerate(prompts):
        continuation = llama.complete(prompt, NEW_TOKENS, None)
        differences = _differences(model, number, list(prompt), continuation)
        found += differences
        tokens += len(continuation)
        first.append(differences[0].place if differences else len(continuation))
        progress(1)
    if not tokens:
        raise BadInput("there was nothing to compare", where="prompts", remedy="give at least one prompt")
    same = tokens - len(found)
    prompts_same = len(prompts) - len({one.prompt for one in found})
    return Agreement(len(prompts), prompts_same, tokens, same, same / tokens, sum(first) / tokens, found)


def _differences(model: Any, number: int, prompt: list[int], continuation: list[int]) -> list[Difference]:
    """Positions of a continuation by llama.cpp at which PyTorch would have chosen another token."""
    with torch.inference_mode():
        tokens = torch.tensor([prompt + continuation], device=model.device)
        # The logits at position t predict token t + 1.
        logits_TV = model(tokens, logits_to_keep=len(continuation) + 1).logits[0, :-1].float()
    likeliest = logits_TV.argmax(-1).tolist()
    return [
        Difference(number, place, ours, theirs, float(logits_TV[place, ours] - logits_TV[place, theirs]))
        for place, (ours, theirs) in enumerate(zip(likeliest, continuation, strict=True))
        if ours != theirs
    ]
