"""`python -m src.core.launch --config configs/train_local.yaml [--resume]`: entry point of `askgate train`."""

from __future__ import annotations

if __name__ == "__main__":
    from ..cli import run_verb

    run_verb("train")
