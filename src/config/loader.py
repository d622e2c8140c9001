"""Loads config files: merges in `extends:`, applies `--set`, checks every setting.

A config may say `extends: other.yaml`, a path relative to the file that says it. Mappings merge deeply, everything else
replaces what the extended file says, and an empty mapping clears the section. `--set optimizer.epochs=2` then overrides
single settings.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from functools import lru_cache, reduce
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import ValidationError

from ..core.defaults import SEED_POOL_FACTS
from ..core.errors import BadInput
from ..core.files import HOME, atomic_write, explain_read_errors, read_noted, real_path, sha256_file, shipped, sidecar
from ..core.model_files import base_sha256
from ..core.paths import EFFECTIVE_CONFIG
from .judge_config import DefaultConfig
from .schema import Section, invalid_setting
from .train_config import TrainConfig

DEFAULT = Path("configs/default.yaml")
EXTENDS = "extends"

Model = TypeVar("Model", bound=Section)


def load_config(path: Path = DEFAULT) -> DefaultConfig:
    """The judge settings: the user's own file if there is one, else the one in the package."""
    return load(path, DefaultConfig)


def load_train_config(path: Path, overrides: Sequence[str] | None = None) -> TrainConfig:
    """A training config with `--set` overrides (`key.path=value`) applied."""
    return load(path, TrainConfig, overrides)


def stored_config(settings: Mapping[str, Any], where: str) -> TrainConfig:
    """The config that a seal or a report holds. Refuses one of a version that had other settings."""
    try:
        return TrainConfig.model_validate(settings)
    except ValidationError as error:
        keys = ", ".join(".".join(map(str, one["loc"])) for one in error.errors())
        what = f"was trained by a version of AskGate with other settings ({keys})"
        raise BadInput(what, where=where, remedy="train again with this version") from None


def in_this_version(config: Section, stored: Mapping[str, Any]) -> dict[str, Any]:
    """Stored settings, converted to this version: without settings that were removed, and with new ones."""
    settings = config.model_dump(mode="json")
    for key in settings.keys() & stored.keys():
        part = getattr(config, key)
        both = isinstance(part, Section) and isinstance(stored[key], Mapping)
        settings[key] = in_this_version(part, stored[key]) if both else stored[key]
    return settings


def load(path: Path, model: type[Model], overrides: Sequence[str] | None = None) -> Model:
    """The effective config as a checked object. Raises BadInput that names the key at fault."""
    chain = _chain(path)
    content = with_overrides(_merged(chain), overrides)
    try:
        return model.model_validate(content)
    except ValidationError as error:
        keys, ours = [text.partition("=")[0] for text in overrides or ()], HOME / path
        raise invalid_setting(error, model, chain, keys, read_yaml(ours) if ours.is_file() else {}) from None


def with_overrides(settings: Any, overrides: Sequence[str] | None) -> Any:
    """Settings with `--set` overrides applied, not checked.

    >>> with_overrides({"steps": 100, "eval": {"n": 5}}, ["steps=10", "eval.greedy=true"])
    {'steps': 10, 'eval': {'n': 5, 'greedy': True}}
    """
    for key, value in dict(_parse_override(text) for text in overrides or ()).items():
        for part in reversed(key.split(".")):
            value = {part: value}
        settings = _merge(settings, value)
    return settings


@contextmanager
def naming_keys(path: Path, config: TrainConfig) -> Iterator[None]:
    """Adds the config's path to a BadInput that names one of its settings: `kl_coef` becomes `own.yaml: kl_coef`."""
    try:
        yield
    except BadInput as error:
        where = error.where
        if where in config.strategy_options:
            where = f"strategy_options.{where}"
        if where.split(".")[0] not in TrainConfig.model_fields:
            raise
        raise BadInput(error.what, where=f"{path}: {where}", remedy=error.remedy) from error


def write_effective(config: TrainConfig, path: Path = EFFECTIVE_CONFIG) -> None:
    """Writes every setting as it takes effect, defaults included. The file can be loaded as a config again."""
    with atomic_write(path) as handle:
        handle.write(effective_text(config.model_dump(mode="json")))


def effective_text(settings: Any) -> bytes:
    """Settings as `write_effective` writes them: without a comment, each once."""
    return yaml.safe_dump(settings, sort_keys=False, allow_unicode=True).encode()


def read_yaml(path: Path) -> Any:
    """Contents of a YAML file, merged over the files that it extends. Not checked against a schema."""
    return _merged(_chain(path))


def config_files(path: Path, inside: bool = False) -> list[Path]:
    """The config file and every file that it extends, directly or through others: all files with its settings.

    `inside`: refuse a file outside the project folder, without reading it.
    """
    return [file for file, _ in _chain(path, inside)]


