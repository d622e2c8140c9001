"""Results of a run: base, warm start, controls and trained policy on the same held-out samples, read from the stored
episodes.

`train` writes `reports/ppo_eval_<time>` when a run ends; `evaluate` derives the same report again, under a tag. Only
the policy's messages are taken from the record: replies, success and rewards are computed again from the samples, and
an episode that differs is refused. The thresholds for a gated run are those that its ticket was issued for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from askgate_env.types import Episode

from ..checkpoint.seal import SEAL_FILE, Seal, explain_damage, read_seal
from ..config.loader import in_this_version
from ..config.profile import profile_for
from ..config.train_config import TrainConfig
from ..core import paths
from ..core.check import evidence, now
from ..core.defaults import RESUME
from ..core.errors import BadInput
from ..core.files import atomic_files, json_bytes, read_json, sha256_file
from ..core.jsonl import read_plain
from ..data.pool.meta import read_meta
from ..eval.metrics import LOGGED, figures, flat, mean_reward
from ..eval.replay import Replay
from ..eval.trial import POLICIES, SeedRun, TrialReport, stated_limits, trial_report
from ..gates.final_models import FREE_WITH_A_TICKET
from ..gates.manifest import Manifest
from ..gates.ticket import TICKET, Fingerprints, verify_report
from ..runtime.logs import StepLog
from .data import held_out_samples
from .resume import CONTROL_KEY, EVALUATION_KEY, GATED, SOURCES, control_key, evaluation_key
from .run_list import config_of

CONTROL_FILE, TIME_CONTROL_FILE = "control.jsonl", "control_time.jsonl"
DTYPES = ("torch.float32", "torch.bfloat16", "torch.float16")
"""Number formats in which a device computes."""
_PUT_BACK = "put the file back as the run wrote it"
_TRAIN = f"run the training to its end; with {RESUME} it makes the evaluations that are missing"


def evaluate(config: TrainConfig, tag: str) -> tuple[TrialReport, tuple[Path, Path]]:
    """Report on a finished run. Refuses evaluations that are missing or were made with other settings."""
    config = as_it_ran(config)
    open_run_of(config)
    _require_same_config(config)
    for seed in config.seeds:
        require_same_settings(config, seed)
        for file in episode_files(config, seed).values():
            if not file.exists():
                raise BadInput("no such evaluation", where=str(file), remedy=_TRAIN)
    gated = _about(config)["gated"]
    if not gated and config.checkpoint_root == paths.GATED_CHECKPOINTS:
        raise BadInput("has no final model of a gated run", where=str(paths.GATED_CHECKPOINTS), remedy=_TRAIN)
    if gated:
        verify_report(TICKET, Manifest(), Fingerprints())  # then the thresholds are those of the ticket
        _refuse_edited_curves(config)
    report, files = write_results(config, tag)
    if gated:
        manifest = Manifest()
        links = [file for file in files[:1] if str(file) in manifest.newest()]  # older versions recorded the link
        manifest.record([*links, paths.run_of(config.checkpoint_root) / files[0]])
    return report, files


def write_results(config: TrainConfig, tag: str) -> tuple[TrialReport, tuple[Path, Path]]:
    """Writes `ppo_eval_<tag>.json` and `.html`, both or neither, from the stored evaluations."""
    from ..pages.render import opened_in  # takes 60 ms, and verifying writes no page

    report, run = derive(config, tag), paths.run_of(config.checkpoint_root)
    files = paths.evaluation_report(tag)
    with atomic_files() as start:
        start(run / files[0]).write(json_bytes(report))
        start(run / files[1]).write(opened_in(results_page(config, report)))
    if run != paths.HERE:
        for file in files:
            paths.point(file, run / file)
    return report, files


def results_page(config: TrainConfig, report: TrialReport) -> bytes:
    """The page of a report, with the curves of its run."""
    from ..pages.results import trial_page  # takes 60 ms, and verifying writes no page

    log = StepLog(paths.run_of(config.checkpoint_root) / paths.EVAL_METRICS)
    return trial_page(report, [line for seed in config.seeds for line in log.lines(seed)])


class Evaluations:
    """The held-out episodes of a run. Each file is read, and its episodes are replayed, once.

    Other processes may replay while this one computes figures, so no result is valid before `require_agreement`.
    """

    def __init__(self, config: TrainConfig, cores: int = 1) -> None:
        """`cores`: 1 in a process that has trained, which must not fork beside the threads of torch."""
        self.config, self.samples, self._cores = config, held_out_samples(config), cores
        self._episodes: dict[Path, list[Episode]] = {}
        self._started: list[tuple[list[Path], Callable[[], list[list[bool]]]]] = []

    def read(self, files: Mapping[Path, int]) -> dict[Path, list[Episode]]:
        """Episodes of these files, each given with its seed."""
        new = {file: list(read_plain(file, Episode)) for file in files if file not in self._episodes}
        for file, episodes in new.items():
            if [one.sample_id for one in episodes] != [one.id for one in self.samples]:
                what = "its episodes are not those of the held-out samples"
                raise BadInput(what, where=str(file), remedy=_TRAIN)
        if new:
            rows = [
                [(files[file], episodes[row]) for file, episodes in new.items()] for row in range(len(self.samples))
            ]
            replay = Replay(self.config).start(list(zip(self.samples, rows, strict=True)), self._cores)
            self._started.append(([*new], replay))
        self._episodes |= new
        return {file: self._episodes[file] for file in files}

    def require_agreement(self) -> None:
        """Refuses episodes that differ from a replay of the policy's messages."""
        for files, verdicts_by_sample in self._started:
            for file, verdicts in zip(files, zip(*verdicts_by_sample(), strict=True), strict=True):
                if not all(verdicts):
                    raise BadInput(
                        "does not match a replay of the policy's messages on this sample: it was changed, or made by "
                        "other code",
                        where=f"{file}:{verdicts.index(False) + 1}",
                        remedy=_TRAIN,
                    )
        self._started.clear()


