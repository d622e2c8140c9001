"""The policy, its frozen base and its critic: which weights there are, where they lie and which of them learn.

Weights that learn are kept in float32 whatever is computed in, because an update of 1e-5 is lost in sixteen bits.
Frozen weights lie in the dtype of the arithmetic.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor, nn

from ..core.errors import BadInput
from .job import Finetune

Frozen = Callable[[], AbstractContextManager[nn.Module]]
"""Opens the frozen base: `with frozen() as model: ...`."""


class Critic(nn.Module):
    """The value of a state, read off the last hidden layer of the policy. It begins at 0 for every state.

    Always in float32: returns differ by less than sixteen bits can tell.
    """

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.read = nn.Linear(width, hidden)
        self.value = nn.Linear(hidden, 1)
        nn.init.zeros_(self.value.weight)
        nn.init.zeros_(self.value.bias)

    def forward(self, hidden_NH: Tensor) -> Tensor:
        with torch.autocast(hidden_NH.device.type, enabled=False):
            return cast(Tensor, self.value(torch.tanh(self.read(hidden_NH.float()))).squeeze(-1))


def load_policy(name: str, finetune: Finetune, device: torch.device, dtype: torch.dtype) -> Any:
    """A causal language model from a folder or the hub, ready to learn. Drop-out stays off: what was sampled is what is
    trained."""
    model = _load(name, torch.float32 if finetune.method == "full" else dtype, device, finetune.method == "qlora")
    if finetune.method != "full":
        model = _with_adapters(model, finetune)
    return model.eval()


def frozen_base(policy: Any, dtype: torch.dtype) -> Frozen:
    """The policy as it is now, free of charge where it learns in adapters; otherwise a copy."""
    if _adapted(policy):

        @contextmanager
        def without_adapters() -> Iterator[nn.Module]:
            with policy.disable_adapter():
                yield policy

        return without_adapters
    twin = copy.deepcopy(policy).to(dtype).requires_grad_(False)

    @contextmanager
    def the_copy() -> Iterator[nn.Module]:
        yield twin

    return the_copy


def save_policy(policy: Any, name: str, folder: Path) -> None:
    """Weights (the adapters alone where there are any), config and tokenizer, as `transformers` reads them."""
    from transformers import AutoTokenizer

    if _adapted(policy):
        policy.save_pretrained(folder, save_embedding_layers=False)
    else:
        policy.save_pretrained(folder)
    AutoTokenizer.from_pretrained(name).save_pretrained(folder)


def _adapted(policy: Any) -> bool:
    try:
        from peft import PeftModel
    except ImportError:
        return False
    return isinstance(policy, PeftModel)


def _load(name: str, dtype: torch.dtype, device: torch.device, four_bits: bool) -> Any:
    from transformers import AutoModelForCausalLM

    extra: dict[str, Any] = {}
    if four_bits:
        extra = {"quantization_config": _four_bits(device, dtype), "device_map": {"": device}}
    try:
        model: Any = AutoModelForCausalLM.from_pretrained(name, dtype=dtype, **extra)
    except (OSError, ValueError) as error:
        raise BadInput(
            f"no model can be read from there ({str(error).splitlines()[0]})",
            where=name,
            remedy="name a folder with config.json and safetensors, or a model of the hub that this machine can reach",
        ) from error
    return model if four_bits else model.to(device)


def _four_bits(device: torch.device, dtype: torch.dtype) -> Any:
    if device.type != "cuda":
        raise BadInput(
            f"4-bit weights need CUDA, this run is on {device.type}",
            where="finetune.method",
            remedy="set finetune.method: lora, or run on a machine with CUDA",
        )
    if find_spec("bitsandbytes") is None:
        raise BadInput(
            "4-bit weights need bitsandbytes, which is not installed",
            where="finetune.method",
            remedy="pip install 'askgate[gpu]', or set finetune.method: lora",
        )
    import transformers

    config: Any = transformers.BitsAndBytesConfig
    return config(
        load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_use_double_quant=True, bnb_4bit_compute_dtype=dtype
    )


def _with_adapters(model: Any, finetune: Finetune) -> Any:
    try:
        from peft import LoraConfig, get_peft_model
    except ImportError as error:
        raise BadInput(
            "adapters need peft, which is not installed",
            where="finetune.method",
            remedy="pip install peft, or set finetune.method: full",
        ) from error
    names = {name.rsplit(".", 1)[-1] for name, _ in model.named_modules()}
    missing = [target for target in finetune.targets if target not in names]
    if missing:
        raise BadInput(
            f"the model has no module {', '.join(missing)}",
            where="finetune.targets",
            remedy=f"choose from {', '.join(sorted(n for n in names if n.endswith('proj')))}",
        )
    adapters = LoraConfig(
        r=finetune.rank, lora_alpha=cast(int, finetune.alpha), target_modules=[*finetune.targets], task_type="CAUSAL_LM"
    )
    return get_peft_model(model, adapters)
