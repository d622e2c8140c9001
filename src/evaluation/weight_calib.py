"""`python -m src.evaluation.weight_calib`: entry point of `askgate weight-calib`."""

from __future__ import annotations

from ..reward.calibration import calibrate_weights

__all__ = ["calibrate_weights"]

if __name__ == "__main__":
    from ..cli import run_verb

    run_verb("weight_calib")
