"""The policy, the frozen reference and the critic: how they are loaded, which weights are trained, how they are saved.

Trained weights are kept in float32 whatever the arithmetic is in, because an update of 1e-5 is lost in 16 bits. Frozen
weights are kept in the dtype of the arithmetic.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import msgspec
import torch
import transformers
from safetensors import SafetensorError
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from ..config.train_config import FinetuneSection
from ..core.errors import BadInput
from ..core.files import json_bytes
from ..core.model_files import find_model, read_once, require_weights
from ..rollout.attention import PeftWrapper, SegmentPlan, unwrap
from ..rollout.cuda import REPRODUCIBLE

Frozen = Callable[[], AbstractContextManager[nn.Module]]
"""Gives access to a frozen model, such as the reference: `with frozen() as model: ...`."""
CRITIC_HIDDEN = 128


class Critic(nn.Module):
    """A small head that predicts the return from the policy's last hidden state. Its first prediction is 0 everywhere.

    Always in float32: 16 bits are too coarse for the differences between returns.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.read = nn.Linear(width, CRITIC_HIDDEN)
        self.value = nn.Linear(CRITIC_HIDDEN, 1)
        nn.init.zeros_(self.value.weight)
        nn.init.zeros_(self.value.bias)

    def forward(self, hidden_NH: Tensor) -> Tensor:
        with torch.autocast(hidden_NH.device.type, enabled=False):
            return cast(Tensor, self.value(torch.tanh(self.read(hidden_NH.float()))).squeeze(-1))


def load_policy(
    name: str, finetune: FinetuneSection, lora_targets: tuple[str, ...], device: torch.device, dtype: torch.dtype
) -> Any:
    """A causal language model from a folder or the hub, ready for training. Dropout is off, in training as in rollouts.

    `lora_targets` names the modules that get an adapter when `finetune.method` is `lora` or `qlora`.
    """
    model = _load(name, torch.float32 if finetune.method == "full" else dtype, device, finetune.method == "qlora")
    if finetune.method != "full":
        model = with_adapters(model, finetune, lora_targets)
    return model.eval()


def load_trained(folder: Path, base: str, finetune: FinetuneSection, device: torch.device, dtype: torch.dtype) -> Any:
    """A policy that `save_policy` wrote: a whole model, or adapters, which are put on their base."""
    adapted = (folder / "adapter_config.json").exists()
    weights_dtype = torch.float32 if finetune.method == "full" else dtype
    model = _load(base if adapted else str(folder), weights_dtype, device, finetune.method == "qlora")
    if adapted:
        from peft import PeftModel

        with read_once(folder) as files:
            model = PeftModel.from_pretrained(model, str(files))
    return model.eval()


def frozen_base(policy: Any, dtype: torch.dtype) -> Frozen:
    """The base of an untrained policy: the policy with its adapters switched off, or a copy if it has none."""
    if not is_adapted(policy):
        return frozen_model(copy.deepcopy(policy), dtype)

    @contextmanager
    def without_adapters() -> Iterator[nn.Module]:
        with policy.disable_adapter():
            yield policy

    return without_adapters


def frozen_model(model: Any, dtype: torch.dtype) -> Frozen:
    """The model itself, frozen in place: the caller gives it away."""
    frozen = model.to(dtype).requires_grad_(False)
    return lambda: nullcontext(frozen)


def frozen_adapters(policy: Any, weights: Mapping[str, Tensor]) -> Frozen:
    """The policy with these adapter weights inside the context; its current ones are restored at the end."""
    adapters = {name: weight for name, weight in policy.named_parameters() if name in weights}

    @torch.no_grad()
    def load(values: Mapping[str, Tensor]) -> None:
        for name, weight in adapters.items():
            weight.copy_(values[name])

    @contextmanager
    def with_weights() -> Iterator[nn.Module]:
        current = {name: weight.detach().clone() for name, weight in adapters.items()}
        load(weights)
        try:
            yield policy
        finally:
            load(current)

    return with_weights


def compile_layers(policy: Any) -> None:
    """Compiles the decoder layers, one graph for all of them: a third less time and a fifth less memory.

    Takes half a minute at the first steps. `TORCHDYNAMO_DISABLE=1` switches it off.
    """
    for layer in cast(Any, unwrap(policy)).get_decoder().layers:
        layer.forward = partial(_compiled_forward, layer.forward, torch.compile(layer.forward, options=REPRODUCIBLE))


