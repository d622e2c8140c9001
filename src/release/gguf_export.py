"""From a folder that `transformers` reads to one GGUF file that llama.cpp reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gguf import MODEL_ARCH_NAMES, GGUFWriter

from ..core.errors import BadInput
from ..core.files import atomic_write, shipped, written
from .gguf_shape import family, write_shape
from .gguf_tokenizer import vocabulary, write_vocabulary
from .gguf_weights import FILE_TYPES, Kind, tensors, write_tensors

ADAPTER = "adapter_config.json"


def load_merged(folder: Path, adapter: Path | None) -> Any:
    """The model with its adapters merged into the weights.

    They are merged in float32: in sixteen bits a small adapter is rounded away. Without one the weights stay in the
    numbers that they are stored in.
    """
    import torch
    from transformers import AutoModelForCausalLM

    if (folder / ADAPTER).exists():
        raise BadInput(
            "these are adapters, not a model",
            where=str(folder),
            remedy="name their base with --model and this folder with --adapter",
        )
    try:
        model: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32 if adapter else "auto")
    except (OSError, ValueError) as error:
        raise BadInput(
            f"no model can be read from there ({str(error).splitlines()[0]})",
            where=str(folder),
            remedy="name a folder with config.json and safetensors",
        ) from error
    if adapter is not None:
        model = _merged(model, adapter)
    return model.eval()


def _merged(model: Any, adapter: Path) -> Any:
    from peft import PeftModel

    if not (adapter / ADAPTER).exists():
        raise BadInput(f"there is no {ADAPTER}", where=str(adapter), remedy="name a folder that PEFT has saved")
    try:
        return PeftModel.from_pretrained(model, str(adapter)).merge_and_unload()
    except (RuntimeError, ValueError) as error:
        raise BadInput(
            f"the adapters do not fit the model ({str(error).splitlines()[0]})",
            where=str(adapter),
            remedy="name the base that they were trained on with --model",
        ) from error


def load_tokenizer(folder: Path) -> Any:
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(folder)
    except (OSError, ValueError) as error:
        raise BadInput(
            f"no tokenizer can be read from there ({str(error).splitlines()[0]})",
            where=str(folder),
            remedy="name a folder with tokenizer.json",
        ) from error


def write_gguf(model: Any, tokenizer: Any, out: Path, kind: Kind, name: str) -> None:
    """The same model gives the same bytes. The file appears when it is whole."""
    architecture = family(model.config)
    vocab = vocabulary(tokenizer, model.get_input_embeddings().weight.shape[0])
    found = tensors(model, kind)
    with atomic_write(out) as handle:
        writer = GGUFWriter(written(handle), MODEL_ARCH_NAMES[architecture])
        try:
            writer.add_type("model")
            writer.add_name(name)
            writer.add_file_type(FILE_TYPES[kind])
            writer.add_quantization_version(2)
            write_shape(writer, model.config)
            write_vocabulary(writer, vocab)
            write_tensors(writer, found)
        finally:
            writer.close()


def model_folder(given: Path) -> Path:
    """A folder of the user's, or `models/tiny` that came with the package."""
    folder = shipped(given)
    if not folder.is_dir():
        raise BadInput("no such folder", where=str(given), remedy="name a folder with config.json and safetensors")
    return folder
