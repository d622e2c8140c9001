"""`python -m src.evaluation.shadow_run`: entry point of `askgate shadow-run`."""

from __future__ import annotations

from ..reward.shadow_run import shadow_run

__all__ = ["shadow_run"]

if __name__ == "__main__":
    from ..cli import run_verb

    run_verb("shadow_run")
