"""The state of a run as two plain files: tensors in `state.safetensors`, everything else in `state.json`.

Neither can run code when it is loaded. The loaded state equals the saved one: int keys, tuples and numpy arrays keep
their type, floats their last bit, integers any size. JSON objects with a single key that begins with `$` stand for
types that JSON lacks. Saving refuses a value of another type and names its path; loading refuses a key or a shape that
does not fit.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from ..core.errors import BadInput
from ..core.files import note_read, pinned
from ..runtime.disk import explain_disk_errors, read_blocks, write_file

_REMEDY = "use the config, model and version that the checkpoint was saved with"
_TAG = "$"
_DTYPES = {
    torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16",
    torch.int64: "I64", torch.int32: "I32", torch.int16: "I16", torch.int8: "I8",
    torch.uint64: "U64", torch.uint32: "U32", torch.uint16: "U16", torch.uint8: "U8", torch.bool: "BOOL",
}  # fmt: skip


def pack_state(folder: Path, tree: Mapping[Any, Any]) -> None:
    """Writes two new files to `folder`. A tensor that occurs twice is written once."""
    packer = _Packer()
    plain = packer.pack(tree, "")
    write_file(folder / "state.json", [json.dumps(plain, allow_nan=False, separators=(",", ":")).encode()])
    write_file(folder / "state.safetensors", _safetensors(packer.tensors))


def unpack_state(folder: Path) -> dict[Any, Any]:
    """Reads what `pack_state` wrote; tensors on the CPU."""
    where = folder / "state.json"
    try:
        with explain_disk_errors(where):
            data = b"".join(read_blocks(_require_file(where)))
            note_read(where, sha256(data).hexdigest())
            plain = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"not valid JSON ({error})", where=str(where), remedy=_REMEDY) from None
    where = folder / "state.safetensors"
    try:
        with (
            explain_disk_errors(where),
            pinned(_require_file(where)) as same,
            safe_open(same, framework="pt", device="cpu") as file,
        ):
            # Copies: the library's tensors are views of the file, and a file can be cut short during a long run.
            tensors = {key: file.get_tensor(key).clone() for key in file.keys()}  # noqa: SIM118
    except SafetensorError as error:
        raise BadInput(f"not a whole safetensors file ({error})", where=str(where), remedy=_REMEDY) from None
    used: set[str] = set()
    tree = _unpack(plain, tensors, used, str(where))
    if unused := tensors.keys() - used:
        raise BadInput(f"holds {min(unused)}, which state.json does not know", where=str(where), remedy=_REMEDY)
    if not isinstance(tree, dict):
        raise BadInput("holds no state", where=str(folder / "state.json"), remedy=_REMEDY)
    return tree


def require_same_layout(found: Mapping[str, Any], like: Mapping[str, Tensor], where: str) -> None:
    """Refuses weights of a checkpoint whose names, shapes or types differ from `like`."""
    if missing := [name for name in like if name not in found]:
        raise BadInput(f"{missing[0]} is missing", where=f"{where}: weights", remedy=_REMEDY)
    for name, value in found.items():
        if name not in like:
            raise BadInput(f"{name} has no place in this run", where=f"{where}: weights", remedy=_REMEDY)
        if _kind(value) != _kind(like[name]):
            what = f"the checkpoint has {_kind(value)}, this run needs {_kind(like[name])}"
            raise BadInput(what, where=f"{where}: weights.{name}", remedy=_REMEDY)


class _Packer:
    """Turns a tree into plain JSON values and collects its tensors by path."""

    def __init__(self) -> None:
        self.tensors: dict[str, Tensor] = {}
        self.names: dict[object, str] = {}

    def pack(self, value: Any, path: str) -> Any:
        if value is None or isinstance(value, bool | str) or type(value) is int:
            return value
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else {f"{_TAG}float": str(float(value))}
        if isinstance(value, Mapping):
            return self._pack_table(value, path)
        if isinstance(value, list | tuple):
            row = [self.pack(one, _join(path, number)) for number, one in enumerate(value)]
            return {f"{_TAG}tuple": row} if isinstance(value, tuple) else row
        if isinstance(value, Tensor):
            return {f"{_TAG}tensor": self._name(value, path)}
        if isinstance(value, np.ndarray):
            return {f"{_TAG}array": self._name(torch.from_numpy(value.copy()), path)}
        raise TypeError(f"{path}: a {type(value).__name__} cannot be part of a checkpoint")

    def _pack_table(self, table: Mapping[Any, Any], path: str) -> Any:
        made = []
        for key, value in table.items():
            if type(key) not in (str, int):
                raise TypeError(f"{path}: a key of type {type(key).__name__} cannot be part of a checkpoint")
            made.append((key, self.pack(value, _join(path, key))))
        if all(type(key) is str and not key.startswith(_TAG) for key, _ in made):
            return dict(made)
        return {f"{_TAG}dict": made}

    def _name(self, tensor: Tensor, path: str) -> str:
        """The name of a tensor in the file: that of the first path at which it occurs."""
        if tensor.layout is not torch.strided or tensor.dtype not in _DTYPES:
            raise TypeError(f"{path}: a tensor of {tensor.dtype}, {tensor.layout} cannot be part of a checkpoint")
        identity = (tensor.data_ptr(), tensor.dtype, tensor.shape, tensor.stride(), tensor.device)
        if not tensor.numel() or identity not in self.names:
            while path in self.tensors:  # `a.b` may be one key or two
                path += "'"
            self.tensors[path] = tensor
            self.names[identity] = path
            return path
        return self.names[identity]


def _unpack(value: Any, tensors: dict[str, Tensor], used: set[str], where: str) -> Any:
    if isinstance(value, list):
        return [_unpack(one, tensors, used, where) for one in value]
    if not isinstance(value, dict):
        return value
    if len(value) != 1 or not (tag := next(iter(value))).startswith(_TAG):
        return {key: _unpack(one, tensors, used, where) for key, one in value.items()}
    match tag[1:], value[tag]:
        case "float", str(number):
            return float(number)
        case "tuple", list(row):
            return tuple(_unpack(row, tensors, used, where))
        case "dict", list(items):
            return {key: _unpack(one, tensors, used, where) for key, one in items}
        case "tensor" | "array" as kind, str(name):
            if name not in tensors:
                raise BadInput(f"{name} is missing", where=where, remedy=_REMEDY)
            used.add(name)
            return tensors[name] if kind == "tensor" else tensors[name].numpy().copy()
    raise BadInput(f"{tag} means nothing here", where=where, remedy=_REMEDY)


def _safetensors(tensors: Mapping[str, Tensor]) -> Iterator[bytes | memoryview]:
    """The bytes of a safetensors file in pieces: length of the header, header, then one tensor after the other.

    The library's own writer needs all bytes at once, or bypasses `disk`.
    """
    header: dict[str, Any] = {}
    at = 0
    # Wide types first, as the library does: every tensor then begins at a multiple of its width.
    order = sorted(tensors, key=lambda key: (-tensors[key].element_size(), key))
    for key in order:
        tensor, start, at = tensors[key], at, at + tensors[key].nbytes
        header[key] = {"dtype": _DTYPES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [start, at]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    yield len(text).to_bytes(8, "little") + text
    for key in order:
        if tensors[key].numel():
            flat = tensors[key].detach().cpu().contiguous().reshape(-1).view(torch.uint8)
            yield flat.numpy().data


def _join(path: str, key: object) -> str:
    return f"{path}.{key}" if path else str(key)


def _require_file(path: Path) -> Path:
    if not path.is_file():
        raise BadInput("no such file", where=str(path), remedy=_REMEDY)
    return path


def _kind(value: Any) -> str:
    return f"{list(value.shape)} {value.dtype}" if isinstance(value, Tensor) else type(value).__name__
