"""The commands: `export_gguf` with its report, `eval`, and what they refuse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM

from src.core.errors import BadInput
from src.core.files import sha256_file
from src.core.model_files import find_model
from src.release import gguf_check
from tests.conftest import Askgate

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.set_num_threads(1)
    monkeypatch.chdir(tmp_path)


def quickstart(name: str, **changes: Any) -> None:
    """The quickstart's config with other settings."""
    config = yaml.safe_load((ROOT / "configs/quickstart.yaml").read_text())
    Path(name).write_text(yaml.safe_dump(config | changes))


@pytest.mark.parametrize("kind", ["f16", "q8_0", "q4_k_m"])
def test_the_embedded_base_is_exported_and_passes_its_check(askgate: Askgate, kind: str) -> None:
    done = askgate("export_gguf", "--model", "models/tiny", "--out", "tiny.gguf", "--type", kind)
    assert done.code == 0, done.err
    report = json.loads(Path("tiny.gguf.json").read_bytes())
    assert report["passed"]
    assert [one["name"] for one in report["checks"]] == ["tokenizer_same", f"greedy_same[{kind}]"]
    assert report["figures"]["prompts"] == 50
    assert report["figures"]["tokens"] > 200
    assert report["evidence"]["outputs"] == {"tiny.gguf": sha256_file(Path("tiny.gguf"))}
    assert len(report["evidence"]["arguments"]["model_sha256"]) == 64


def test_a_file_is_evaluated_and_compared_with_pytorch(askgate: Askgate) -> None:
    quickstart("small.yaml", build={"n": 60, "shadow_n": 24})
    plain = ("--config", "small.yaml", "--greedy")
    assert askgate("export_gguf", "--model", "models/tiny", "--out", "tiny.gguf").code == 0
    assert askgate("eval", "--model", "models/tiny", *plain).code == 0
    done = askgate(
        "eval", "--backend", "llamacpp", "--model", "tiny.gguf", *plain, "--compare", "reports/eval_pytorch.json"
    )
    assert done.code == 0, done.err
    assert "is within the 95% interval" in done.out
    found = json.loads(Path("reports/eval_llamacpp.json").read_bytes())
    assert found["samples"] == 24
    assert found["model_sha256"] == sha256_file(Path("tiny.gguf"))


def test_a_file_that_fails_its_check_stays_unnamed(askgate: Askgate, monkeypatch: pytest.MonkeyPatch) -> None:
    samples = gguf_check.check_samples(2)
    monkeypatch.setattr(gguf_check, "check_samples", lambda: samples)
    monkeypatch.setattr(gguf_check, "SAME", {"q4_k_m": 1.1})
    earlier = {"tiny.gguf": b"passed", "tiny.gguf.json": b"and its report"}
    for name, content in earlier.items():
        Path(name).write_bytes(content)
    export = ("export_gguf", "--model", "models/tiny", "--out", "tiny.gguf", "--type", "q4_k_m")
    done = askgate(*export)
    assert done.code == 1
    assert "wrote tiny.failed.gguf" in done.out
    failed = {"tiny.failed.gguf", "tiny.failed.gguf.json"}
    assert {path.name for path in Path().glob("*.gguf*")} == failed | earlier.keys()
    assert {name: Path(name).read_bytes() for name in earlier} == earlier, "what passed before keeps its report"
    monkeypatch.setattr(gguf_check, "agreement", _interrupted)
    assert askgate(*export).code != 0
    assert {path.name for path in Path().glob("*.gguf*")} == failed | earlier.keys(), "nothing half-checked is left"


def _interrupted(*given: object) -> None:
    raise BadInput("interrupted")


def test_bad_models_are_refused_in_one_line(askgate: Askgate) -> None:
    Path("no.gguf").write_text("no model")
    for arguments, why in (
        (("export_gguf", "--model", "models/tiny", "--out", "tiny.bin"), "does not end in .gguf"),
        (("export_gguf", "--model", "nowhere", "--out", "a.gguf"), "no such folder"),
        (("eval", "--backend", "llamacpp", "--model", "no.gguf"), "is not a GGUF file"),
        (("eval", "--backend", "llamacpp", "--model", "none.gguf"), "none.gguf: no such file"),
        (("eval", "--model", "http://127.0.0.1:1/v1"), "--model http://127.0.0.1:1/v1: a server is measured on bench"),
    ):
        done = askgate(*arguments)
        assert done.code == 2
        assert why in done.err.replace("\n", " ")
    assert {path.name for path in Path().iterdir()} == {"no.gguf"}


@pytest.mark.parametrize(
    ("change", "key"),
    [({"engine": "llamacpp"}, "engine"), ({"rollout": {"backend": "llamacpp"}}, "rollout.backend")],
)
def test_online_rollouts_through_llamacpp_are_refused_with_the_reason(
    askgate: Askgate, change: dict[str, Any], key: str
) -> None:
    quickstart("config.yaml", **change)
    done = askgate("train", "--config", "config.yaml")
    assert done.code == 2
    assert f"config.yaml: {key}: llama.cpp cannot make training rollouts" in done.err
    assert "log-probabilities and gradients" in done.err
    assert not Path("logs").exists()


def test_adapters_are_evaluated_with_the_base_that_they_name(askgate: Askgate) -> None:
    quickstart("small.yaml", build={"n": 60, "shadow_n": 2})
    base: Any = AutoModelForCausalLM.from_pretrained(find_model("models/tiny"))
    base.name_or_path = base.config.name_or_path = "models/tiny"
    adapted: Any = get_peft_model(base, LoraConfig(r=2, target_modules=["q_proj"], task_type="CAUSAL_LM"))
    adapted.save_pretrained("adapters", save_embedding_layers=False)
    done = askgate("eval", "--config", "small.yaml", "--model", "adapters")
    assert done.code == 0, done.err
    assert "(builtin); shares in percent\nthese are AskGate's own samples" in done.out
    named = json.loads(Path("reports/eval_pytorch.json").read_bytes())
    assert askgate("eval", "--config", "small.yaml", "--model", "models/tiny", "--adapter", "adapters").code == 0
    given = json.loads(Path("reports/eval_pytorch.json").read_bytes())
    assert named == {**given, "model": "adapters"}
