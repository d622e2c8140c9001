"""Checks the files beside the weights of a trained model: tokenizer, chat template, configs, recipe and system prompts.

A server of the model uses these files. Repeated dialogues do not check them, because they are rendered with the files
of the base model. So the files must be those of the base, as the `transformers` that is installed here writes them.
"""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..checkpoint.seal import read_seal
from ..config.train_config import TrainConfig
from ..core.defaults import CODE
from ..core.errors import BadInput
from ..core.files import code_sha256, read_json
from ..core.model_files import ADAPTER, CONFIG, WEIGHTS, find_model
from ..engines.serving import RECIPE, write_serving

GENERATION_CONFIG = "generation_config.json"
_OF_SAVING = ("dtype", "torch_dtype", "architectures", "_name_or_path", "transformers_version", "_from_model_config")
"""Settings in configs that depend on how a model was saved and by which version of `transformers`."""
_BASE_PLACEHOLDER = "THE-BASE-MODEL"
_REMEDY = "the model says other things with this file than in its evaluation: train again"


def verify_companions(folder: Path, config: TrainConfig, tools: tuple[str, ...]) -> None:
    """Refuses a file beside the weights of a final model or warm start that does not come from its base.

    A user's own engine may save any files; its code is part of the evidence.
    """
    if ":" in config.engine:
        return
    from transformers import AutoTokenizer

    base, sealed = find_model(config.base_model, download=False), read_seal(folder)
    adapted = ADAPTER in sealed.files
    with TemporaryDirectory() as work:
        wanted, found = Path(work) / "wanted", Path(work) / "found"
        for source, out in ((base, wanted), (folder, found)):
            # Saved again, because files of another version of the library have another format.
            AutoTokenizer.from_pretrained(source).save_pretrained(out)
        if adapted:
            (wanted / ADAPTER).write_bytes((folder / ADAPTER).read_bytes())
        write_serving(wanted, _BASE_PLACEHOLDER, tools, native=config.rollout.actions == "native")
        same_code = sealed.marks.get("sources", {}).get(CODE) == code_sha256()
        for name in sealed.files:
            if name.endswith((WEIGHTS, f"{WEIGHTS}.index.json")) or (adapted and name == "README.md"):  # PEFT's card
                continue
            text = (found / name if (found / name).exists() else folder / name).read_bytes()
            if name in (CONFIG, GENERATION_CONFIG):
                (known, more), (of_base, more_of_base) = _settings(folder, name), _settings(base, name)
                # Unknown settings may be missing: the library reads some of them, of older versions, by another name.
                same = known == of_base and all(key in more_of_base and more_of_base[key] == more[key] for key in more)
            elif name == RECIPE:  # names the base by a path of the machine that trained
                recipe = re.escape((wanted / name).read_text(encoding="utf-8"))
                pattern = recipe.replace(re.escape(_BASE_PLACEHOLDER), r"[^\s`]+")
                same = not same_code or re.fullmatch(pattern, text.decode()) is not None
            else:
                same = (wanted / name).exists() and (wanted / name).read_bytes() == text
            if not same:
                raise BadInput("is not what the base model gives", where=str(folder / name), remedy=_REMEDY)


def _settings(folder: Path, name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Settings of a config as the installed library reads them, and settings in the file that it does not know."""
    from transformers import AutoConfig, GenerationConfig

    if not (folder / name).exists():  # then `transformers` derives it from the model's config
        known, stated = GenerationConfig.from_model_config(AutoConfig.from_pretrained(folder)).to_dict(), {}
    else:
        kind = AutoConfig if name == CONFIG else GenerationConfig
        known, stated = kind.from_pretrained(folder).to_dict(), read_json(folder / name, _REMEDY)
    more = {key: value for key, value in stated.items() if key not in {*known, *_OF_SAVING}}
    return {key: value for key, value in known.items() if key not in _OF_SAVING}, more
