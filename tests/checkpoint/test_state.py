"""The state of a run is loaded exactly as it was saved, or not at all."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

from src.checkpoint.state import pack_state, require_same_layout, unpack_state
from src.core.errors import BadInput
from src.runtime import disk as durable


def there_and_back(folder: Path, tree: dict[Any, Any]) -> dict[Any, Any]:
    for path in folder.glob("state.*"):
        path.unlink()
    pack_state(folder, tree)
    return unpack_state(folder)


keys = st.text(max_size=4) | st.integers() | st.just("$tensor") | st.just("$dict")
leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
trees = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=3) | st.lists(inner, max_size=3).map(tuple) | st.dictionaries(keys, inner, max_size=3)
    ),
    max_leaves=12,
)


@settings(deadline=None, max_examples=200)
@given(st.dictionaries(keys, trees, max_size=4))
def test_plain_values_come_back_as_they_were(tmp_path_factory: pytest.TempPathFactory, tree: dict[Any, Any]) -> None:
    found = there_and_back(tmp_path_factory.getbasetemp(), tree)
    assert repr(found) == repr(tree), "the same values, kinds and order; nan is nan and -0.0 is -0.0"


DTYPES = [
    torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16, torch.int8,
    torch.uint64, torch.uint32, torch.uint16, torch.uint8, torch.bool,
]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
def test_tensors_keep_their_bits_shape_and_type(tmp_path: Path, dtype: torch.dtype) -> None:
    bits = torch.randint(0, 2, (24,), dtype=torch.uint8) if dtype == torch.bool else torch.randint(0, 256, (24,))
    whole = bits.to(torch.uint8).view(dtype)
    tree = {"flat": whole, "one": whole[0].clone(), "none": whole[:0].reshape(0, 3), "turned": whole[:2].expand(3, 2).T}
    found = there_and_back(tmp_path, tree)
    for name, tensor in tree.items():
        assert (found[name].dtype, found[name].shape) == (dtype, tensor.shape)
        assert bits_of(found[name]).equal(bits_of(tensor))


def bits_of(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.contiguous().reshape(-1).view(torch.uint8)


def test_the_file_is_an_ordinary_safetensors_file_of_several_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(durable, "BLOCK", 1000)
    tree = {"a": torch.randn(300), "b": {"c.d": torch.arange(7), "c": {"d": torch.arange(3)}}}
    pack_state(tmp_path, tree)
    found = load_file(tmp_path / "state.safetensors")
    assert found.keys() == {"a", "b.c.d", "b.c.d'"}
    assert found["a"].equal(tree["a"])  # type: ignore[arg-type]
    assert unpack_state(tmp_path)["b"]["c"]["d"].equal(torch.arange(3))


def test_random_state_and_optimizer_survive_unchanged(tmp_path: Path) -> None:
    torch.manual_seed(3)
    layer = torch.nn.Linear(3, 2)
    optimizer = torch.optim.AdamW(layer.parameters())
    layer(torch.randn(4, 3)).sum().backward()
    optimizer.step()
    generator = np.random.default_rng(5)
    generator.random(3)
    tree = {
        "optimizer": optimizer.state_dict(),
        "python": random.getstate(),
        "numpy": np.random.get_state(),
        "generator": generator.bit_generator.state,
        "torch": torch.get_rng_state(),
    }
    found = there_and_back(tmp_path, tree)
    assert found["python"] == tree["python"]
    assert found["generator"] == generator.bit_generator.state
    assert isinstance(found["numpy"][1], np.ndarray)
    np.random.set_state(found["numpy"])
    torch.set_rng_state(found["torch"])
    other = torch.optim.AdamW(layer.parameters())
    other.load_state_dict(found["optimizer"])
    assert repr(other.state_dict()) == repr(optimizer.state_dict())


def test_a_shared_tensor_is_written_once(tmp_path: Path) -> None:
    tied = torch.randn(1000)
    pack_state(tmp_path, {"embedding": tied, "head": tied, "half": tied[:500]})
    assert (tmp_path / "state.safetensors").stat().st_size < 1.6 * 4000
    found = unpack_state(tmp_path)
    assert found["head"].equal(tied)
    assert found["half"].equal(tied[:500])


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (object(), "a.b: a object cannot"),
        (b"bytes", "a.b: a bytes cannot"),
        ({1.5: 2}, "a.b: a key of type float cannot"),
        (np.int64(3), "a.b: a int64 cannot"),
        (torch.ones(2).to_sparse(), "a.b: a tensor of torch.float32, torch.sparse_coo cannot"),
        ([0, {"c": {1, 2}}], "a.b.1.c: a set cannot"),
    ],
)
def test_unsupported_values_are_refused_with_their_path(tmp_path: Path, value: Any, why: str) -> None:
    with pytest.raises(TypeError) as refused:
        pack_state(tmp_path, {"a": {"b": value}})
    assert str(refused.value).startswith(why)
    assert not list(tmp_path.iterdir())


def test_a_different_layout_is_refused_with_its_path() -> None:
    like = {"a.b": torch.zeros(2, 3), "c": torch.zeros(4)}
    fits = {"a.b": torch.ones(2, 3), "c": torch.ones(4)}
    require_same_layout(fits, like, "run")

    def refusal(**weights: Any) -> str:
        with pytest.raises(BadInput) as refused:
            require_same_layout({**fits, **weights}, like, "run")
        return str(refused.value)

    assert "run: weights.a.b: the checkpoint has [3, 2] torch.float32, this run needs [2, 3]" in refusal(
        **{"a.b": torch.ones(3, 2)}
    )
    assert "run: weights.c: the checkpoint has [4] torch.float16, this" in refusal(c=torch.ones(4).half())
    assert "run: weights.c: the checkpoint has int, this run needs [4]" in refusal(c=3)
    assert "run: weights: d has no place in this run" in refusal(d=torch.ones(1))
    with pytest.raises(BadInput, match="run: weights: c is missing"):
        require_same_layout({"a.b": torch.ones(2, 3)}, like, "run")


def test_files_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    tree = {"a": torch.ones(2), "b": torch.ones(3)}

    def spoilt(match: str) -> None:
        with pytest.raises(BadInput, match=match):
            unpack_state(tmp_path)
        for path in tmp_path.iterdir():
            path.unlink()
        pack_state(tmp_path, tree)

    spoilt(r"state.json: no such file")
    save_file({"a": torch.ones(2)}, tmp_path / "state.safetensors")
    spoilt("b is missing")
    save_file({**tree, "c": torch.ones(1)}, tmp_path / "state.safetensors")
    spoilt(r"holds c, which state.json does not know")
    (tmp_path / "state.safetensors").write_bytes(b"\x80\x04pickle")
    spoilt("not a whole safetensors file")
    (tmp_path / "state.safetensors").unlink()
    spoilt(r"state.safetensors: no such file")
    (tmp_path / "state.json").write_text('{"a": ')
    spoilt("not valid JSON")
    (tmp_path / "state.json").write_text(json.dumps({"a": {"$call": "os.system"}}))
    spoilt(r"\$call means nothing here")
    with pytest.raises(BadInput, match=r"state: weights.a: the checkpoint has \[2\]"):
        require_same_layout(unpack_state(tmp_path), {"a": torch.ones(5), "b": torch.ones(3)}, "state")


def test_truncating_the_file_later_does_not_change_loaded_tensors(tmp_path: Path) -> None:
    found = there_and_back(tmp_path, {"a": torch.arange(100_000)})
    (tmp_path / "state.safetensors").write_bytes(b"")
    assert found["a"].equal(torch.arange(100_000))