def derive(
    config: TrainConfig,
    tag: str,
    replaced: Mapping[Path, Mapping[int, Episode]] | None = None,
    evaluations: Evaluations | None = None,
) -> TrialReport:
    """The report on the stored evaluations, computed from the policies' messages alone.

    `replaced`: episodes that replace stored ones, by file and index. `evaluations`: the episodes of this config, if
    they were read before.
    """
    started, limits = now(), profile_for(config).thresholds
    evaluations, replaced = evaluations or Evaluations(config), replaced or {}
    runs: list[SeedRun] = []
    for seed in config.seeds:
        files = {who: file for who, file in episode_files(config, seed).items() if file.exists()}
        read = evaluations.read(dict.fromkeys(files.values(), seed))
        episodes: dict[str, list[Episode]] = {}
        for who, file in files.items():
            others = replaced.get(file, {})
            episodes[who] = [others.get(index, episode) for index, episode in enumerate(read[file])]
        runs.append(SeedRun(seed, _steps_done(config, seed), **dict.fromkeys(POLICIES) | episodes))
    arguments = {"tag": tag, "seeds": list(config.seeds), "steps": runs[0].steps, **stated_limits(limits)}
    run = paths.run_of(config.checkpoint_root)
    inputs = [config.shadow_set, *outputs(config), *curves(config)]
    proof = evidence([path for path in inputs if path.exists()], [], arguments, started)
    # Named as inside the run folder: an unpacked package has the same names.
    names = {str(path): str(path.relative_to(run)) for path in inputs if path.is_relative_to(run)}
    proof = replace(proof, inputs={names.get(name, name): digest for name, digest in proof.inputs.items()})
    try:
        return trial_report(runs, _about(config), limits, proof)
    finally:
        # In `finally`: if forged episodes also cause an error in the comparison, this error replaces it.
        evaluations.require_agreement()


def outputs(config: TrainConfig) -> list[Path]:
    """Files of a run that prove its results: for each seed the evaluations and the seal of the final model."""
    files: list[Path] = []
    for seed in config.seeds:
        episodes = episode_files(config, seed).values()
        files += [_evaluations(config, seed) / EVALUATION_KEY, *episodes, _final_seal(config, seed)]
    return files


def curves(config: TrainConfig) -> list[Path]:
    """Logs of the evaluations and of the steps of a run."""
    run = paths.run_of(config.checkpoint_root)
    return [run / paths.EVAL_METRICS, run / paths.METRICS]


