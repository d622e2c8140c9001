"""Three consecutive KL alerts restore the weights of the last good checkpoint; the step count continues."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from src.callbacks.checkpoint import Checkpoints
from src.checkpoint.store import CheckpointStore
from src.core.api import Callback, Engine, StepResult
from src.engines.base import KLGuard
from src.engines.pure_pt import PurePT
from src.strategies.ppo import PPO
from tests.engines.toy import fingerprint, make_job


class PPOWithGivenKL(PPO):
    """PPO that reports the KL divergence given by the test."""

    def __init__(self, kls: list[float]) -> None:
        super().__init__()
        self.kls = kls

    def metrics(self) -> dict[str, float]:
        return {**super().metrics(), "kl": self.kls.pop(0)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        raise AssertionError("a roll-back leaves the strategy as it is")


def engine_with_kls(taught: Path, kls: list[float], good: list[Path]) -> PurePT:
    job = make_job(taught, PPOWithGivenKL(kls), steps=9, batch=16, lr=1e-2, kl_alert=0.5)
    return PurePT(replace(job, last_good=lambda before: good[-1] if good else None))


def test_three_consecutive_alerts_restore_the_good_weights(taught: Path, tmp_path: Path) -> None:
    good: list[Path] = []
    engine = engine_with_kls(taught, [0.1, 0.6, 0.6, 0.6, 0.1], good)
    engine.take_step()
    engine.save(tmp_path)
    good.append(tmp_path)
    kept = fingerprint(engine.learner)
    alerts = [engine.take_step().metrics["kl_alerts"] for _ in range(2)]
    assert alerts == [1, 2]
    assert fingerprint(engine.learner) != kept
    back = engine.take_step()
    assert fingerprint(engine.learner) == kept
    assert (back.step, back.metrics["rollbacks"], back.metrics["kl_alerts"]) == (4, 1, 0)
    after = engine.take_step()
    assert after.step == 5
    assert after.metrics["lr"] == pytest.approx(0.5 * back.metrics["lr"])
    assert after.episodes != back.episodes


def test_without_a_checkpoint_the_run_returns_to_the_base(taught: Path, caplog: pytest.LogCaptureFixture) -> None:
    engine = engine_with_kls(taught, [0.6, 0.6, 0.6], [])
    base = fingerprint(engine.learner)
    for _ in range(3):
        engine.take_step()
    assert fingerprint(engine.learner) == base
    assert engine.step == 3
    assert f"KL is 0.6, above 0.5 for 3 steps in a row; rolled back to {taught}, learning rate times 0.5" in caplog.text


class WeightsRecorder:
    """Records the weights after each step, and the KL that the next step measured for them."""

    def __init__(self) -> None:
        self.weights: list[str] = []
        self.kls: list[float] = []
        self.back: list[int] = []

    def on_start(self, engine: Any) -> None:
        self.weights.append(fingerprint(engine.learner))

    def on_step(self, engine: Any, result: StepResult) -> None:
        self.weights.append(fingerprint(engine.learner))
        self.kls.append(result.metrics["kl"])
        if result.metrics["rollbacks"] > len(self.back):
            self.back.append(result.step)

    def on_end(self, engine: Engine) -> None: ...


def test_a_run_never_rolls_back_to_breaching_weights(taught: Path, tmp_path: Path) -> None:
    level, recorder = 1e-3, WeightsRecorder()
    with CheckpointStore(tmp_path / "run", None, keep=2) as store:

        def last_good(before: int) -> Path | None:
            found = store.latest_good(before)
            return found.path if found else None

        job = make_job(taught, PPO(), steps=24, batch=16, lr=3e-2, kl_alert=level)
        watching: list[Callback] = [Checkpoints(store, 1, 30.0, {}), recorder]
        PurePT(replace(job, last_good=last_good)).fit(watching)
    assert len(recorder.back) > 1
    breached: set[str] = set()
    for step, kl in enumerate(recorder.kls, start=1):
        if kl > level:
            breached.add(recorder.weights[step - 1])
        if step in recorder.back:
            assert recorder.weights[step] not in breached, f"step {step}"
            assert step == len(recorder.kls) or recorder.kls[step] <= level, f"step {step}: out of the loop at once"


def test_alerts_must_be_consecutive() -> None:
    guard = KLGuard(0.5)
    assert not any(guard.record(kl) for kl in (0.6, 0.6, 0.5, 0.6, 0.6, 0.1))
    assert [guard.record(kl) for kl in (0.6, float("nan"), 0.6)] == [False, False, True]
    assert guard.lr_scale == 0.5


def test_the_alert_count_survives_a_resume() -> None:
    before, after = KLGuard(0.5), KLGuard(0.5)
    before.record(0.6)
    before.record(0.6)
    after.load_state_dict(before.state_dict())
    assert after.record(0.6)


def test_without_a_level_there_are_no_alerts() -> None:
    assert not any(KLGuard(None).record(99.0) for _ in range(5))
