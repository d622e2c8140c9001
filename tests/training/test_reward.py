"""A run whose reward has calibrated dimensions: their terms, the judge's calls and cost, and resume.

A resumed run ends with the same bits even if the judge would score differently by then.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml

from askgate_env.types import Episode
from src.core.jsonl import read_records
from src.reward.live_share import LiveScore
from src.scoring.prompt import DIMENSIONS
from tests.conftest import Askgate, Outcome
from tests.engines.killed import furnish
from tests.reproducible_metrics import reproducible_metrics
from tests.scoring.server import JudgeServer

from .tiny_run import write_config

ROOT = Path(__file__).resolve().parents[2]
RULES = {"support": 0.4, "form": 0.3, "economy": 0.3}
WITH_JUDGE = {"support": 0.3, "form": 0.3, "economy": 0.2, "live_logic": 0.2, "live_clarity": 0.0}
LIVE = {"live_mode": True, "reward": {"weights": "weights.json", "dimensions": 0.5, "live_share": 0.5}}


@pytest.fixture(scope="module")
def model_and_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Model and data; the policy has seen enough demonstrations to ask and answer, so that rewards differ."""
    folder = tmp_path_factory.mktemp("run")
    furnish(str(folder), steps=3, every_steps=1)
    return folder


@pytest.fixture
def place(model_and_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    shutil.copytree(model_and_data, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    for name in ("RUN_MODE", "REWARD_LIVE_MODE", "SCORER_PROVIDER", "SCORER_BASE_URL", "SCORER_MODEL"):
        monkeypatch.delenv(name, raising=False)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield tmp_path
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(False)


def weigh(place: Path, weights: dict[str, float]) -> None:
    (place / "weights.json").write_text(json.dumps({"weights": weights}))


def hire(server: JudgeServer, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes that server the judge, at a dollar per thousand tokens."""
    found = yaml.safe_load((ROOT / "configs/default.yaml").read_text(encoding="utf-8"))
    row = {**found["scoring"]["providers"]["vllm"], "model": "tiny"}
    found["scoring"]["providers"]["custom"] = {**row, "usd_in": 1000.0, "usd_out": 1000.0}
    found["scoring"]["limits"] |= {"tries": 1, "timeout_s": 10.0}
    (place / "configs").mkdir(exist_ok=True)
    (place / "configs/default.yaml").write_text(yaml.safe_dump(found), encoding="utf-8")
    monkeypatch.setenv("REWARD_LIVE_MODE", "1")
    monkeypatch.setenv("SCORER_PROVIDER", "custom")
    monkeypatch.setenv("SCORER_BASE_URL", server.url)


def trained(place: Path, steps: int = 3) -> list[list[Episode]]:
    return [list(read_records(place / f"logs/episodes/step_{step:05d}.jsonl", Episode)) for step in range(1, steps + 1)]


def metrics(place: Path) -> list[dict[str, Any]]:
    return [reproducible_metrics(json.loads(line)) for line in (place / "logs/metrics.jsonl").read_text().splitlines()]


def weights(place: Path) -> bytes:
    return (place / "checkpoints/local/final_model/model.safetensors").read_bytes()


def test_outcome_and_dimensions_sum_to_the_reward(place: Path, askgate: Askgate) -> None:
    weigh(place, {**RULES, "grounding": 0.0})
    config = write_config(place, reward={"weights": "weights.json", "dimensions": 0.5}, steps=1, batch_size=64)
    done = askgate("train", "--config", config)
    assert done.code == 0, done.err
    (episodes,) = trained(place, 1)
    terms = {"outcome", "overclar", *(f"dim/{name}" for name in RULES)}
    assert all(set(one.reward) == terms and not one.live for one in episodes)
    assert any(one.reward["dim/form"] or one.reward["dim/economy"] or one.reward["dim/support"] for one in episodes)
    (line,) = metrics(place)
    assert line["reward"] == pytest.approx(sum(line[f"reward/{term}"] for term in terms))
    assert not (place / ".askgate").exists(), "nobody was asked"


def test_no_judge_is_called_without_a_weighted_live_dimension(place: Path, askgate: Askgate) -> None:
    weigh(place, {**RULES, "live_logic": 0.0})
    done = askgate("train", "--config", write_config(place, steps=1, **LIVE))
    assert done.code == 0, done.err
    assert "no live dimension has a weight" in done.err
    assert not (place / ".askgate").exists()


def test_a_share_is_judged_and_its_cost_announced_first(
    place: Path, askgate: Askgate, monkeypatch: pytest.MonkeyPatch
) -> None:
    weigh(place, WITH_JUDGE)
    with JudgeServer() as server:
        hire(server, place, monkeypatch)
        done = askgate("train", "--config", write_config(place, **LIVE))
    assert done.code == 0, done.err
    cost = re.search(r"live scoring by custom of 50% of the episodes, for 3 steps in all: (.*); by", done.err)
    assert cost, done.err
    assert re.match(r"6 dialogues, 18 calls \(66 at most\), about \$\d.*, about [\d.]+ s ", cost[1])
    assert done.err.index("live scoring by") < done.err.index("evaluated after step 0")
    for step, batch in enumerate(trained(place), start=1):
        verdicts = {one.row: one for one in read_records(place / f"logs/judged/step_{step:05d}.jsonl", LiveScore)}
        assert [one.live for one in batch] == [row in verdicts for row in range(4)]
        assert len(verdicts) == 2
        for row, one in enumerate(batch):
            assert "dim/live_clarity" not in one.reward
            assert ("dim/live_logic" in one.reward) == (row in verdicts), "weights without stand-ins leave the rules"
            if row in verdicts:
                assert one.reward["dim/live_logic"] == pytest.approx(0.5 * 0.2 * verdicts[row].scores["logic"])
    assert [line["live_share"] for line in metrics(place)] == [0.5] * 3


def test_a_resumed_run_uses_the_stored_judge_scores(
    place: Path, askgate: Askgate, monkeypatch: pytest.MonkeyPatch
) -> None:
    weigh(place, WITH_JUDGE)
    config = write_config(place, steps=4, **LIVE)
    with JudgeServer() as server:
        hire(server, place, monkeypatch)
        assert askgate("train", "--config", config).code == 0
        port = server.port
    unbroken, whole = metrics(place), weights(place)

    for name in ("final_model", "step_00004", "step_00003"):
        shutil.rmtree(place / "checkpoints/local" / name)
    shutil.rmtree(place / ".askgate")  # as if the cache had expired
    with JudgeServer(port=port, scores=lambda body: dict.fromkeys(DIMENSIONS, 9)) as server:
        done = askgate("train", "--config", config, "--resume")
        asked = server.asked
    assert done.code == 0, done.err
    assert asked == 3, "the dialogue that the judge is tried on, and nothing of the steps"
    assert metrics(place) == unbroken
    assert weights(place) == whole


def test_disagreeing_votes_lower_the_weight_of_an_episode(
    place: Path, askgate: Askgate, monkeypatch: pytest.MonkeyPatch
) -> None:
    weigh(place, WITH_JUDGE)

    def torn(body: dict[str, Any]) -> dict[str, Any]:
        return dict.fromkeys(DIMENSIONS, 10 * (body["seed"] % 2))

    with JudgeServer(scores=torn) as server:
        hire(server, place, monkeypatch)
        done = askgate("train", "--config", write_config(place, steps=1, **LIVE))
    assert done.code == 0, done.err
    verdicts = list(read_records(place / "logs/judged/step_00001.jsonl", LiveScore))
    assert verdicts
    assert all(0 < one.weight < 0.5 for one in verdicts)


def assert_refused(done: Outcome, *said: str) -> None:
    assert done.code == 2, done
    for words in said:
        assert words in done.err


class TestRefused:
    def test_missing_weights(self, place: Path, askgate: Askgate) -> None:
        config = write_config(place, reward={"weights": "none.json", "dimensions": 0.3})
        assert_refused(
            askgate("train", "--config", config),
            "none.json: cannot be read (No such file or directory)",
            "run weight-calib",
        )
        assert not (place / "logs").exists()

    def test_missing_list_of_unstable_samples(self, place: Path, askgate: Askgate) -> None:
        assert_refused(
            askgate("train", "--config", write_config(place, reward={"unstable": "none.jsonl"})), "none.jsonl"
        )
        assert not (place / "logs").exists()

    def test_a_judge_that_is_switched_off(self, place: Path, askgate: Askgate) -> None:
        weigh(place, WITH_JUDGE)
        done = askgate("train", "--config", write_config(place, **LIVE))
        assert_refused(done, "live_mode: is on, and REWARD_LIVE_MODE is off", "set REWARD_LIVE_MODE=1")
        assert not (place / "logs").exists()

    def test_a_judge_that_does_not_answer(self, place: Path, askgate: Askgate, monkeypatch: pytest.MonkeyPatch) -> None:
        weigh(place, WITH_JUDGE)
        with JudgeServer(plan=lambda n: "401") as server:
            hire(server, place, monkeypatch)
            done = askgate("train", "--config", write_config(place, **LIVE))
        assert_refused(done, "the judge gives no score: refused", "probe-scorer --live")
        assert not (place / "checkpoints").exists()

    def test_changed_weights_on_resume(self, place: Path, askgate: Askgate) -> None:
        weigh(place, RULES)
        config = write_config(place, steps=1, reward={"weights": "weights.json", "dimensions": 0.5})
        assert askgate("train", "--config", config).code == 0
        weigh(place, {**RULES, "support": 0.3, "form": 0.4})
        assert_refused(askgate("train", "--config", config, "--resume"), "reward.weights: the file is not what the run")


def test_a_failing_judge_stops_the_run_until_it_answers(
    place: Path, askgate: Askgate, monkeypatch: pytest.MonkeyPatch
) -> None:
    weigh(place, WITH_JUDGE)
    config = write_config(place, steps=5, **LIVE)
    with JudgeServer(plan=lambda n: "ok" if n < 9 else "500") as server:
        hire(server, place, monkeypatch)
        done = askgate("train", "--config", config)
        port = server.port
    assert_refused(done, "the judge scored nothing in 3 steps running", "resume with --resume")
    assert "which get its means of the calibration" in done.err
    assert metrics(place)[-1]["step"] == 3
    with JudgeServer(port=port):
        done = askgate("train", "--config", config, "--resume")
    assert done.code == 0, done.err
    live = [sum(one.live for one in batch) for batch in trained(place, 5)]
    assert live == [2, 0, 0, 2, 2]
