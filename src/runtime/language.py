"""The language of the terminal: $ASKGATE_LANG (en or zh, also zh_CN.UTF-8 or cn), else that of the system. Logs
are in English, and so are errors without a text in `cli/errors_zh.yaml`."""

from __future__ import annotations

import os

from askgate_env.types import LANGS, Lang

VARIABLE = "ASKGATE_LANG"


def terminal_language() -> Lang:
    wanted = language_of(os.environ.get(VARIABLE, ""))
    system = os.environ.get("LC_ALL") or os.environ.get("LC_MESSAGES") or os.environ.get("LANG") or ""
    default: Lang = "zh" if system.startswith("zh") else "en"
    return next((lang for lang in LANGS if lang == wanted), default)


def language_of(name: str) -> str:
    """The code of a language by one of its usual names.

    >>> language_of("zh_CN.UTF-8"), language_of("cn"), language_of("EN"), language_of("")
    ('zh', 'zh', 'en', '')
    """
    code = name.lower().replace("_", "-").partition(".")[0].partition("-")[0]
    return "zh" if code == "cn" else code


def in_language(english: str, chinese: str) -> str:
    """The text in the language of the terminal; in English where there is no Chinese one."""
    return chinese if chinese and terminal_language() == "zh" else english