def config_fingerprint(path: Path, checksum: Callable[[Path], str] = lambda file: sha256_file(shipped(file))) -> str:
    """SHA-256 of a config file; for one that extends others, of the list of all their checksums."""
    sums = [checksum(file) for file in config_files(path)]
    return sums[0] if len(sums) == 1 else sha256("\n".join(sums).encode()).hexdigest()


def source_files(config: TrainConfig, digest: Callable[[Path], str] = sha256_file) -> dict[str, str]:
    """SHA-256 of model, pool, held-out set and weights of a run, by the config key that names each.

    A hub model must have been loaded once. With `sha256_read` as `digest`: SHA-256 of the bytes that this process read.
    """
    files = {"reward.weights": config.reward.weights, "reward.unstable": config.reward.unstable_list}
    return {
        "base_model": base_sha256(config.base_model, digest),
        "seed_pool": digest(config.seed_pool),
        SEED_POOL_FACTS: digest(sidecar(config.seed_pool)),
        "shadow_set": digest(config.shadow_set),
        **{key: digest(shipped(path)) for key, path in files.items() if path},
    }


def _chain(path: Path, inside: bool = False) -> list[tuple[Path, Any]]:
    """The file and its ancestors, nearest first, each with its contents without `extends`."""
    chain: list[tuple[Path, Any]] = []
    visited: set[Path] = set()
    while True:
        visited.add(real_path(shipped(path)))
        content = _read_file(path)
        if chain and not isinstance(content, dict):
            what = f"{path} has no settings to extend"
            raise BadInput(what, where=f"{chain[-1][0]}: {EXTENDS}", remedy="name a config file")
        chain.append((path, content))
        if not isinstance(content, dict) or EXTENDS not in content:
            return chain
        parent = content.pop(EXTENDS)
        where = f"{path}: {EXTENDS}"
        if not isinstance(parent, str) or not parent:
            raise BadInput("it is not the name of a file", where=where, remedy="write it like extends: quickstart.yaml")
        path = Path(os.path.normpath(path.parent / parent))
        if inside and (path.is_absolute() or ".." in path.parts):
            raise BadInput(f"{path} is outside the folder", where=where, remedy="name a file inside it")
        if not shipped(path).is_file():
            raise BadInput(f"there is no {path}", where=where, remedy="give a path relative to this file")
        if real_path(shipped(path)) in visited:
            raise BadInput(f"{path} extends this file in turn", where=where, remedy="remove one of the two lines")


def _merged(chain: list[tuple[Path, Any]]) -> Any:
    return reduce(_merge, [content for _, content in reversed(chain)])


def _merge(base: Any, over: Any) -> Any:
    """
    >>> _merge({"a": {"x": 1, "y": 2}, "b": [1, 2]}, {"a": {"y": 3}, "b": [4]})
    {'a': {'x': 1, 'y': 3}, 'b': [4]}
    >>> _merge({"a": {"x": 1}}, {"a": {}})  # an empty mapping clears the section
    {'a': {}}
    """
    if not isinstance(base, Mapping) or not isinstance(over, Mapping):
        return over
    return {**base, **{key: _merge(base.get(key), value) if value else value for key, value in over.items()}}


def _parse_override(text: str) -> tuple[str, Any]:
    """
    >>> _parse_override("optimizer.critic_lr=1e-4")
    ('optimizer.critic_lr', 0.0001)
    """
    key, equals, value = text.partition("=")
    if not equals or not all(key.split(".")):
        raise BadInput("it is not KEY=VALUE", where="--set", remedy="write it like --set optimizer.epochs=2")
    try:
        return key, yaml.load(value, _Loader)
    except (yaml.YAMLError, RecursionError, ValueError):
        raise BadInput("the value is not valid YAML", where=f"--set {key}", remedy="put it in quotes") from None


class _Loader(yaml.SafeLoader):
    """YAML as people write it: `1e-5` is a number, and a key that occurs twice is a mistake."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if key.value in seen:
                raise yaml.MarkedYAMLError(problem=f"{key.value} occurs twice", problem_mark=key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"^[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+$"), list("-+0123456789")
)


@lru_cache(maxsize=64)
def _parse(text: str) -> Any:
    """Parses YAML, cached because a round reads the same few files a hundred times. Not with libyaml, which crashes on
    deep nesting."""
    return yaml.load(text, _Loader)


def _read_file(name: Path) -> Any:
    try:
        with explain_read_errors(name):
            return deepcopy(_parse(read_noted(shipped(name)).decode()))
    except yaml.MarkedYAMLError as error:
        line = f":{error.problem_mark.line + 1}" if error.problem_mark else ""
        raise BadInput(f"not valid YAML ({error.problem})", where=f"{name}{line}", remedy="correct the file") from None
    except (yaml.YAMLError, UnicodeDecodeError):
        raise BadInput("not a YAML text in UTF-8", where=str(name), remedy="correct the file") from None
    except (RecursionError, ValueError):
        what = "is nested too deeply, or has a number with thousands of digits"
        raise BadInput(what, where=str(name), remedy="correct the file") from None
