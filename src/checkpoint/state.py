"""The state of a run as two plain files: tensors in `NAME.safetensors`, the rest in `NAME.json`.

Neither can run code when it is loaded. What comes back is what went in: int keys, tuples and numpy arrays keep their
kind, floats their last bit, integers any size. A value of another kind is refused by its path when it is saved, and a
key or a shape that does not fit when it is loaded.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.errors import BadInput
from ..runtime.disk import explain_disk_errors, read_blocks, write_file

if TYPE_CHECKING:
    from torch import Tensor

_REMEDY = "use the config, model and version that the checkpoint was saved with"
_MARK = "$"
"""Begins the one key of a JSON object that stands for something JSON does not have."""


def pack_state(folder: Path, tree: Mapping[Any, Any]) -> None:
    """Two new files in `folder`. Tensors that are the same one are written once."""
    tensors: dict[str, Tensor] = {}
    plain = _Packer(tensors).plain(tree, "")
    write_file(folder / "state.json", [json.dumps(plain, allow_nan=False, separators=(",", ":")).encode()])
    write_file(folder / "state.safetensors", _safetensors(tensors))


def unpack_state(folder: Path) -> dict[Any, Any]:
    """What `pack_state` was given, tensors on the CPU."""
    from safetensors import SafetensorError, safe_open

    where = folder / "state.json"
    try:
        with explain_disk_errors(where):
            plain = json.loads(b"".join(read_blocks(_there(where))))
    except (ValueError, RecursionError) as error:
        raise BadInput(f"not valid JSON ({error})", where=str(where), remedy=_REMEDY) from None
    where = folder / "state.safetensors"
    try:
        with explain_disk_errors(where), safe_open(_there(where), framework="pt", device="cpu") as file:
            # Copies: the library's tensors are windows on the file, and a file can be cut short under a long run.
            tensors = {key: file.get_tensor(key).clone() for key in file.keys()}  # noqa: SIM118
    except SafetensorError as error:
        raise BadInput(f"not a whole safetensors file ({error})", where=str(where), remedy=_REMEDY) from None
    used: set[str] = set()
    tree = _unpack(plain, tensors, used, f"{where}")
    if unused := tensors.keys() - used:
        raise BadInput(f"holds {min(unused)}, which state.json does not know", where=str(where), remedy=_REMEDY)
    if not isinstance(tree, dict):
        raise BadInput("holds no state", where=str(folder / "state.json"), remedy=_REMEDY)
    return tree


def same_layout(found: Any, like: Any, where: str, path: str = "") -> None:
    """Dicts have the same keys, tensors the same shape and type. What is neither in `like` may be anything."""
    place = f"{where}: {path}" if path else where
    if isinstance(like, Mapping):
        if not isinstance(found, Mapping):
            raise BadInput(f"is {_kind(found)}, not a table", where=place, remedy=_REMEDY)
        if missing := [key for key in like if key not in found]:
            raise BadInput(f"{missing[0]} is missing", where=place, remedy=_REMEDY)
        for key in found:
            if key not in like:
                raise BadInput(f"{key} has no place in this run", where=place, remedy=_REMEDY)
            same_layout(found[key], like[key], where, _under(path, key))
    elif _is_tensor(like) and _kind(found) != _kind(like):
        what = f"the checkpoint has {_kind(found)}, this run needs {_kind(like)}"
        raise BadInput(what, where=place, remedy=_REMEDY)


class _Packer:
    def __init__(self, tensors: dict[str, Tensor]) -> None:
        self.tensors = tensors
        self.names: dict[object, str] = {}

    def plain(self, value: Any, path: str) -> Any:
        if value is None or isinstance(value, bool | str):
            return value
        if type(value) is int:
            return value
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else {f"{_MARK}float": str(float(value))}
        if isinstance(value, Mapping):
            return self._table(value, path)
        if isinstance(value, tuple):
            return {f"{_MARK}tuple": self._row(value, path)}
        if isinstance(value, list):
            return self._row(value, path)
        if _is_tensor(value):
            return {f"{_MARK}tensor": self._name(value, path)}
        if _is_array(value):
            import torch

            return {f"{_MARK}array": self._name(torch.from_numpy(value.copy()), path)}
        raise TypeError(f"{path}: a {type(value).__name__} cannot be part of a checkpoint")

    def _table(self, table: Mapping[Any, Any], path: str) -> Any:
        made = []
        for key, value in table.items():
            if type(key) not in (str, int):
                raise TypeError(f"{path}: a key of type {type(key).__name__} cannot be part of a checkpoint")
            made.append((key, self.plain(value, _under(path, key))))
        if all(type(key) is str and not key.startswith(_MARK) for key, _ in made):
            return dict(made)
        return {f"{_MARK}dict": made}

    def _row(self, row: list[Any] | tuple[Any, ...], path: str) -> list[Any]:
        return [self.plain(value, _under(path, number)) for number, value in enumerate(row)]

    def _name(self, tensor: Tensor, path: str) -> str:
        import torch

        if tensor.layout is not torch.strided or tensor.dtype not in _codes():
            raise TypeError(f"{path}: a tensor of {tensor.dtype}, {tensor.layout} cannot be part of a checkpoint")
        same = (tensor.data_ptr(), tensor.dtype, tensor.shape, tensor.stride(), tensor.device)
        if not tensor.numel() or same not in self.names:
            while path in self.tensors:  # `a.b` may be one key or two
                path += "'"
            self.tensors[path] = tensor
            self.names[same] = path
            return path
        return self.names[same]


def _unpack(value: Any, tensors: dict[str, Tensor], used: set[str], where: str) -> Any:
    if isinstance(value, list):
        return [_unpack(one, tensors, used, where) for one in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1 and (tag := next(iter(value))).startswith(_MARK):
        held = value[tag]
        match tag[1:]:
            case "float" if isinstance(held, str):
                return float(held)
            case "tuple" if isinstance(held, list):
                return tuple(_unpack(held, tensors, used, where))
            case "dict" if isinstance(held, list):
                return {key: _unpack(one, tensors, used, where) for key, one in held}
            case "tensor" | "array" if isinstance(held, str):
                if held not in tensors:
                    raise BadInput(f"{held} is missing", where=where, remedy=_REMEDY)
                used.add(held)
                return tensors[held] if tag[1:] == "tensor" else tensors[held].numpy().copy()
        raise BadInput(f"{tag} means nothing here", where=where, remedy=_REMEDY)
    return {key: _unpack(one, tensors, used, where) for key, one in value.items()}


def _safetensors(tensors: Mapping[str, Tensor]) -> Iterator[bytes | memoryview]:
    """The file in pieces: length of the header, header, then the bytes of one tensor after the other.

    The library's own writer wants all bytes at once, or writes past `disk`.
    """
    import torch

    header: dict[str, Any] = {}
    at = 0
    # Wide types first, as the library does: every tensor then begins at a multiple of its width.
    order = sorted(tensors, key=lambda key: (-tensors[key].element_size(), key))
    for key in order:
        size = tensors[key].numel() * tensors[key].element_size()
        header[key] = {
            "dtype": _codes()[tensors[key].dtype],
            "shape": list(tensors[key].shape),
            "data_offsets": [at, at + size],
        }
        at += size
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    yield len(text).to_bytes(8, "little") + text
    for key in order:
        if tensors[key].numel():
            flat = tensors[key].detach().cpu().contiguous().reshape(-1).view(torch.uint8)
            yield flat.numpy().data


def _codes() -> dict[Any, str]:
    import torch

    return {
        torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16",
        torch.int64: "I64", torch.int32: "I32", torch.int16: "I16", torch.int8: "I8",
        torch.uint64: "U64", torch.uint32: "U32", torch.uint16: "U16", torch.uint8: "U8", torch.bool: "BOOL",
    }  # fmt: skip


def _under(path: str, key: object) -> str:
    return f"{path}.{key}" if path else str(key)


def _there(path: Path) -> Path:
    if not path.is_file():
        raise BadInput("no such file", where=str(path), remedy=_REMEDY)
    return path


def _is_tensor(value: Any) -> bool:
    import torch

    return isinstance(value, torch.Tensor)


def _is_array(value: Any) -> bool:
    import numpy

    return isinstance(value, numpy.ndarray)


def _kind(value: Any) -> str:
    return f"{list(value.shape)} {value.dtype}" if _is_tensor(value) else type(value).__name__
