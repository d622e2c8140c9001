"""A config file as a checked object, or a refusal that names the path of the key at fault."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from ..core.errors import BadInput
from ..core.shipped import shipped
from .schema import Config

DEFAULT = Path("configs/default.yaml")


def load_config(path: Path = DEFAULT) -> Config:
    """The user's own file of that name where there is one, else the one that came with the package."""
    found = read_yaml(path)
    try:
        return Config.model_validate(found)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(str(part) for part in first["loc"])
        raise BadInput(_what(first), where=f"{path}: {key}" if key else str(path), remedy="correct the file") from None


def read_yaml(name: Path) -> Any:
    """Whatever a YAML file says, unchecked."""
    try:
        return yaml.safe_load(shipped(name).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadInput("no such file", where=str(name), remedy="check the path") from None
    except OSError as error:
        raise BadInput(f"cannot be read ({error.strerror})", where=str(name), remedy="check the path") from None
    except yaml.MarkedYAMLError as error:
        line = f":{error.problem_mark.line + 1}" if error.problem_mark else ""
        raise BadInput(f"not valid YAML ({error.problem})", where=f"{name}{line}", remedy="correct the file") from None
    except (yaml.YAMLError, UnicodeDecodeError):
        raise BadInput("not a YAML text in UTF-8", where=str(name), remedy="correct the file") from None


def _what(error: Any) -> str:
    """The message without the value: somebody may have put a key there."""
    if error["type"] == "extra_forbidden":
        return "no such setting"
    return str(error["msg"])
