"""Poisons for the training config: it must have the required settings and name the files that the gates measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from msgspec.structs import replace

from askgate_env.reward import OVERCLAR_CAP
from askgate_env.types import Sample
from src.core.files import shipped
from src.core.jsonl import read_records, write_records
from src.eval.ablation import profile_plan
from src.gates.checks.config import config_findings
from src.gates.gate import PREFLIGHT
from src.scoring.prompt import DIMENSIONS
from src.scoring.providers import settings_for
from src.scoring.score_pool import ScoringJob, score_dialogues
from src.scoring.scores import Score, unstable_beside
from tests.checkouts import ROOT
from tests.gates.run_folder import current_context, edit_profile, judging

from .forged_run import caught
from .table import poison, twin

CONFIG, TRIAL = Path("configs/quickstart_gated.yaml"), Path("configs/quickstart_full.yaml")
ABLATION = Path("configs/quickstart_ablation.yaml")
ALPHA = yaml.safe_load((ROOT / "configs/quickstart.yaml").read_text(encoding="utf-8"))["reward"]["alpha"]
REWARD = {"weights": "configs/weights.json", "dimensions": 0.3, "alpha": ALPHA}


def reconfigure(config: Path = CONFIG, **changes: Any) -> None:
    found = yaml.safe_load(shipped(config).read_text(encoding="utf-8")) | changes
    config.write_text(yaml.safe_dump(found), encoding="utf-8")


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        pytest.param({"datasets": {"hotpotqa": 0.5, "strategyqa": 0.25, "gsm8k": 0.25}}, "datasets", id="mix"),
        pytest.param({"steps": 9}, "steps", id="steps"),
        pytest.param({"target_kl": 0.2}, "target_kl", id="target_kl above"),
        pytest.param({"target_kl": 0.001}, "target_kl", id="target_kl below"),
        pytest.param({"target_kl": None}, "target_kl", id="no target_kl"),
        pytest.param({"use_overclar_penalty": False}, "use_overclar_penalty", id="no penalty"),
        pytest.param({"reward": REWARD | {"alpha": 0.0}}, "reward.alpha", id="a penalty of nothing"),
        pytest.param({"reward": REWARD | {"alpha": 0.05}}, "reward.alpha", id="a weaker penalty"),
        pytest.param({"reward": REWARD | {"alpha": 0.6}}, "reward.alpha", id="a price that no ablation measured"),
        pytest.param({"reward": REWARD | {"outcome": 10.0}}, "reward.outcome", id="a price of a tenth"),
        pytest.param({"reward": REWARD | {"info": 0.9}}, "reward.info", id="a reward of asks that no ablation had"),
        pytest.param({"reward": REWARD | {"cap": 0}}, "reward.cap", id="a penalty that counts no ask"),
        pytest.param({"seed_pool": "data/other.jsonl"}, "seed_pool", id="a pool that no gate saw"),
        pytest.param(
            {"seed_pool": "data/rollouts/quickstart.jsonl"}, "seed_pool", id="the pool before it was balanced"
        ),
        pytest.param({"reward": {"alpha": ALPHA}}, "reward.weights", id="a reward without what was calibrated"),
        pytest.param(
            {"reward": REWARD | {"weights": "configs/weights_baseline.json"}},
            "reward.weights",
            id="weights that nobody calibrated",
        ),
        pytest.param({"shadow_set": "data/other.jsonl"}, "shadow_set", id="a shadow set that no gate saw"),
        pytest.param({"kl_alert": 100.0}, "kl_alert", id="an alert that never comes"),
        pytest.param({"watch": {"ask_spam": 1.0}}, "watch", id="a watch that looks away"),
        pytest.param({"watch": {"window": 10_000}}, "watch", id="a watch that looks too late"),
        pytest.param(
            {"priority_sampling": {"enable": False}}, "priority_sampling.enable", id="no sampling by difficulty"
        ),
        pytest.param(
            {"priority_sampling": {"by_difficulty": {"easy": 1.0, "medium": 0.0, "hard": 0.0}}},
            "priority_sampling.by_difficulty",
            id="nothing hard",
        ),
        pytest.param(
            {"priority_sampling": {"seed_ratio": 0.1}},
            "priority_sampling.seed_ratio",
            id="hardly anything out of the measured pool",
        ),
        pytest.param(
            {"priority_sampling": {"low_perf_cap": 0.9}}, "priority_sampling.low_perf_cap", id="mostly what fails"
        ),
        pytest.param({"eval": {"n": 12}}, "eval.n", id="hardly any held-out samples"),
        pytest.param({"eval": {"control_lr": 1.0}}, "eval.control_lr", id="a control that diverges"),
        pytest.param({"eval": {"control_lr": 1e-9}}, "eval.control_lr", id="a control that learns nothing"),
        pytest.param({"eval": {"user": "llm"}}, "user", id="a user whose words nobody can derive"),
        pytest.param({"user": "llm"}, "user", id="such a user in training too"),
        pytest.param({"simulate": True}, "simulate", id="simulate"),
        pytest.param({"simulate": "no"}, "simulate", id="simulate as a word"),
        pytest.param({"stepps": 1}, "measured", id="a key that is none"),
    ],
)
@poison("config/*")
def test_a_config_without_the_required_settings(run: Path, changes: dict[str, Any], named: str) -> None:
    reconfigure(**changes)
    assert caught("config") == {named}


@poison("config/priority_sampling.seed_ratio")
def test_hardly_anything_out_of_the_measured_pool_later_on(run: Path) -> None:
    Path("configs/quickstart_full.yaml").write_text("extends: quickstart_gated.yaml\n", encoding="utf-8")
    schedule = [{"step": 0, "ratio": 0.5}, {"step": 9, "ratio": 0.1}]
    reconfigure(priority_sampling={"seed_ratio_schedule": schedule})
    assert caught("config") == {"priority_sampling.seed_ratio"}


@poison("config/steps")
def test_a_trial_of_a_few_steps(run: Path) -> None:
    """Hardly trained, it would be no test of the full-size run."""
    Path("configs/quickstart_full.yaml").write_text("extends: quickstart_gated.yaml\nsteps: 9\n", encoding="utf-8")
    assert [one.name for one in config_findings(current_context()) if not one.passed] == ["steps[trial]"]


def test_a_higher_price_of_needless_asks_is_accepted(run: Path) -> None:
    reconfigure(reward=REWARD | {"alpha": 0.5})
    ABLATION.write_text("extends: quickstart.yaml\nreward: {alpha: 0.5}\n", encoding="utf-8")
    assert not caught("config")


@poison("config/reward.alpha")
def test_a_weaker_penalty_in_run_and_ablation_alike(run: Path) -> None:
    reconfigure(reward=REWARD | {"alpha": 0.05})
    ABLATION.write_text("extends: quickstart.yaml\nreward: {alpha: 0.05}\n", encoding="utf-8")
    assert caught("config") == {"reward.alpha"}


def test_an_ablation_has_the_cap_of_every_gated_run(run: Path) -> None:
    """With a larger cap the penalty would do more in the ablation than in the run."""
    ABLATION.write_text(f"extends: quickstart.yaml\nreward: {{alpha: {ALPHA}, cap: 64}}\n", encoding="utf-8")
    assert profile_plan(current_context().profile).cap == OVERCLAR_CAP


@poison("config/seeds", "config/live_mode", "config/finetune.method")
def test_a_quickstart_config_under_the_thresholds_of_rc1(run: Path) -> None:
    edit_profile(lambda found: found["thresholds"]["config"].update(seeds_min=3, live_mode=True, qlora=True))
    assert caught("config") == {"seeds", "live_mode", "finetune.method"}


@pytest.mark.parametrize("field", ["thought", "text", "source"])
@poison("config/warm_start")
def test_a_demonstration_that_shows_a_shadow_sample(run: Path, field: str) -> None:
    """The warm start would learn the sample that the trained policy is measured on."""
    paths = current_context().profile.paths
    samples, shown = list(read_records(paths.balanced, Sample)), list(read_records(paths.shadow_set, Sample))[3]
    first, second, *rest = samples[0].dialogue
    if field == "source":
        origin = replace(samples[0].provenance, source_id=shown.provenance.source_id)
        samples[0] = replace(samples[0], provenance=origin)
    else:
        told = f"I remember this one. {shown.original} The answer is {shown.answer}."
        samples[0] = replace(samples[0], dialogue=(first, replace(second, **{field: told}), *rest))
    with open(paths.balanced, "wb") as handle:
        write_records(handle, samples)
    assert caught("config") == {"warm_start"}
    for config in (CONFIG, TRIAL):
        reconfigure(config, warm_start=None)
    assert caught("config") == set(), "nothing is learned from demonstrations then"


@pytest.fixture
def unstable(run: Path) -> Path:
    """A config in which two samples count less, because the judge's votes on them disagreed.

    `askgate score` wrote the list of these samples; the judge's scores depend on the seed of the vote.
    """
    section, scores = current_context().scoring, Path("data/scores.jsonl")
    with judging(scores=lambda body: dict.fromkeys(DIMENSIONS, 10 * (body["seed"] % 2))) as environment:
        order = ScoringJob(current_context().profile.paths.balanced, scores, 2, 5)
        settings = settings_for(environment, section, "")
        score_dialogues(list(read_records(order.pool, Sample)), order, settings, print, lambda tally: None)
    reconfigure(reward=REWARD | {"unstable": str(unstable_beside(scores))})
    return unstable_beside(scores)


@twin("config")
def test_samples_on_which_the_judge_disagreed_may_count_less(unstable: Path) -> None:
    assert len(list(read_records(unstable, Score))) == 2
    assert caught("config") == set()


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"weight": 0.0}, id="less than it follows"),
        pytest.param({"id": "somebody else's"}, id="another sample"),
        pytest.param({"live": False, "provider": "nobody"}, id="written by hand"),
    ],
)
@poison("config/reward.unstable")
def test_samples_that_count_less_without_a_reason(unstable: Path, change: dict[str, Any]) -> None:
    lines = [replace(line, **change) for line in read_records(unstable, Score)]
    with open(unstable, "wb") as handle:
        write_records(handle, lines)
    assert caught("config") == {"reward.unstable"}


@poison("config/reward.unstable")
def test_samples_on_which_the_judge_agreed_do_not_count_less(run: Path) -> None:
    """The rounds have scored them live, and all votes are recorded."""
    reconfigure(reward=REWARD | {"unstable": str(PREFLIGHT / "round1/fresh_scores.jsonl")})
    assert caught("config") == {"reward.unstable"}
