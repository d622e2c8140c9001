"""`python -m src.evaluation.shadow_run`: door to `askgate shadow_run`."""

from __future__ import annotations

if __name__ == "__main__":
    from ..cli import door

    door("shadow_run")
