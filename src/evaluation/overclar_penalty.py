"""`python -m src.evaluation.overclar_penalty`: entry point of `askgate overclar-penalty`."""

from __future__ import annotations

from askgate_env.reward import over_clarification_penalty

__all__ = ["over_clarification_penalty"]

if __name__ == "__main__":
    from ..cli import run_verb

    run_verb("overclar_penalty")
