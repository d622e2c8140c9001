"""Proves the results of a gated run: what happened after training is derived again, not read.

Plain: the report's figures follow from the recorded dialogues, and report, dialogues and final models are in the
manifest. Deep: some dialogues are generated again by the base model and by the trained one, with the same random
numbers; on the machine that made them they are the same, word for word.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from ..agents.trajectory import Job
from ..checkpoint.seal import MANIFEST, Damaged, final_seals, read_seal
from ..checkpoint.seal import verify as verify_seal
from ..config.loader import load_train_config
from ..config.profile import Profile, load_profile
from ..config.train_config import TrainConfig
from ..core.errors import BadInput
from ..core.files import digests_read, forget_reads, json_bytes, sha256_file
from ..core.jsonl import read_records
from ..core.model_files import find_model
from ..core.paths import (
    ABLATION_SIDES,
    ABLATION_WORK,
    EVALUATION,
    FINAL_MODEL,
    GATED_CHECKPOINTS,
    HERE,
    LOCAL_CHECKPOINTS,
    ablation_file,
    ablation_seal,
    certified_run,
    evaluations,
    in_run,
)
from ..core.paths import final_models as final_folders
from ..core.types import Episode
from ..data.pool.meta import read_meta
from ..eval.ablation import sealed_plan, side_config
from ..eval.trial import TrialReport
from ..gates.checks.penalty import read_pairs
from ..gates.manifest import Manifest, newest_evaluation
from ..gates.ticket import TICKET, final_models, sealed_ticket, trained_config
from ..training.data import held_out
from ..training.results import derive, episode_files, outputs

DIALOGUES = 12
"""Dialogues of each policy that a deep verification generates again."""
LEAST_EQUAL, LEAST_EQUAL_HERE = 0.75, 0.9
"""Share of them that must be equal: anywhere, and on a CPU like the one that trained. Sums in another order may change
a token in a few of them; on the same kind of CPU 0 of 120 were different."""
_AGAIN = "run `askgate evaluate` on the run's own episodes; if it refuses them, train again"
_RECORD = "start the training again: a finished run only reports and records"


def verify_results(
    deep: bool, tell: Callable[[str], None], path: Path | None = None, dialogues: int = DIALOGUES
) -> TrialReport | None:
    """The proved report. Raises BadInput at the first thing that differs.

    None where no training has ended behind the ticket, or `path` is the report of another run: nothing is proved then.
    What has to be proved follows from the models that are there, and never from the report.
    """
    forget_reads()
    given, newest = path, newest_evaluation()
    path = path or newest
    earlier, seals = Manifest().earlier(TICKET), final_seals(GATED_CHECKPOINTS)
    is_current = TICKET.exists() and any(sealed_ticket(seal.parent) not in earlier for seal in seals)
    trained = trained_config() if is_current else None
    if trained is None or not all((folder / MANIFEST).exists() for folder in final_folders(trained[1].seeds)):
        _refuse_claim(path)
        tell("results: no training behind the ticket has ended, so nothing is proved")
        return None
    run, config, recorded = certified_run(), trained[1], Manifest().of_run(certified_run())
    if path is None:
        raise BadInput("has no report in the manifest", where=str(run), remedy=_RECORD)
    if given and given.resolve() not in [one.resolve() for one in evaluations(run)]:
        _refuse_claim(given)
        tell(f"results: {given} is not of the run behind the ticket, so nothing is proved about it")
        return None
    reports = [one for one in evaluations(run) if one.suffix == ".json"]
    folders = final_models(config)
    for file in (*outputs(config), *reports):
        if recorded.get(in_run(file)) != sha256_file(file):
            remedy = f"{_RECORD}; remove a report that is not of this run"
            raise BadInput("is not in the manifest: no run recorded it as it is", where=str(file), remedy=remedy)
    report = derived_report(config, path)
    tell(f"results: {path} follows from the episodes; {len(folders)} final model(s) as they were saved")
    if deep:
        _repeat(config, folders, dialogues, tell)
    return report


def derived_report(config: TrainConfig, path: Path) -> TrialReport:
    """The report at `path`. Refuses one that does not follow from the recorded episodes of the run."""
    report = path.read_bytes()
    stored = _plain(report, path)
    expected = _plain(json_bytes(derive(config, path.stem.removeprefix(EVALUATION))), path)
    for part in dict.fromkeys((*stored, *expected)):
        if stored.get(part) != expected.get(part):
            raise BadInput(f"{part}: not what episodes, seals and ticket give", where=str(path), remedy=_AGAIN)
    return msgspec.json.decode(report, type=TrialReport)


def _refuse_claim(path: Path | None) -> None:
    """Refuses a report that says that it is of a gated run, but is not; one of an earlier ticket may stay."""
    report = _plain(path.read_bytes(), path) if path else {}
    tickets = {entry.sha256 for entry in Manifest().entries if entry.path == str(TICKET)}
    now = {sha256_file(TICKET)} if TICKET.exists() else set()
    if report.get("gated") and report.get("ticket") not in tickets - now:
        what = "is not in the manifest, or is of a run with another ticket"
        raise BadInput(what, where=str(path), remedy="train and evaluate again")


def _plain(report: bytes, path: Path) -> dict[str, Any]:
    """A report as plain JSON, without its times and AskGate's version, which may be a newer one here."""
    try:
        found: dict[str, Any] = msgspec.json.decode(report, type=dict)
        proof = {key: value for key, value in found["evidence"].items() if key not in ("version", "started", "ended")}
        return {key: value for key, value in found.items() if key != "ts"} | {"evidence": proof}
    except (msgspec.DecodeError, KeyError, AttributeError) as error:
        raise BadInput(f"is not a report of an evaluation ({error})", where=str(path), remedy=_AGAIN) from None


