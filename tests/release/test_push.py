"""`askgate push` against a hub on loopback: what arrives, what the card says, what is refused, where no token is."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from msgspec.structs import replace

from askgate_env.pool import DEMO_POOL, load_pool
from src.checkpoint.seal import seal
from src.core.check import check, evidence, now, report
from src.core.files import sha256_file, write_json
from src.core.model_files import find_model
from src.data.export import export
from tests.conftest import Askgate

from .loopback_hub import TOKEN, LoopbackHub


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("HF_TOKEN", "HF_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    # The xet protocol stores files in a service of its own; without it the hub takes them through LFS.
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_TOKEN_PATH", str(tmp_path / "no_login"))


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackHub]:
    with LoopbackHub() as running:
        monkeypatch.setenv("HF_ENDPOINT", running.url)
        monkeypatch.setenv("HF_TOKEN", TOKEN)
        yield running


def card_of(hub: LoopbackHub, repo: str) -> tuple[dict[str, Any], str]:
    """Front matter and text of a card."""
    _, front, text = hub.repositories[repo].files["README.md"].decode().split("---\n", 2)
    return yaml.safe_load(front), text


def tiny(folder: Path) -> Path:
    shutil.copytree(find_model("models/tiny"), folder)
    return folder


def test_a_model_arrives_whole_in_a_private_repository(hub: LoopbackHub, askgate: Askgate, tmp_path: Path) -> None:
    folder = tiny(tmp_path / "model")
    done = askgate("push", "me/asks", "--model", folder)
    assert done.code == 0, done.err
    assert f"pushed to {hub.url}/me/asks" in done.out
    made = hub.repositories["me/asks"]
    assert (made.kind, made.visibility, made.commits) == ("model", "private", 1)
    assert {name: data for name, data in made.files.items() if name != "README.md"} == {
        file.name: file.read_bytes() for file in folder.iterdir() if file.name != "README.md"
    }
    assert any(line.startswith("PUT /upload/") for line in hub.requests), "weights go through LFS"
    front, text = card_of(hub, "me/asks")
    assert front["library_name"] == "transformers"
    assert text.startswith(
        "\n# asks\n\n**No evidence.** This folder is not the final model of a run that AskGate finished and sealed: "
        "nothing is known about how it was trained or what it can do.\n\nA policy that asks"
    )


def test_the_token_is_in_no_file_and_no_output(hub: LoopbackHub, askgate: Askgate, tmp_path: Path) -> None:
    done = askgate("push", "me/asks", "--model", tiny(tmp_path / "model"))
    hub.refuse = "commit"
    refused = askgate("push", "me/asks", "--model", tmp_path / "model")
    assert refused.code == 2
    assert "the hub did not take it" in refused.err
    assert all(TOKEN not in text for text in (done.out, done.err, refused.out, refused.err))
    stored = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert stored
    assert all(TOKEN.encode() not in file.read_bytes() for file in stored)
    assert all(TOKEN.encode() not in data for data in hub.repositories["me/asks"].files.values())


def test_a_sealed_model_says_it_is_neither_gated_nor_evaluated(
    hub: LoopbackHub, askgate: Askgate, tmp_path: Path
) -> None:
    folder = tiny(tmp_path / "model")
    seal(folder, 7, {"gated": False})
    assert askgate("push", "me/asks", "--model", folder).code == 0
    _, text = card_of(hub, "me/asks")
    assert "**Not gated.**" in text
    assert "**Not evaluated.**" in text
    assert f"seal of the run (`manifest.json`): SHA-256 `{sha256_file(folder / 'manifest.json')}`" in text


def test_a_model_changed_after_sealing_is_not_pushed(hub: LoopbackHub, askgate: Askgate, tmp_path: Path) -> None:
    folder = tiny(tmp_path / "model")
    seal(folder, 7, {"gated": True})
    (folder / "config.json").write_bytes((folder / "config.json").read_bytes() + b" ")
    refused = askgate("push", "me/asks", "--model", folder)
    assert refused.code == 2
    assert "config.json" in refused.err
    assert hub.requests == []


def checked(pool: Path, value: float) -> None:
    """A report of the data gates on the pool."""
    one = check("distinct2", value, ">=", 0.6, "build other data", "请重新构建数据")
    whole = report("validate_pool", [one], {}, evidence([pool], [], {}, now()))
    write_json(Path("reports/rc1/pool.json"), whole)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (None, "**Not checked.** No report of `askgate validate-pool`"),
        (0.5, "**Red.** 1 gates on this data did not pass:\n\n- `distinct2` is 0.5, must be >= 0.6"),
        (0.7, "All gates on this data passed."),
    ],
)
def test_exported_data_has_a_card_with_gates_licences_and_fingerprints(
    hub: LoopbackHub, askgate: Askgate, value: float | None, told: str
) -> None:
    provenance = [replace(one.provenance, source="hf") for one in load_pool()]
    mixed = [replace(one, provenance=made) for one, made in zip(load_pool(), provenance, strict=True)]
    Path("pool.jsonl").write_bytes(b"".join(msgspec.json.encode(one) + b"\n" for one in mixed))
    facts = export(Path("pool.jsonl"), "messages", Path("chats.jsonl"))
    if value is not None:
        checked(Path("pool.jsonl"), value)
    done = askgate("push", "me/chats", "--data", "chats.jsonl", "--public")
    assert done.code == 0, done.err
    made = hub.repositories["me/chats"]
    assert (made.kind, made.visibility) == ("dataset", "public")
    assert set(made.files) == {"README.md", "chats.jsonl", "chats.jsonl.json"}
    front, text = card_of(hub, "me/chats")
    assert front["license"] == ["cc-by-sa-4.0", "mit"]
    assert front["configs"] == [{"config_name": "default", "data_files": "chats.jsonl"}]
    assert text.startswith(f"\n# chats\n\n{told}")
    assert f"| hf/hotpotqa | {facts.sources['hf/hotpotqa']} | CC BY-SA 4.0 | https://hotpotqa.github.io |" in text
    assert f"SHA-256 `{sha256_file(Path('chats.jsonl'))}`" in text
    assert f"SHA-256 `{sha256_file(Path('pool.jsonl'))}`" in text


def test_a_pool_is_pushed_with_its_sidecar(hub: LoopbackHub, askgate: Askgate, small_pool: Path) -> None:
    for file in (small_pool, small_pool.with_suffix(".meta.json")):
        shutil.copy(file, file.name)
    assert askgate("push", "me/pool", "--data", small_pool.name).code == 0
    assert set(hub.repositories["me/pool"].files) == {"README.md", small_pool.name, "pool.meta.json"}
    front, text = card_of(hub, "me/pool")
    assert front["license"] == ["apache-2.0"]
    assert "60 samples of AskGate" in text
    Path(small_pool.name).write_bytes(Path(small_pool.name).read_bytes().splitlines(keepends=True)[0])
    assert "has changed since" in askgate("push", "me/pool", "--data", small_pool.name).err


def test_a_repository_that_is_public_takes_nothing_without_the_flag(hub: LoopbackHub, askgate: Askgate) -> None:
    export(DEMO_POOL, "messages", Path("chats.jsonl"))
    assert askgate("push", "me/chats", "--data", "chats.jsonl", "--public").code == 0
    refused = askgate("push", "me/chats", "--data", "chats.jsonl")
    assert refused.code == 2
    assert "me/chats: this repository is public" in refused.err
    assert "add --public" in refused.err
    assert hub.repositories["me/chats"].commits == 1
    assert askgate("push", "me/chats", "--data", "chats.jsonl", "--public").code == 0
    assert hub.repositories["me/chats"].commits == 2
    assert askgate("push", "me/more", "--data", "chats.jsonl").code == 0
    assert askgate("push", "me/more", "--data", "chats.jsonl").code == 0, "a private one may be pushed to again"


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["--model", "model"], "Missing argument"),
        (["asks", "--model", "model"], "'asks' is no repository"),
        (["me/asks"], "name one thing to push"),
        (["me/asks", "--model", "model", "--data", "pool.jsonl"], "name one thing to push"),
        (["me/asks", "--model", "nowhere"], "is no folder of a model"),
        (["me/asks", "--data", "pool.jsonl"], "is no pool and no exported file"),
    ],
)
def test_nothing_is_sent_without_a_name_and_one_thing(
    hub: LoopbackHub, askgate: Askgate, arguments: list[str], what: str
) -> None:
    shutil.copy(DEMO_POOL, "pool.jsonl")
    refused = askgate("push", *arguments)
    assert refused.code == 2
    assert what in refused.err
    assert hub.requests == []


def test_a_secret_in_a_file_stops_the_push(hub: LoopbackHub, askgate: Askgate, tmp_path: Path) -> None:
    folder = tiny(tmp_path / "model")
    (folder / "notes.txt").write_text(f"use {TOKEN}")
    refused = askgate("push", "me/asks", "--model", folder)
    assert refused.code == 2
    assert "notes.txt:1: contains a secret of the environment" in refused.err
    assert TOKEN not in refused.err
    assert hub.requests == []


def test_a_secret_in_a_parquet_file_stops_the_push(hub: LoopbackHub, askgate: Askgate) -> None:
    pytest.importorskip("pyarrow")
    samples = load_pool(DEMO_POOL)
    said = replace(samples[0].dialogue[0], text=f"use {TOKEN}")
    samples[0] = replace(samples[0], prompt=said.text, dialogue=(said, *samples[0].dialogue[1:]))
    Path("pool.jsonl").write_bytes(b"".join(msgspec.json.encode(one) + b"\n" for one in samples))
    export(Path("pool.jsonl"), "messages", Path("chats.parquet"))
    refused = askgate("push", "me/chats", "--data", "chats.parquet")
    assert refused.code == 2
    assert "chats.parquet:1: contains a secret of the environment" in refused.err
    assert hub.requests == []


def test_a_missing_or_wrong_token_is_named(
    hub: LoopbackHub, askgate: Askgate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tiny(tmp_path / "model")
    monkeypatch.setenv("HF_TOKEN", "hf_anotherTokenThatIsWrong")
    refused = askgate("push", "me/asks", "--model", folder)
    assert refused.code == 2
    assert "401" in refused.err
    assert "anotherToken" not in refused.err
    monkeypatch.delenv("HF_TOKEN")
    assert "there is no token for the hub" in askgate("push", "me/asks", "--model", folder).err


def test_a_hub_that_does_not_answer_is_named(askgate: Askgate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with LoopbackHub() as gone:
        monkeypatch.setenv("HF_ENDPOINT", gone.url)
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    refused = askgate("push", "me/asks", "--model", tiny(tmp_path / "model"))
    assert refused.code == 2
    assert "the hub did not take it" in refused.err
