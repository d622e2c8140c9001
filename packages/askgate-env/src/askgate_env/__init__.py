"""AskGate's environment: tasks in which a policy uses tools, and asks a clarifying question only when it must."""

from typing import Any

__version__ = "0.1.0"
__all__ = ["AskGateEnv", "AskGateHarness", "AskGateTaskset"]
"""What verifiers looks for in the package `askgate_env`, imported when it does."""


def __getattr__(name: str) -> Any:
    if name in __all__:
        from .adapters import verifiers_env

        return getattr(verifiers_env, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
