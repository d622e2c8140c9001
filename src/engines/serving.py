"""Files for serving a trained policy, saved beside its weights: `SERVING.md` (recipe) and `system_prompt.json`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
from jinja2 import Template

from askgate_env.actions import system
from askgate_env.types import LANGS

from .. import __version__
from ..agents.native import TOOLS_FILE, functions, system_prompts
from ..core.files import json_bytes
from ..core.model_files import ADAPTER

CHAT_TEMPLATE = "chat_template.jinja"
SYSTEM_PROMPT, RECIPE = "system_prompt.json", "SERVING.md"
VLLM_RANKS = (8, 16, 32, 64, 128, 256, 320, 512)
"""Values that vLLM's `--max-lora-rank` takes."""


def write_serving(folder: Path, base: str, tools: Sequence[str], native: bool = False) -> None:
    """Writes the recipe and the system prompts into the folder of a saved policy, and `tools.json` if `native`."""
    file = folder / ADAPTER
    rank = msgspec.json.decode(file.read_bytes())["r"] if file.exists() else None
    template = Path(__file__).with_name("serving.md").read_text(encoding="utf-8")
    text = Template(template, trim_blocks=True, keep_trailing_newline=True).render(
        version=__version__,
        base=base,
        rank=rank,
        vllm_rank=next((one for one in VLLM_RANKS if rank and one >= rank), VLLM_RANKS[-1]),
        tools=tools,
        native=native,
        has_template=(folder / CHAT_TEMPLATE).exists(),
        chat_template=CHAT_TEMPLATE,
        system_prompt=SYSTEM_PROMPT,
        tools_file=TOOLS_FILE,
    )
    (folder / RECIPE).write_text(text, encoding="utf-8")
    prompts = system_prompts() if native else {lang: system(lang, tools) for lang in LANGS}
    (folder / SYSTEM_PROMPT).write_bytes(json_bytes(prompts))
    if native:
        (folder / TOOLS_FILE).write_bytes(json_bytes(functions(tools)))