def _repeat(config: TrainConfig, folders: Sequence[Path], dialogues: int, tell: Callable[[str], None]) -> None:
    """Lets the models of a run say some of their dialogues again. Nobody knows which ones before."""
    number = secrets.randbits(64)
    draw = Draw(Random(number), dialogues)
    tell(f"dialogues to repeat: {dialogues} of each policy, drawn with the random seed {number}")
    _repeat_ablation(load_profile(config.profile), draw, tell)
    base = find_model(config.base_model, download=False)
    for seed, folder in zip(config.seeds, folders, strict=True):
        files = episode_files(config, seed)
        _regenerate(config, seed, folder, files["trained"], draw, tell)
        if "base" in files:
            _regenerate(config, seed, base, files["base"], draw, tell, made_beside=folder)
        if "control" in files:
            tell(f"{files['control']}: the control's model is not kept, so nothing of it was repeated")


@dataclass(frozen=True)
class Draw:
    """Draws the dialogues that are generated again."""

    random: Random
    dialogues: int

    def __call__(self, total: int) -> list[int]:
        return sorted(self.random.sample(range(total), min(self.dialogues, total)))


def _repeat_ablation(profile: Profile, draw: Draw, tell: Callable[[str], None]) -> None:
    """Lets the final models of the ablation repeat some dialogues, as far as the models are still here."""
    paths = profile.paths
    config, folder = load_train_config(paths.ablation_config), paths.ablation_episodes
    work = (ABLATION_WORK / "*/*" / LOCAL_CHECKPOINTS).as_posix()
    seals = [file for pattern in ("", "seed_*/") for file in HERE.glob(f"{work}/{pattern}{FINAL_MODEL}/{MANIFEST}")]
    for pair in read_pairs(folder) if folder.is_dir() else []:  # whether there must be one is a gate's matter
        plan = sealed_plan(paths.ablation_config, folder, pair.seed)
        for side in ABLATION_SIDES:
            file, stored = ablation_file(folder, pair.seed, side), ablation_seal(folder, pair.seed, side)
            seal = next((one for one in seals if sha256_file(one) == sha256_file(stored)), None)
            if seal is None or plan is None:
                tell(f"{file}: its model is not in this folder any more, so nothing of it was repeated")
                continue
            try:
                verify_seal(seal.parent)
            except Damaged as error:
                raise BadInput(str(error), where=str(seal.parent), remedy="run the ablation again") from None
            _regenerate(side_config(config, plan, side == "with"), pair.seed, seal.parent, file, draw, tell)


def _regenerate(
    config: TrainConfig,
    seed: int,
    folder: Path,
    file: Path,
    draw: Draw,
    tell: Callable[[str], None],
    made_beside: Path | None = None,
) -> None:
    """Generates some dialogues of a file again, with the model that should have made them, and compares.

    `made_beside`: the final model of the run that made them, where `folder` is its base.
    """
    import torch

    from ..engines.base import machine
    from ..engines.models import load_trained
    from ..rollout.scheduler import generate
    from ..runtime.device import get_device, get_dtype, prepare_device
    from ..training.components import open_renderer

    device = get_device(config.device_pref)
    prepare_device(device)
    dtype = get_dtype(device, config.precision)
    samples, levels = held_out(config)
    jobs = [Job(sample, level, seed, at) for at, (sample, level) in enumerate(zip(samples, levels, strict=True))]
    chosen = draw(len(jobs))
    model = load_trained(folder, config.base_model, config.finetune, device, dtype)
    _require_read_as_sealed(folder)
    made = generate(
        model,
        open_renderer(str(find_model(config.base_model, download=False))),  # as the run had it
        jobs,
        config.rollout_limits(read_meta(config.seed_pool).tools),
        device=device,
        generator=torch.Generator(device).manual_seed(seed),
        greedy=config.eval.greedy,
        dtype=dtype,
        only=chosen,
    )
    recorded = list(read_records(file, Episode))
    equal = sum(one.episode.turns == recorded[at].turns for one, at in zip(made, chosen, strict=True))
    tell(f"{file}: {equal} of {len(chosen)} dialogues are what {folder} says here")
    there = read_seal(made_beside or folder).marks.get("machine")
    least = LEAST_EQUAL_HERE if device.type == "cpu" and there == machine() else LEAST_EQUAL
    if equal < least * len(chosen):
        raise BadInput(
            f"{folder} does not say what is recorded here: {equal} of {len(chosen)} dialogues are the same",
            where=str(file),
            remedy="verify on the machine and with the versions that made the run; if it was there, the model or the "
            "episodes were exchanged: train again",
        )


def _require_read_as_sealed(folder: Path) -> None:
    """Refuses a model of which other files were loaded than those that were sealed. A base model has no seal."""
    for name, entry in read_seal(folder).files.items() if (folder / MANIFEST).exists() else ():
        if digests_read(folder / name) - {entry.sha256}:
            raise BadInput(f"{name} changed while it was read", where=str(folder), remedy=_AGAIN)