def evaluated_files(config: TrainConfig) -> dict[Path, int]:
    """Files with the held-out episodes behind the curves and the report, each with its seed."""
    files: dict[Path, int] = {}
    for seed in config.seeds:
        steps = _figures_by_step(curves(config)[0], seed)
        files |= {paths.step_file(_evaluations(config, seed), step): seed for step in steps}
        files |= {file: seed for file in episode_files(config, seed).values() if file.exists()}
    return files


def verify_curves(evaluations: Evaluations) -> None:
    """Checks that the logged figures on held-out samples are those of the stored evaluations."""
    config = evaluations.config
    for seed in config.seeds:
        evaluated, steps = (_figures_by_step(file, seed) for file in curves(config))
        files = {step: paths.step_file(_evaluations(config, seed), step) for step in evaluated}
        read = evaluations.read(dict.fromkeys(files.values(), seed))
        evaluations.require_agreement()
        measured: dict[int, dict[str, float]] = {}
        for step, file in files.items():
            measured[step] = flat(figures(read[file])) | {"reward": mean_reward(read[file])}
        logged = {step: _logged(line) for step, line in steps.items() if _logged(line)}
        wanted = {step: measured.get(step) for step in logged}
        pairs: list[tuple[dict[int, Any], dict[int, Any]]] = [(evaluated, measured), (logged, wanted)]
        for file, (stated, known) in zip(curves(config), pairs, strict=True):
            for step in stated:
                if stated[step] != known[step]:
                    what = f"step {step} of seed {seed} is not what the stored evaluation gives"
                    raise BadInput(what, where=str(file), remedy=_PUT_BACK)


