"""A small but complete honest run: pool, episodes, live scores by a judge on this machine, weights, ablation.

It is built once per session and copied for each test. The stages' own code makes everything; only the policy is
scripted (`scripted_policy`), and the judge is the server of the scoring tests.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml
from msgspec.structs import replace

from askgate_env.types import TASKS, Episode, Sample
from src.checkpoint.seal import Seal
from src.config.loader import load_train_config, source_files
from src.config.profile import Profile, load_profile, scoring_of
from src.config.schema import dotted
from src.config.train_config import RolloutLimits
from src.core.defaults import SEED
from src.core.files import write_json
from src.core.jsonl import read_records, write_records
from src.core.model_files import model_sha256
from src.core.paths import ablation_file, ablation_seal
from src.data.difficulty.bucketize import difficulty_bucketize
from src.data.difficulty.metrics import difficulty_metrics, measure_all
from src.data.pool.build import build_pool
from src.data.pool.plan import BuildPlan
from src.data.pool.shadow_set import materialize_shadow
from src.eval.ablation import profile_plan, side_config
from src.gates.gate import RoundContext, round_context
from src.gates.rounds import run_round
from src.gates.ticket import Round
from src.reward.calibration import weight_calib
from src.reward.configured import make_reward
from src.reward.recorded_episodes import RecordedEpisode, RecordPlan, write_recorded
from src.reward.scored_episodes import rate
from src.scoring.prompt import CANARIES
from src.scoring.providers import settings_for
from src.scoring.score_pool import ScoringJob, choose, score_dialogues
from tests.gates.scripted_policy import act, ask_first
from tests.scoring.server import JudgeServer, Scores, steady_scores
from tests.scoring.workspace import uneven_latency
from tests.shared_results import share_results, shared_folder

ROOT = Path(__file__).resolve().parents[2]
N, SHADOW, EPISODES, LIVE, FRESH = 1_500, 300, 300, 30, 8
"""With 120 samples in the shadow set, the top 10% is 12 episodes, and its overlap is known to about 0.15 only."""
TARGET = {"easy": 0.25, "medium": 0.45, "hard": 0.30}
PROFILE = "quickstart"
MODEL = Path("model")
COUNTS = {
    "pool_samples": N,
    "shadow_samples": SHADOW,
    "shadow_episodes": SHADOW,
    "shadow_live": LIVE,
    "calibration_episodes": EPISODES,
    "calibration_live": LIVE,
    "ablation_episodes": SHADOW,
    "ablation_seeds": 1,
    "judge_samples": 6,
    "eval_samples": SHADOW,
}
LATENCY_S = 0.025


def discerning_scores(body: dict[str, Any]) -> dict[str, Any]:
    """Scores of a judge that reads: next to nothing for a canary, more logic for an answer after a thought."""
    found = steady_scores(body)
    if is_canary(body):
        return {name: min(1, mark) for name, mark in found.items()}
    reasoned = _dialogue(body).splitlines()[-2:-1]
    thinks = bool(reasoned) and reasoned[0].startswith(("Assistant thinks: ", "助手思考: "))
    return found | {"logic": min(10, found["logic"] + 3 * thinks)}


def is_canary(body: dict[str, Any]) -> bool:
    return _dialogue(body).endswith(_WORTHLESS)


def _dialogue(body: dict[str, Any]) -> str:
    text: str = body["messages"][-1]["content"].rpartition("\n")[0]
    return text


_WORTHLESS = tuple(f": {text}" for canaries in CANARIES.values() for text in canaries.values())


@contextmanager
def judging(scores: Scores = discerning_scores) -> Iterator[dict[str, str]]:
    """The environment of a run whose judge is a server on this machine."""
    with JudgeServer(uneven_latency, latency_s=LATENCY_S, scores=scores) as server:
        yield {
            "RUN_MODE": "prod",
            "REWARD_LIVE_MODE": "1",
            "SCORER_PROVIDER": "custom",
            "SCORER_BASE_URL": server.url,
            "SCORER_API_KEY": "sk-test-0123456789",
        }


def build_run() -> None:
    """Builds everything up to round 1 in the working folder."""
    _configs()
    _data()
    profile = load_profile(PROFILE)
    with judging() as environment:
        samples = {one.id: one for one in read_records(profile.paths.balanced, Sample)}
        how = profile.thresholds.calibration
        drawn = choose(list(samples.values()), EPISODES, how.seed)
        recorded = record(profile.paths.calibration_episodes, drawn, profile.paths.pool)
        scores = judged(recorded, profile.paths.calibration_episodes, environment, how.seed)
        scored = Path("scored.jsonl")
        with open(scored, "wb") as handle:
            write_records(handle, rate(recorded, list(samples.values()), scores, scores))
        weight_calib(
            scored,
            profile.paths.baseline,
            **how.model_dump(),
            limits=profile.thresholds,
            out=profile.paths.weights,
            tag=PROFILE,
            live_n=LIVE,
        )
        shadow = list(read_records(profile.paths.shadow_set, Sample))
        held_out = record(profile.paths.shadow_episodes, shadow, profile.paths.shadow_set)
        judged(held_out, profile.paths.shadow_episodes, environment, SEED)
    ablation(profile, shadow)


def _configs() -> None:
    Path("configs/gates").mkdir(parents=True)
    found = yaml.safe_load((ROOT / "configs/default.yaml").read_text(encoding="utf-8"))
    row = {**found["scoring"]["providers"]["vllm"], "model": "tiny"}
    found["scoring"]["providers"]["custom"] = {**row, "usd_in": 0.4, "usd_out": 1.6}
    found["scoring"]["limits"] |= {"tries": 3, "timeout_s": 10.0}
    Path("configs/default.yaml").write_text(yaml.safe_dump(found), encoding="utf-8")
    shipped = (ROOT / "configs/quickstart.yaml").read_text(encoding="utf-8")
    assert "base_model: models/tiny" in shipped
    own = shipped.replace("base_model: models/tiny", f"base_model: {MODEL}")
    Path("configs/quickstart.yaml").write_text(own, encoding="utf-8")
    shutil.copy(ROOT / "configs/quickstart_gated.yaml", "configs/quickstart_gated.yaml")
    MODEL.mkdir()
    (MODEL / "model.safetensors").write_bytes(b"no weights: nobody speaks here, and only the sum is looked at")
    shutil.copy(ROOT / "configs/gates/rc1.yaml", "configs/gates/rc1.yaml")
    edit_profile(lambda found: found["thresholds"].update(counts=COUNTS), source=ROOT)
    edit_profile(lambda found: found["sizes"].update(fresh=FRESH))
    edit_profile(lambda found: found["sizes"]["ablation"].update(samples=SHADOW, seeds=[SEED]))
    # Of fewer episodes than in a real run, so that the baseline has to count for more.
    edit_profile(lambda found: found["thresholds"].update(calibration={"l2": 1.1}))


def edit_profile(change: Any, source: Path = Path(), name: str = PROFILE) -> None:
    """Changes settings in the profile's own file; the rest comes from rc1.yaml, which it extends."""
    found = yaml.safe_load((source / f"configs/gates/{name}.yaml").read_text(encoding="utf-8"))
    change(found)
    Path(f"configs/gates/{name}.yaml").write_text(yaml.safe_dump(found), encoding="utf-8")


