"""What somebody needs to serve a trained policy, beside its weights: `SERVING.md` and `system_prompt.json`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from string import Template

import msgspec

from askgate_env.actions import system
from askgate_env.types import LANGS

from .. import __version__
from ..core.files import json_bytes

ADAPTER = "adapter_config.json"
CHAT_TEMPLATE = "chat_template.jinja"
SYSTEM_PROMPT, RECIPE = "system_prompt.json", "SERVING.md"
VLLM_RANKS = (8, 16, 32, 64, 128, 256, 320, 512)
"""Values that vLLM's `--max-lora-rank` takes."""
_TOOLS = {
    "wiki": "| `<wiki>title or words</wiki>` | look it up in your articles, send the text as the next user message |\n",
    "calc": "| `<calc>expression</calc>` | compute it, send the result as the next user message |\n",
}
_VLLM_ADAPTERS = """\
With vLLM, name the adapters as the model (`"model": "policy"`) in requests to `/v1/chat/completions`:

```bash
vllm serve {base} --enable-lora --max-lora-rank {rank} --lora-modules policy=FOLDER \\
    --tokenizer FOLDER --chat-template FOLDER/{template}
```

With PEFT:

```python
from peft import AutoPeftModelForCausalLM

policy = AutoPeftModelForCausalLM.from_pretrained("FOLDER")   # .merge_and_unload() gives a plain model
```
"""
_VLLM_MODEL = """\
With vLLM, which then answers `/v1/chat/completions`:

```bash
vllm serve FOLDER --served-model-name policy
```
"""
_NO_TEMPLATE = """\
The tokenizer has no chat template: the dialogue has the layout of `src/agents/render.py` (`TagRenderer`), which chat
servers do not know, and needs no system prompt. Serve it with AskGate.
"""


def write_serving(folder: Path, base: str, tools: Sequence[str]) -> None:
    """Writes the recipe and the system prompts into the folder of a saved policy."""
    file = folder / ADAPTER
    rank = msgspec.json.decode(file.read_bytes())["r"] if file.exists() else None
    chat = _NO_TEMPLATE
    if (folder / CHAT_TEMPLATE).exists():
        most = next((one for one in VLLM_RANKS if rank and one >= rank), VLLM_RANKS[-1])
        chat = (_VLLM_ADAPTERS if rank else _VLLM_MODEL).format(base=base, rank=most, template=CHAT_TEMPLATE)
    kind = f"These are LoRA adapters of rank {rank} for that model." if rank else "This is the whole model."
    text = Template((Path(__file__).parent / "serving.md").read_text(encoding="utf-8")).substitute(
        version=__version__,
        base=base,
        kind=kind,
        tools="".join(_TOOLS[tool] for tool in tools),
        chat=chat,
        export=f"--model {base} --adapter FOLDER" if rank else "--model FOLDER",
    )
    (folder / RECIPE).write_text(text, encoding="utf-8")
    (folder / SYSTEM_PROMPT).write_bytes(json_bytes({lang: system(lang, tools) for lang in LANGS}))
