"""A saved policy has what PEFT and vLLM need to load it, and a recipe beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open

from askgate_env.actions import system
from src.agents.native import action_format, saved_functions
from src.config.train_config import FinetuneSection
from src.engines.models import load_policy, save_policy
from src.engines.serving import write_serving
from tests.release.small_models import qwen3, tokenizer_like

CPU = torch.device("cpu")
ALL = ("v_proj", "q_proj", "k_proj", "o_proj", "up_proj", "gate_proj", "down_proj")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small chat model."""
    folder = tmp_path_factory.mktemp("base")
    qwen3().save_pretrained(folder)
    tokenizer_like("qwen2").save_pretrained(folder)
    return folder


def saved(base: Path, folder: Path, method: Any) -> Any:
    policy = load_policy(str(base), FinetuneSection(method=method, rank=12), ALL, CPU, torch.float32)
    with torch.no_grad():
        for weight in policy.parameters():
            if weight.requires_grad:
                weight.add_(0.01)
    save_policy(policy, str(base), folder)
    write_serving(folder, str(base), ("wiki", "calc"))
    return policy


def test_peft_loads_the_adapters_and_vllm_finds_what_it_reads(base: Path, tmp_path: Path) -> None:
    """vLLM reads `r`, `lora_alpha` and `target_modules`, and refuses DoRA and `modules_to_save`
    (docs.vllm.ai/en/latest/features/lora.html, vllm/lora/peft_helper.py)."""
    from peft import AutoPeftModelForCausalLM

    policy, ids = saved(base, tmp_path, "lora"), torch.tensor([[5, 6, 7, 8]])
    again = AutoPeftModelForCausalLM.from_pretrained(tmp_path).eval()
    with torch.no_grad():
        assert torch.allclose(again(input_ids=ids).logits, policy(input_ids=ids).logits, atol=1e-6)
    config = json.loads((tmp_path / "adapter_config.json").read_bytes())
    assert (config["peft_type"], config["r"], config["lora_alpha"]) == ("LORA", 12, 32)
    assert config["target_modules"] == sorted(ALL)
    assert (config["bias"], config["modules_to_save"], config["use_dora"]) == ("none", None, False)
    with safe_open(tmp_path / "adapter_model.safetensors", "pt") as weights:
        names = set(weights.keys())
    layers = [name.split(".self_attn.")[0] for name in names if name.endswith("q_proj.lora_A.weight")]
    assert len(layers) == 2
    assert {f"{layer}.self_attn.q_proj.lora_{side}.weight" for layer in layers for side in "AB"} <= names
    assert all(name.startswith("base_model.model.model.layers.") for name in names)
    assert len(names) == 2 * 2 * len(ALL)


def test_the_recipe_has_commands_system_prompt_and_chat_template(base: Path, tmp_path: Path) -> None:
    saved(base, tmp_path, "lora")
    recipe = (tmp_path / "SERVING.md").read_text(encoding="utf-8")
    assert f"vllm serve {base} --enable-lora --max-lora-rank 16 --lora-modules policy=FOLDER" in recipe
    assert "askgate export-gguf --model FOLDER --out policy.gguf" in recipe
    assert "llama-server -m policy.gguf --jinja" in recipe
    assert 'merge_and_unload().save_pretrained("merged")' in recipe
    assert {"tokenizer.json", "chat_template.jinja", "system_prompt.json"} <= files_to_copy(tmp_path)
    assert "`<calc>expression</calc>`" in recipe
    prompts = json.loads((tmp_path / "system_prompt.json").read_bytes())
    assert prompts == {lang: system(lang) for lang in ("en", "zh")}
    assert (tmp_path / "chat_template.jinja").read_text() == tokenizer_like("qwen2").chat_template


def files_to_copy(folder: Path) -> set[str]:
    """Files that the recipe's `cp` takes into a merged model. A pattern that matches nothing would end it."""
    recipe = (folder / "SERVING.md").read_text(encoding="utf-8")
    (line,) = [line for line in recipe.splitlines() if line.startswith("cp ")]
    matches = [[*folder.glob(one.removeprefix("FOLDER/"))] for one in line.split()[1:-1]]
    assert all(matches), line
    return {path.name for found in matches for path in found}


def test_merged_adapters_keep_their_functions_and_need_no_chat_template(base: Path, tmp_path: Path) -> None:
    saved(base, tmp_path, "lora")
    write_serving(tmp_path, str(base), ("calc",), native=True)
    assert "tools.json" in files_to_copy(tmp_path)
    (tmp_path / "chat_template.jinja").unlink()
    write_serving(tmp_path, str(base), ("calc",))
    assert "chat_template.jinja" not in files_to_copy(tmp_path)


def test_a_whole_model_is_served_by_its_folder(base: Path, tmp_path: Path) -> None:
    saved(base, tmp_path, "full")
    recipe = (tmp_path / "SERVING.md").read_text(encoding="utf-8")
    assert "vllm serve FOLDER" in recipe
    assert "lora" not in recipe.lower()


def test_a_native_calls_policy_has_functions_and_their_parser(base: Path, tmp_path: Path) -> None:
    saved(base, tmp_path, "full")
    write_serving(tmp_path, str(base), ("calc",), native=True)
    recipe = (tmp_path / "SERVING.md").read_text(encoding="utf-8")
    assert "--served-model-name policy --enable-auto-tool-choice --tool-call-parser hermes" in recipe
    assert "| call of `ask_user` |" in recipe
    assert "<ask>" not in recipe
    assert "`wiki`" not in recipe
    tools = json.loads((tmp_path / "tools.json").read_bytes())
    assert [one["function"]["name"] for one in tools] == ["ask_user", "calc"]
    assert "<ask>" not in json.loads((tmp_path / "system_prompt.json").read_bytes())["en"]
    assert action_format(saved_functions(tmp_path)) == ("native", ("calc",))


def test_a_model_without_chat_template_is_served_by_askgate(tmp_path: Path) -> None:
    write_serving(tmp_path, "models/tiny", ())
    recipe = (tmp_path / "SERVING.md").read_text(encoding="utf-8")
    assert "has no chat template" in recipe
    assert "vllm" not in recipe
    assert "<wiki>" not in recipe