def _compiled_forward(
    plain: Callable[..., Any], compiled: Callable[..., Any], hidden_1TH: Tensor, **kwargs: Any
) -> Any:
    """Calls a layer: compiled in training, plain elsewhere (`generate`, a rollout over the key-value cache).

    Marks the sizes that vary as dynamic, or the layer would be compiled twice.
    """
    plan = kwargs.get("plan")
    if not isinstance(plan, SegmentPlan) or not hidden_1TH.is_cuda:
        return plain(hidden_1TH, **kwargs)
    for tensor, dimension in ((hidden_1TH, 1), *((x, 1) for x in kwargs["position_embeddings"]), (plan.ends, 0)):
        torch._dynamo.maybe_mark_dynamic(tensor, dimension)
    return compiled(hidden_1TH, **kwargs)


def recompute_layers(policy: Any) -> None:
    """Makes the backward pass recompute each decoder layer instead of keeping its activations.

    `transformers` has a switch for this that works in training mode only, where dropout would be on.
    """
    for layer in cast(Any, unwrap(policy)).get_decoder().layers:
        layer.forward = partial(_checkpointed_forward, layer.forward)


def _checkpointed_forward(forward: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    if not torch.is_grad_enabled():
        return forward(*args, **kwargs)
    return checkpoint(forward, *args, use_reentrant=False, preserve_rng_state=False, **kwargs)


def save_policy(policy: Any, name: str, folder: Path, weights: Mapping[str, Tensor] | None = None) -> None:
    """Saves weights (of a policy with adapters only these), config and tokenizer in the format of `transformers`.

    `weights`, if given, are saved instead of the policy's own: those of a rollout copy have another dtype.
    """
    extra = {"save_embedding_layers": False} if is_adapted(policy) else {}
    policy.save_pretrained(folder, **extra, **({"state_dict": dict(weights)} if weights else {}))
    if is_adapted(policy):
        # PEFT writes the names of the modules from a set, in an order that differs from process to process.
        file = folder / "adapter_config.json"
        facts = msgspec.json.decode(file.read_bytes())
        file.write_bytes(json_bytes({**facts, "target_modules": sorted(facts["target_modules"])}))
    transformers.AutoTokenizer.from_pretrained(name).save_pretrained(folder)


def is_adapted(policy: Any) -> bool:
    """Whether the model has adapters, around weights that are frozen."""
    return isinstance(policy, PeftWrapper)


def require_four_bits(device: torch.device) -> None:
    """Refuses 4-bit weights where the device or a library does not support them."""
    if device.type != "cuda":
        raise BadInput(
            f"4-bit weights need CUDA, and this run is on {device.type}",
            where="finetune.method",
            remedy="set finetune.method: lora, or run on a machine with CUDA",
        )
    if find_spec("bitsandbytes") is None:
        raise BadInput(
            "4-bit weights need bitsandbytes, which is not installed",
            where="finetune.method",
            remedy="pip install 'askgate[gpu]', or set finetune.method: lora",
        )


def _load(name: str, dtype: torch.dtype, device: torch.device, four_bits: bool) -> Any:
    transformers.utils.logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    extra: dict[str, Any] = {}
    if four_bits:
        require_four_bits(device)
        make_config: Any = transformers.BitsAndBytesConfig
        config = make_config(
            load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_use_double_quant=True, bnb_4bit_compute_dtype=dtype
        )
        extra = {"quantization_config": config, "device_map": {"": device}}
    found = find_model(name)
    require_weights(found)
    try:
        with read_once(found) as folder:
            model: Any = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=dtype, **extra)
    except (OSError, ValueError, SafetensorError) as error:
        raise BadInput(
            f"no model can be loaded from there ({str(error).splitlines()[0]})",
            where=name,
            remedy="name a folder with config.json and safetensors, or a hub model that this machine can reach",
        ) from error
    # Adapters are saved with the name of their base.
    model.name_or_path = model.config.name_or_path = name
    return model if four_bits else model.to(device)


def with_adapters(model: Any, finetune: FinetuneSection, targets: tuple[str, ...]) -> Any:
    """The model with a LoRA adapter on each of the named modules; only the adapters are trained."""
    from peft import LoraConfig, get_peft_model

    names = {name.rsplit(".", 1)[-1] for name, _ in model.named_modules()}
    missing = [target for target in targets if target not in names]
    if missing:
        raise BadInput(
            f"the model has no module {', '.join(missing)}",
            where="finetune.targets",
            remedy=f"choose from {', '.join(sorted(n for n in names if n.endswith('proj')))}",
        )
    adapters = LoraConfig(
        r=finetune.rank, lora_alpha=cast(int, finetune.alpha), target_modules=[*targets], task_type="CAUSAL_LM"
    )
    adapted: Any = get_peft_model(model, adapters)
    for module in adapted.modules():
        if hasattr(module, "lora_A"):
            # All arithmetic is under autocast, which would undo a cast to the adapters' float32 at once.
            module.cast_input_dtype_enabled = False
    return adapted
