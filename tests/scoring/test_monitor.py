"""Figures of the service while samples are scored."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import pytest

from src.runtime import tensorboard
from src.scoring import monitor as monitor_module
from src.scoring.judge import Tally
from src.scoring.limiter import Limiter
from src.scoring.monitor import Monitor
from tests.scoring.judging import limits, provider
from tests.scoring.virtual_clock import ManualClock
from tests.scoring.workspace import ROOT


def test_points_have_the_figures_of_the_last_minute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock, tally = ManualClock(), Tally(provider("http://x/v1"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(monitor_module.time, "monotonic", clock)
    with Monitor(tally, Limiter(None, limits())) as watch:
        clock.now += 100
        watch.tick()
        for number in range(40):
            clock.now += 0.5
            tally.calls[("rate_limited", "server_error", "ok", "bad_reply")[number % 4]] += 1
            tally.latency_ms += 500.0 * (number % 4 > 1)
            watch.tick()
        clock.now += 40
        watch.tick()
        clock.now += 10
        watch.tick()
        clock.now += 60
    *_, busy, half_gone, quiet = watch.figures()["points"]
    assert (busy["seconds"], half_gone["seconds"], quiet["seconds"]) == (160, 170, 230)
    assert busy["rps"] == pytest.approx(40 / 60)
    assert busy["429_rate"] == pytest.approx(0.25)
    assert busy["avg_latency"] == pytest.approx(0.5)
    assert busy["concurrency"] == 2
    assert 0 < half_gone["rps"] < busy["rps"]
    assert (quiet["rps"], quiet["429_rate"], quiet["avg_latency"]) == (0, 0, 0)


def test_torch_is_hidden_from_the_thread_that_opens_curves_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread may import it meanwhile."""
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    with tensorboard._WithoutTorch(), ThreadPoolExecutor(1) as other:
        assert other.submit(find_spec, "torch").result()
        with pytest.raises(ModuleNotFoundError, match="not needed for curves"):
            find_spec("torch")
    assert find_spec("torch")


def test_scoring_with_curves_does_not_load_torch(tmp_path: Path) -> None:
    """TensorBoard would import torch, which takes seconds."""
    code = (
        "import sys, src.scoring.score_pool, src.scoring.probe; from pathlib import Path\n"
        "from src.runtime.tensorboard import EventFile\n"
        "file = EventFile(Path(sys.argv[1]), 'x')\n"
        "file.add(1, {'calls': 2.0})\n"
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code, tmp_path], cwd=ROOT, check=False).returncode == 0
    assert b"calls" in next(tmp_path.iterdir()).read_bytes()