def _figures_by_step(file: Path, seed: int) -> dict[int, dict[str, Any]]:
    try:
        lines = {int(line.pop("step")): line for line in StepLog(file).lines(seed)}
        return {step: {name: line[name] for name in line if name != "seed"} for step, line in lines.items()}
    except (msgspec.DecodeError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadInput(f"is not the log of a run ({error})", where=str(file), remedy=_PUT_BACK) from None


def _logged(line: dict[str, Any]) -> dict[str, Any]:
    """Figures on held-out samples in a line of the log of the steps."""
    return {name.removeprefix(LOGGED): line[name] for name in line if name.startswith(LOGGED)}


def _refuse_edited_curves(config: TrainConfig) -> None:
    """Refuses curves that changed since the run recorded them: a new report would make them part of its evidence."""
    recorded = Manifest().of_run(paths.run_of(config.checkpoint_root))
    for file in curves(config):
        if recorded.get(paths.in_run(file)) not in (None, sha256_file(file)):
            raise BadInput("has changed since the run recorded it", where=str(file), remedy=_PUT_BACK)


def as_it_ran(config: TrainConfig) -> TrainConfig:
    """The config with the profile of its run: a local config with a ticket runs gated, under the ticket's profile.

    If there are final models of a local and of a gated run, the newer one counts.
    """
    kinds = [config]
    if config.profile == "local":
        kinds.append(config.model_copy(update={"profile": "quickstart"}))
    seals = [seal for one in kinds if (seal := _final_seal(one, config.seeds[0])).exists()]
    if not seals:
        return config
    newest = max(seals, key=lambda seal: seal.stat().st_mtime)
    return config.model_copy(update={"profile": _read_seal(newest).marks["profile"]})


def _evaluations(config: TrainConfig, seed: int) -> Path:
    return paths.seed_folder(paths.run_of(config.checkpoint_root) / paths.EVAL_EPISODES, seed, config.seeds)


def episode_files(config: TrainConfig, seed: int) -> dict[str, Path]:
    """Files with the held-out episodes of each policy, by its name in `POLICIES`."""
    folder = _evaluations(config, seed)
    done = _steps_done(config, seed)
    files = {"base": paths.step_file(folder, 0), "trained": paths.step_file(folder, done)}
    if config.eval.control:
        files["control"] = folder / CONTROL_FILE
        if config.eval.control_tokens:
            files["time_control"] = folder / TIME_CONTROL_FILE
    if config.warm_start and config.warm_steps < done:
        files["warm_start"] = paths.step_file(folder, config.warm_steps)
    return files


def _final_seal(config: TrainConfig, seed: int) -> Path:
    return config.checkpoints(seed) / paths.FINAL_MODEL / SEAL_FILE


def _steps_done(config: TrainConfig, seed: int) -> int:
    """Steps that the final model was trained for: a user's own engine may end before the config's last step."""
    seal = _final_seal(config, seed)
    return _read_seal(seal).step if seal.exists() else config.steps


def _read_seal(seal: Path) -> Seal:
    """The seal of a final model. Refuses one that was edited."""
    with explain_damage(seal.parent, _TRAIN):
        return read_seal(seal.parent)


def _about(config: TrainConfig) -> dict[str, Any]:
    """Facts about the run, from the seals of the final models: the config file may have changed since."""
    seals = [_final_seal(config, seed) for seed in config.seeds]
    marks = [_read_seal(path).marks for path in seals if path.exists()]
    gated = len(marks) == len(seals) and all(one.get(GATED) for one in marks)
    ticket = marks[0].get("ticket") if gated else None
    settings = (marks[0].get("config") if marks else None) or config.model_dump(mode="json")
    return {"ts": now(), "profile": config.profile, "gated": gated, "ticket": ticket, "config": settings}


def open_run_of(config: TrainConfig) -> None:
    """Points the links to the newest finished run of this config, unless they lead to a run of it already."""
    root = config.checkpoint_root
    for run in dict.fromkeys((paths.run_of(root), *paths.all_runs())):
        seals = [folder / SEAL_FILE for folder in paths.final_models(config.seeds, run / root)]
        if all(seal.exists() and not _other_setting(config, seal) for seal in seals):
            if run != paths.run_of(root):
                paths.open_run(run, root)
            return


def _require_same_config(config: TrainConfig) -> None:
    """Refuses a config other than the one that was trained: the report would be about another run."""
    for seed in config.seeds:
        seal = _final_seal(config, seed)
        if seal.exists() and (key := _other_setting(config, seal)):
            trained = config_of(paths.run_of(config.checkpoint_root))
            what, remedy = f"the run had another {key}", f"name its config: askgate eval --config {trained}"
            raise BadInput(what, where=str(seal.parent), remedy=remedy)


def _other_setting(config: TrainConfig, seal: Path) -> str:
    """The first setting that differs from those the model was trained with; empty if there is none."""
    trained = in_this_version(config, _read_seal(seal).marks.get("config", {}))
    current = config.model_dump(mode="json")
    fixed = (key for key in current if key not in (*FREE_WITH_A_TICKET, "profile"))
    return next((key for key in fixed if trained[key] != current[key]), "")


def require_same_settings(config: TrainConfig, seed: int) -> None:
    """Refuses evaluations of another held-out set, seed or setting: they cannot be compared."""
    file = _evaluations(config, seed) / EVALUATION_KEY
    if not file.exists():
        what = f"there is no evaluation of this config in {Path.cwd()}"
        raise BadInput(what, where=str(file), remedy=f"go to the folder of your run, or {_TRAIN}")
    key = read_json(file, _TRAIN)
    expected = {
        "shadow_set": sha256_file(config.shadow_set),
        "n": config.eval.n,
        "greedy": config.eval.greedy,
        "seed": seed,
    }
    for name, value in expected.items():
        if key.get(name) != value:
            raise BadInput(f"these evaluations were made with another {name}", where=str(file), remedy=_TRAIN)


def verify_keys(config: TrainConfig, seed: int) -> None:
    """Checks that the key files beside the evaluations of a gated run have the settings in the seal of its final model,
    and nothing else."""
    require_same_settings(config, seed)
    file, stated = _evaluations(config, seed) / EVALUATION_KEY, _read_seal(_final_seal(config, seed)).marks.get(SOURCES)
    sources = dict.fromkeys(("base_model", "shadow_set", "seed_pool"), "") | (stated or {})
    dtype, limits = read_json(file, _PUT_BACK).get("dtype"), config.rollout_limits(read_meta(config.seed_pool).tools)
    key = evaluation_key(config, limits, seed, sources, dtype if dtype in DTYPES else "")
    keys = {file: key}
    for who, episodes in episode_files(config, seed).items():
        if who in ("control", "time_control"):
            file = episodes.with_suffix(CONTROL_KEY)
            tokens = config.eval.control_tokens if who == "time_control" else read_json(file, _PUT_BACK).get("tokens")
            keys[file] = control_key(config, key, sources["seed_pool"], tokens if isinstance(tokens, int) else 0)
    for file, known in keys.items():
        if file.read_bytes() != json_bytes(known):
            raise BadInput("does not have the settings of the final model", where=str(file), remedy=_PUT_BACK)
