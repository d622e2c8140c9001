"""`askgate export_gguf`: the file, and beside it what it was made from and how it compares with PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from ..core.check import Check, Report, check, evidence, now, report
from ..core.files import refuse_overlap, write_json
from ..core.model_files import model_sha256
from .gguf_check import (
    NEW_TOKENS,
    PROMPTS,
    Agreement,
    agreement,
    check_samples,
    openings,
    other_tokens,
    renderer_for,
    texts_of,
)
from .gguf_export import load_merged, load_tokenizer, model_folder, write_gguf
from .gguf_weights import Kind
from .llamacpp import LOG, opened

SAME: dict[Kind, float] = {"f16": 1.0, "q8_0": 0.98}
"""Share of places at which llama.cpp must say what PyTorch says."""
NEAR_TIE = 0.02
"""Logits. F16 rounds a weight by up to 1 in 2,048, so two tokens that PyTorch holds for as likely as that may change
places; such a place is reported and does not count against F16."""
_SHOWN = 20
_REMEDY = (
    "the file is not the model: do not use it; compare the versions of gguf, xllamacpp and transformers with "
    "constraints.txt and report the model's config.json",
    "该文件与原模型不一致，请勿使用；请对照 constraints.txt 检查 gguf、xllamacpp、transformers 的版本，"
    "并反馈模型的 config.json",
)
_REMEDY_Q8 = (
    "eight bits are too few for this model: export with --type f16",
    "该模型用 8 位量化损失过大：请用 --type f16 导出",
)


def export_gguf(
    model: Path,
    out: Path,
    kind: Kind,
    adapter: Path | None,
    tell: Callable[[str], None],
    progress: Callable[[int], None],
    log: Path = LOG,
) -> tuple[Report, Path]:
    """The report, and where it lies. A file that failed its check stays, with a report that says so."""
    started = now()
    folder = model_folder(model)
    path = report_path(out)
    refuse_overlap({"--out": out, "the report": path}, {})
    network, tokenizer = load_merged(folder, adapter), load_tokenizer(folder)
    tell(f"writing {out}")
    write_gguf(network, tokenizer, out, kind, folder.name)
    tell(f"comparing it with PyTorch on {PROMPTS} prompts")
    samples = check_samples()
    prompts = openings(renderer_for(tokenizer), samples)
    texts = list(texts_of(samples))
    with opened(out, max(map(len, prompts)) + NEW_TOKENS + 1, log) as llama:
        others = other_tokens(llama, tokenizer, texts)
        found = agreement(llama, network.float(), prompts, progress)
    checks = [
        check("tokenizer_same", 1 - len(others) / len(texts), ">=", 1.0, *_REMEDY),
        _greedy_check(found, kind),
    ]
    arguments: dict[str, Any] = {
        "model": str(model),
        "model_sha256": model_sha256(folder),
        "type": kind,
        **({"adapter": str(adapter), "adapter_sha256": model_sha256(adapter)} if adapter else {}),
    }
    figures = {
        "texts": len(texts),
        "other_tokens": others[:_SHOWN],
        "near_ties": len(found.differences) - len(wide(found)),
        **msgspec.to_builtins(found),
    }
    whole = report("export_gguf", checks, figures, evidence([], [out], arguments, started))
    write_json(path, whole)
    return whole, path


def wide(found: Agreement) -> list[float]:
    """Gaps of the differences that are no near ties."""
    return [one.gap for one in found.differences if one.gap > NEAR_TIE]


def _greedy_check(found: Agreement, kind: Kind) -> Check:
    if kind == "f16":
        share = 1 - len(wide(found)) / found.tokens
        return check("greedy_same[f16]", share, ">=", SAME[kind], *_REMEDY)
    return check("greedy_same[q8_0]", found.same_share, ">=", SAME[kind], *_REMEDY_Q8)


def report_path(out: Path) -> Path:
    """`policy.gguf` -> `policy.gguf.json`: it travels with the file."""
    return out.with_name(f"{out.name}.json")