def _data() -> None:
    paths = load_profile(PROFILE).paths
    plan = BuildPlan(
        n=N,
        mix={"hotpotqa": 0.45, "strategyqa": 0.30, "gsm8k": 0.25},
        seed=7,
        langs=(),
        templates_dir=Path("templates/pack_v2"),
    )
    build_pool(plan, paths.pool)
    materialize_shadow(replace(plan, n=SHADOW), stratify=True, out=paths.shadow_set, manifest=None, tag="")
    difficulty_metrics(paths.pool, paths.metrics)
    difficulty_bucketize(paths.metrics, TARGET, TASKS, paths.balanced)


def record(out: Path, samples: list[Sample], pool: Path, seed: int = 17) -> list[RecordedEpisode]:
    random, model = Random(seed), model_sha256(MODEL)
    levels = [one.level for one in measure_all(samples)]
    recorded = [
        RecordedEpisode(
            id=f"{sample.id}/0",
            source_id=sample.provenance.source_id,
            split=sample.provenance.split,
            model=model,
            episode=act(sample, random, level),
        )
        for sample, level in zip(samples, levels, strict=True)
    ]
    out.parent.mkdir(parents=True, exist_ok=True)
    write_recorded(out, recorded, pool, RecordPlan(seed, RolloutLimits(max_turns=6, max_new_tokens=64, max_tokens=512)))
    return recorded


