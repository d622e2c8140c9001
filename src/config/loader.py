"""A config file as a checked object, or a refusal that names the path of the key at fault."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from ..core.errors import BadInput
from ..core.files import atomic_write
from ..core.shipped import shipped
from .misfit import refusal
from .schema import Config
from .train import TrainConfig

DEFAULT = Path("configs/default.yaml")
EFFECTIVE = Path("reports/config_effective.yaml")

Model = TypeVar("Model", bound=BaseModel)


def load_config(path: Path = DEFAULT) -> Config:
    """The user's own file of that name where there is one, else the one that came with the package."""
    return _checked(path, Config)


def load_train_config(path: Path) -> TrainConfig:
    """The same for a training config."""
    return _checked(path, TrainConfig)


def _checked(path: Path, model: type[Model]) -> Model:
    found = read_yaml(path)
    try:
        return model.model_validate(found)
    except ValidationError as error:
        raise refusal(error, model, path) from None


def write_effective(config: TrainConfig, path: Path = EFFECTIVE) -> None:
    """Every setting as it takes effect, the ones nobody wrote included. It loads as a config again."""
    with atomic_write(path) as handle:
        text = yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False, allow_unicode=True)
        handle.write(text.encode())


class _Loader(yaml.SafeLoader):
    """YAML as people write it: `1e-5` is a number, and a key that stands twice is a mistake."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if key.value in seen:
                raise yaml.MarkedYAMLError(problem=f"{key.value} stands twice", problem_mark=key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"^[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+$"), list("-+0123456789")
)


def read_yaml(name: Path) -> Any:
    """Whatever a YAML file says, unchecked."""
    try:
        return yaml.load(shipped(name).read_text(encoding="utf-8"), _Loader)
    except FileNotFoundError:
        raise BadInput("no such file", where=str(name), remedy="check the path") from None
    except OSError as error:
        raise BadInput(f"cannot be read ({error.strerror})", where=str(name), remedy="check the path") from None
    except yaml.MarkedYAMLError as error:
        line = f":{error.problem_mark.line + 1}" if error.problem_mark else ""
        raise BadInput(f"not valid YAML ({error.problem})", where=f"{name}{line}", remedy="correct the file") from None
    except (yaml.YAMLError, UnicodeDecodeError):
        raise BadInput("not a YAML text in UTF-8", where=str(name), remedy="correct the file") from None
