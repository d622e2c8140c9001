"""SmolLM2 from the judge's GGUF to PyTorch and back to GGUF, compared. Takes minutes on two cores."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import torch
from gguf import GGUFReader

from src.agents.render import renderer_for
from src.core.errors import BadInput
from src.release.gguf_check import (
    SAME,
    agreement,
    check_samples,
    other_tokens,
    texts_of,
    wide_gaps,
)
from src.release.gguf_export import write_gguf
from src.release.gguf_tokenizer import read_tokenizer
from src.release.llamacpp import open_gguf
from src.scoring.local_judge import cache_folder, judge_weights

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def smollm2() -> tuple[Any, Any]:
    from transformers import AutoModelForCausalLM

    try:
        path = judge_weights(None, cache_folder(os.environ), lambda text: None)
    except BadInput as error:
        pytest.skip(f"the local judge cannot be fetched here: {error}")
    model: Any = AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=torch.float32)
    return model.eval(), read_tokenizer(GGUFReader(path))


@pytest.mark.parametrize("kind", ["f16", "q8_0"])
def test_the_exported_file_says_what_pytorch_says(tmp_path: Path, smollm2: tuple[Any, Any], kind: Any) -> None:
    model, tokenizer = smollm2
    path = tmp_path / "smollm2.gguf"
    write_gguf(model, tokenizer, path, kind, "smollm2")
    samples = check_samples()
    renderer = renderer_for(tokenizer)
    prompts = [renderer.opening(sample.prompt, None) for sample in samples]
    with open_gguf(path, 1024, tmp_path / "server.log") as llama:
        assert other_tokens(llama, tokenizer, list(texts_of(samples))) == []
        found = agreement(llama, model, prompts)
    assert found.prompts == 50
    assert found.tokens > 1000
    assert found.same_share >= SAME["q8_0"]
    if kind == "f16":
        assert wide_gaps(found) == []
