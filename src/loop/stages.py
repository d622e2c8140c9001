"""The stages of a profile's loop, in order: `stages.yaml`, filled in with sizes, paths and thresholds of the profile.

`askgate quickstart` and `askgate rc1` run this list, and `askgate status` shows it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from askgate_env.actions import TOOLS

from ..config.loader import config_files, load_train_config
from ..config.profile import Profile, profile_path
from ..core.defaults import DIFFICULTY_MIX, SEED, as_flag
from ..core.files import package_yaml, sidecar
from ..core.paths import EVAL_METRICS, evaluation_report, final_models, probe_report
from ..eval.ablation import profile_plan
from ..gates.admission import trial_tag
from ..gates.ticket import REFUSAL, ROUND1, TICKET
from .runner import verb
from .stage import Stage, State

BASES = {"quickstart": (Path("models/tiny"),), "rc1": ()}
"""Base model of a profile, if it is a folder. One from the hub is identified by its name in the config."""
FULL = "_full"  # suffix of stages that `quickstart --full` runs differently
SCORED = Path("reports/rc1/pool.scores.jsonl")
"""Live scores of samples of the balanced pool; the list of unstable samples is beside it."""
REPORTS = ("shadow_run_", "calibration_report_", "overclar_ablation_")


@cache
def _definitions() -> dict[str, dict[str, Any]]:
    return dict(package_yaml(str(Path(__file__).with_suffix(".yaml"))))


def stages_of(profile: Profile, full: bool = False) -> list[Stage]:
    """All stages of the loop. `full`: three seeds and the SFT control (quickstart only)."""
    values, files = _values(profile, full), _files(profile, full)
    listed = _definitions().items()
    chosen = {name: one for name, one in listed if one.get("when", "").format(**values) not in ("0", "False")}
    return [_stage(name, one, values, files, chosen) for name, one in chosen.items()]


def last_was_full(state: State) -> bool:
    """Whether the last training was that of `quickstart --full`."""
    begun = {name: state.entries[name].started for name in ("train", f"train{FULL}") if name in state.entries}
    return bool(begun) and max(begun, key=begun.__getitem__) == f"train{FULL}"


def _stage(
    name: str,
    one: Mapping[str, Any],
    values: Mapping[str, Any],
    files: Mapping[str, tuple[Path, ...]],
    chosen: Mapping[str, Any],
) -> Stage:
    command: list[str] = []
    for word in one["command"].split():
        value = values.get(word[1:-1])
        command += value if isinstance(value, list) else [word.format(**values)]
    reads, writes, appends = (
        tuple(dict.fromkeys(path for key in one.get(kind, ()) for path in files[key]))  # each once: configs share files
        for kind in ("reads", "writes", "appends")
    )
    return Stage(
        name.format(**values),
        one["title"].format(**values),
        one["title_zh"],
        verb(*command),
        reads,
        writes,
        appends=appends,
        needs=tuple(need.format(**values) for need in one.get("needs", ()) if need in chosen),
        after_all=one.get("after_all", False),
        number=(files[one["number"][0]][0], one["number"][1]) if "number" in one else None,
        seconds=one.get(f"seconds{values['full']}", one["seconds"]) if values["profile"] == "quickstart" else None,
    )


def _values(profile: Profile, full: bool) -> dict[str, Any]:
    """Values of the names in braces in `stages.yaml`. A list stands for several words."""
    paths, limits = profile.paths, profile.thresholds
    return {
        "profile": profile.name,
        "paths": paths,
        "sizes": profile.sizes,
        "thresholds": limits,
        "seed": SEED,
        "mix": as_flag(limits.config.datasets),
        "difficulty_mix": as_flag(DIFFICULTY_MIX),
        "tools": ",".join(TOOLS),
        "tasks": ",".join(profile.tasks),
        "pool_limits": _flags(limits.pool.model_dump()),
        "difficulty_limits": _flags(limits.difficulty.model_dump()),
        "calibration_limits": _flags(limits.calibration.model_dump()),
        "calibration_tag": _tag(paths.calibration_report),
        "shadow_tag": _tag(paths.shadow_report),
        "ablation_tag": _tag(paths.ablation_report),
        "ablation": profile_plan(profile),
        "ablation_seeds": ",".join(map(str, profile.sizes.ablation.seeds)),
        "trained_config": trained_config(profile, full),
        # Whoever starts a loop wants its ticket to replace that of a quickstart. The ticket of a trained rc1 stays
        # unless the owner says so.
        "replaced": ["--replace", "quickstart"],
        "full": FULL if full else "",
        "source": profile.source.flags(),
        "reuse": ["--reuse", str(profile.source.reuse)] if profile.source.reuse > 1 else [],
        "worlds": "generated worlds" if profile.source.name == "builtin" else f"source {profile.source.name}",
        "scored": SCORED,
        "trial_steps": load_train_config(paths.trial).steps if paths.trial else 0,
        "trial_tag": trial_tag(profile),
    }


def _files(profile: Profile, full: bool) -> dict[str, tuple[Path, ...]]:
    """Files by the name that `stages.yaml` uses: the profile's paths, their sidecars and others."""
    paths = profile.paths
    config, ablation = trained_config(profile, full), load_train_config(paths.ablation_config).reward
    of_profile = {name: (path,) for name in type(paths).model_fields if isinstance(path := getattr(paths, name), Path)}
    return {
        **of_profile,
        **{f"{name}_meta": (sidecar(getattr(paths, name)),) for name in ("shadow_set", "pool", "metrics", "balanced")},
        "diversity_report": (Path("reports/diversity_report.json"),),
        "profile_files": tuple(config_files(profile_path(profile.name))),
        "config_files": tuple(config_files(paths.config)),
        "ablation_config_files": tuple(config_files(paths.ablation_config)),
        "ablation_weights": tuple(filter(None, [ablation.weights, ablation.unstable])),
        "source_files": tuple(filter(None, [profile.source.data_dir])),
        "scored": (SCORED,),
        "unstable": tuple(filter(None, [load_train_config(config).reward.unstable])),
        "trial_config_files": tuple(config_files(paths.trial)) if paths.trial else (),
        "trial_report": evaluation_report(trial_tag(profile)),
        "trained_config_files": tuple(config_files(config)),
        "base_model": BASES[profile.name],
        "trained_models": tuple(final_models(load_train_config(config).seeds)),
        "evaluation_report": evaluation_report(f"{profile.name}{FULL if full else ''}"),
        "probe_report": (probe_report(profile.name),),
        "eval_metrics": (EVAL_METRICS,),
        "round1": (ROUND1,),
        "ticket": (TICKET,),
        "refusal": (REFUSAL,),
    }


def trained_config(profile: Profile, full: bool) -> Path:
    """The config that the loop trains with: for `quickstart --full` the one with three seeds and the SFT control."""
    return profile.paths.trial if full and profile.paths.trial else profile.paths.config


def _tag(report: Path) -> str:
    """Tag in the name of a report: `reports/shadow_run_rc1.json` -> `rc1`."""
    prefix = next(one for one in REPORTS if report.stem.startswith(one))
    return report.stem.removeprefix(prefix)


def _flags(thresholds: dict[str, object]) -> list[str]:
    """Thresholds as flags; they have the same names, with hyphens."""
    return [word for name, value in thresholds.items() for word in (f"--{name.replace('_', '-')}", str(value))]
