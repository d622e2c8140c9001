"""How episodes are made: how long a policy may talk, with which tools, how many at a time."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.defaults import TOOLS


@dataclass(frozen=True)
class Limits:
    """How long a policy may talk."""

    max_turns: int
    max_new_tokens: int
    """In one turn."""
    max_tokens: int
    """In one episode, all sides together."""


@dataclass(frozen=True)
class Talk(Limits):
    max_turns: int = 4
    max_new_tokens: int = 128
    max_tokens: int = 1024
    temperature: float = 1.0
    slots: int = 64
    """Episodes that run at the same time."""
    tools: tuple[str, ...] = TOOLS
