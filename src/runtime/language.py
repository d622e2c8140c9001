"""The language of the terminal: $ASKGATE_LANG (en or zh), else that of the system. Errors and logs are in English."""

from __future__ import annotations

import os

from askgate_env.types import LANGS, Lang

VARIABLE = "ASKGATE_LANG"


def terminal_language() -> Lang:
    wanted = os.environ.get(VARIABLE, "")
    system = os.environ.get("LC_ALL") or os.environ.get("LC_MESSAGES") or os.environ.get("LANG") or ""
    default: Lang = "zh" if system.startswith("zh") else "en"
    return next((lang for lang in LANGS if lang == wanted), default)


def in_language(english: str, chinese: str) -> str:
    """The text in the language of the terminal; in English where there is no Chinese one."""
    return chinese if chinese and terminal_language() == "zh" else english