def judged(recorded: list[RecordedEpisode], episodes: Path, environment: dict[str, str], seed: int) -> Any:
    section = scoring_of(load_profile(PROFILE))
    order = ScoringJob(episodes, episodes.with_suffix(".scores.jsonl"), LIVE, seed)
    settings = settings_for(environment, section, "")
    return score_dialogues(recorded, order, settings, print, lambda done: None)[0]


def ablation(profile: Profile, samples: list[Sample], needless: float = 0.1) -> None:
    """Writes both runs of the ablation: needless asks in 10% of the cases with the penalty, in 50% without it."""
    for side, share in (("without", 0.5), ("with", needless)):
        random = Random(11)
        write_side(profile, side, [ask_first(sample, random, share) for sample in samples], samples)


def write_side(profile: Profile, side: str, episodes: list[Episode], samples: list[Sample]) -> None:
    """Writes a run of the ablation as the stage does: episodes with rewards, and the seal of the final model."""
    paths, seed = profile.paths, SEED
    config, plan = load_train_config(paths.ablation_config), profile_plan(profile)
    own = side_config(config, plan, penalty=side == "with")
    reward, levels = make_reward(own), [one.level for one in measure_all(samples)]
    played = [replace(one, level=level, seed=seed) for one, level in zip(episodes, levels, strict=True)]
    played = [replace(one, reward=reward(one, sample)) for one, sample in zip(played, samples, strict=True)]
    file = ablation_file(paths.ablation_episodes, seed, side)
    file.parent.mkdir(parents=True, exist_ok=True)
    with open(file, "wb") as handle:
        write_records(handle, played)
    marks = {"config": own.model_dump(mode="json"), "sources": source_files(config)}
    write_json(ablation_seal(paths.ablation_episodes, seed, side), Seal(plan.steps, marks, {}))


def both_rounds() -> tuple[Round, Round]:
    with judging() as environment:
        first, _ = run_round(1, PROFILE, environment, print, lambda done: None)
        second, _ = run_round(2, PROFILE, environment, print, lambda done: None)
    return first, second


def finished_run(factory: pytest.TempPathFactory) -> Path:
    """The finished run, built once for all test processes."""
    shared = shared_folder(factory)
    folder = shared / "finished_run"
    with open(shared / "finished_run.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.MonkeyPatch.context() as patch:
            share_results(patch, factory)
            return finished_run_at(folder)


def finished_run_at(folder: Path) -> Path:
    """A run in which both rounds passed, in this folder; built unless it is there."""
    if not folder.exists():
        making, here = folder.with_name(f"{folder.name}_making"), Path.cwd()
        shutil.rmtree(making, ignore_errors=True)
        making.mkdir()
        os.chdir(making)
        try:
            build_run()
            with pytest.MonkeyPatch.context() as patch:
                small_thresholds_are_shipped(patch)
                first, second = both_rounds()
        finally:
            os.chdir(here)
        assert first.passed, first.to_do
        assert second.passed, second.to_do
        making.rename(folder)
    return folder


def small_thresholds_are_shipped(patch: pytest.MonkeyPatch) -> None:
    """Makes the thresholds of this small run those that nothing may be weaker than."""
    own = dict(dotted(load_profile(PROFILE).thresholds.model_dump(mode="json")))
    patch.setattr("src.gates.ambers.reference_thresholds", lambda name: own)


def copy_of(built: Path, to: Path) -> None:
    shutil.copytree(built, to, dirs_exist_ok=True, symlinks=True)


def current_context(number: int = 2) -> RoundContext:
    """The context of a round in the working folder."""
    return round_context(load_profile(PROFILE), number)
