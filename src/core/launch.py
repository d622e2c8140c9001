"""`python -m src.core.launch --config configs/train_local.yaml [--resume]`: door to `askgate train`."""

from __future__ import annotations

if __name__ == "__main__":
    from ..cli import door

    door("train")
