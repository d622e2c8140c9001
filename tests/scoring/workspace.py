"""A working folder with a small pool and a judge server, and the command line run in it."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from askgate_env.types import Sample
from src.cli import main
from src.core.jsonl import write_records
from src.scoring.ledger import lines
from src.scoring.types import CallEntry, ScoringEntry
from tests.data.samples import make_sample
from tests.scoring.judging import KEY
from tests.scoring.server import Act, JudgeServer

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = 12
LATENCY_S = 0.03
NOBODY = "http://127.0.0.1:9/v1"
"""The judge until `ask` names another."""


def uneven_latency(n: int) -> Act:
    """Every other reply takes longer, as a real service's do."""
    return "slow" if n % 2 else "ok"


def samples(count: int = SAMPLES) -> list[Sample]:
    """Samples of different lengths."""
    return [
        make_sample(f"sample-{number}", f"question {number}?", answer=f"answer {number}" + " indeed" * (number % 4))
        for number in range(count)
    ]


@dataclass(frozen=True)
class Outcome:
    code: object
    out: str
    err: str

    def figures(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.out)
        return found


@dataclass
class Workspace:
    """A scoring folder. `environment` has all SCORER_*, RUN_MODE and REWARD_LIVE_MODE variables of the commands."""

    folder: Path
    capture: pytest.CaptureFixture[str]
    patch: pytest.MonkeyPatch
    environment: dict[str, str] = field(
        default_factory=lambda: {
            "RUN_MODE": "prod",
            "REWARD_LIVE_MODE": "1",
            "SCORER_PROVIDER": "custom",
            "SCORER_API_KEY": KEY,
            "SCORER_BASE_URL": NOBODY,
        }
    )

    def __post_init__(self) -> None:
        self.patch.chdir(self.folder)
        self.configure({})
        self.write_pool(samples())

    def configure(self, limits: dict[str, Any], votes: dict[str, Any] | None = None, **facts: Any) -> None:
        """Writes the shipped config with prices for the server and short limits."""
        found = yaml.safe_load((ROOT / "configs/default.yaml").read_text(encoding="utf-8"))
        row = {**found["scoring"]["providers"]["vllm"], "model": "tiny"}
        found["scoring"]["providers"]["custom"] = {**row, "usd_in": 1000.0, "usd_out": 1000.0}
        found["scoring"]["limits"] |= {"tries": 3, "timeout_s": 10.0, **limits}
        found["scoring"]["votes"] |= votes or {}
        (self.folder / "configs").mkdir(exist_ok=True)
        (self.folder / "configs/default.yaml").write_text(yaml.safe_dump(found | facts), encoding="utf-8")

    def write_pool(self, wanted: list[Sample]) -> None:
        with open(self.folder / "pool.jsonl", "wb") as handle:
            write_records(handle, wanted)

    def ask(self, server: JudgeServer) -> None:
        """Makes that server the judge."""
        self.environment["SCORER_BASE_URL"] = server.url

    @property
    def port(self) -> int:
        """Port of the current judge: another server on the same port is the same judge."""
        return urlsplit(self.environment["SCORER_BASE_URL"]).port or 0

    def run(self, *arguments: str) -> Outcome:
        self.capture.readouterr()
        with self.patch.context() as patch:
            for name in [name for name in os.environ if re.match(r"SCORER_|RUN_MODE|REWARD_LIVE_MODE", name)]:
                patch.delenv(name)
            for name, value in self.environment.items():
                patch.setenv(name, value)
            with pytest.raises(SystemExit) as left:
                main(list(arguments))
        out, err = self.capture.readouterr()
        # A crash has the exit code of a refusal.
        assert "Traceback (most recent call last)" not in err, err
        return Outcome(left.value.code, out, err)

    def score(self, *flags: str) -> Outcome:
        return self.run("score", "pool.jsonl", "--json", *flags)

    def score_honestly(self) -> None:
        with JudgeServer(uneven_latency, latency_s=LATENCY_S) as server:
            self.ask(server)
            assert self.score().code == 0

    def failed_checks(self, *flags: str) -> set[str]:
        """Failed checks of `assert_not_simulated`, without scopes; empty if it passes. The exit code is 0 or 2."""
        found = self.run("assert_not_simulated", "--cache-hit-lt", "0.90", "--json", *flags)
        failed = {one["name"].split("[")[0] for one in found.figures()["checks"] if not one["passed"]}
        assert found.code == (2 if failed else 0)
        return failed

    @property
    def ledger(self) -> Path:
        return self.folder / "reports/rc1/scoring_ledger.jsonl"

    def calls(self) -> list[CallEntry]:
        return [line.entry for line in lines(self.ledger) if isinstance(line.entry, CallEntry)]

    def scorings(self) -> list[ScoringEntry]:
        return [line.entry for line in lines(self.ledger) if isinstance(line.entry, ScoringEntry)]

    def scores(self, name: str = "reports/rc1/scores.jsonl") -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.folder / name).read_text(encoding="utf-8").splitlines()]
