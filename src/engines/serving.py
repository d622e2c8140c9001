"""What somebody needs to serve a trained policy, beside its weights: `SERVING.md` and `system_prompt.json`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from string import Template

import msgspec

from askgate_env.actions import system
from askgate_env.types import LANGS

from .. import __version__
from ..agents.native import TOOLS_FILE, functions, system_prompts
from ..core.files import json_bytes

ADAPTER = "adapter_config.json"
CHAT_TEMPLATE = "chat_template.jinja"
SYSTEM_PROMPT, RECIPE = "system_prompt.json", "SERVING.md"
VLLM_RANKS = (8, 16, 32, 64, 128, 256, 320, 512)
"""Values that vLLM's `--max-lora-rank` takes."""
_TAGS = {
    "ask": ("`<ask>question</ask>`", "show the question to the user, send the reply as the next user message"),
    "wiki": ("`<wiki>title or words</wiki>`", "look it up in your articles, send the text as the next user message"),
    "calc": ("`<calc>expression</calc>`", "compute it, send the result as the next user message"),
    "answer": ("`<answer>text</answer>`", "show the answer; the dialogue is over"),
}
_NATIVE = {
    "ask": ("call of `ask_user`", "show the question to the user, send the reply as the result of the call"),
    "wiki": ("call of `wiki`", "look it up in your articles, send the text as the result of the call"),
    "calc": ("call of `calc`", "compute it, send the result as the result of the call"),
    "answer": ("a reply without a call", "show the answer; the dialogue is over"),
}
_SEND_TOOLS = f"""
It calls tools in the format of its chat template. Send the functions in `{TOOLS_FILE}` as `tools` with every request.
Over a URL, `askgate chat` and `askgate eval` use tags, which this policy was not trained on: give them the folder or
the GGUF file."""
_CALLS = " --enable-auto-tool-choice --tool-call-parser hermes"
"""vLLM then returns calls as `tool_calls`; `hermes` is its parser of JSON between `<tool_call>` tags
(https://docs.vllm.ai/en/latest/features/tool_calling/)."""
_VLLM_ADAPTERS = """\
With vLLM, name the adapters as the model (`"model": "policy"`) in requests to `/v1/chat/completions`:

```bash
vllm serve {base} --enable-lora --max-lora-rank {rank} --lora-modules policy=FOLDER \\
    --tokenizer FOLDER --chat-template FOLDER/{template}{calls}
```

"""
_MERGE = """
One command merges the adapters into their base with PEFT and writes a plain model to `merged/`:

```bash
python -c 'from peft import AutoPeftModelForCausalLM as Model
Model.from_pretrained("FOLDER").merge_and_unload().save_pretrained("merged")'
cp {copied} merged/
```

`adapter_config.json` names the base, `{base}`. AskGate looks for a relative path here, then in the folders above the
adapters. PEFT looks here only: run it where the training ran. If the base is elsewhere: `askgate chat BASE --adapter
FOLDER`, and `askgate eval` and `askgate export-gguf` with `--model BASE --adapter FOLDER`.
"""
_VLLM_MODEL = """\
With vLLM, which then answers `/v1/chat/completions`:

```bash
vllm serve FOLDER --served-model-name policy{calls}
```
"""
_LLAMA = "llama-server -m policy.gguf --jinja --port 8080    # answers /v1/chat/completions\n"
"""The file has the chat template; `--jinja` applies it, tools included."""
_NO_TEMPLATE = """\
The tokenizer has no chat template: the dialogue has the layout of `src/agents/render.py` (`TagRenderer`), which chat
servers do not know, and needs no system prompt. Serve it with AskGate.
"""


def write_serving(folder: Path, base: str, tools: Sequence[str], native: bool = False) -> None:
    """Writes recipe and system prompts into the folder of a saved policy, and its functions if it calls tools."""
    file = folder / ADAPTER
    rank = msgspec.json.decode(file.read_bytes())["r"] if file.exists() else None
    chat, llama = _NO_TEMPLATE, ""
    if (folder / CHAT_TEMPLATE).exists():
        most = next((one for one in VLLM_RANKS if rank and one >= rank), VLLM_RANKS[-1])
        llama = _LLAMA
        recipe = _VLLM_ADAPTERS if rank else _VLLM_MODEL
        chat = recipe.format(base=base, rank=most, template=CHAT_TEMPLATE, calls=_CALLS if native else "")
    rows = _NATIVE if native else _TAGS
    text = Template((Path(__file__).parent / "serving.md").read_text(encoding="utf-8")).substitute(
        version=__version__,
        base=base,
        kind=f"These are LoRA adapters of rank {rank} for that model." if rank else "This is the whole model.",
        functions=_SEND_TOOLS if native else "",
        actions="\n".join(f"| {rows[one][0]} | {rows[one][1]} |" for one in ("ask", *tools, "answer")),
        chat=chat,
        llama=llama,
        merge=_MERGE.format(base=base, copied=_copied(folder, native)) if rank else "",
    )
    (folder / RECIPE).write_text(text, encoding="utf-8")
    prompts = system_prompts() if native else {lang: system(lang, tools) for lang in LANGS}
    (folder / SYSTEM_PROMPT).write_bytes(json_bytes(prompts))
    if native:
        (folder / TOOLS_FILE).write_bytes(json_bytes(functions(tools)))


def _copied(folder: Path, native: bool) -> str:
    """Files beside the weights that a merged policy needs too."""
    template = [CHAT_TEMPLATE] if (folder / CHAT_TEMPLATE).exists() else []
    names = ["token*", *template, SYSTEM_PROMPT, *([TOOLS_FILE] if native else [])]
    return " ".join(f"FOLDER/{name}" for name in names)
