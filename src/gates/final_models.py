"""Final models of gated runs: they must be sealed with the ticket, at the last step, with a config that it covers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..checkpoint.seal import SEAL_FILE, Damaged, Seal, explain_damage, final_seals, read_seal
from ..checkpoint.seal import verify as verify_seal
from ..checkpoint.store import HACKING, STOPPED
from ..config.loader import load_train_config
from ..config.profile import load_profile
from ..config.train_config import TrainConfig
from ..core import paths as run_paths
from ..core.defaults import CODE
from ..core.errors import BadInput
from ..core.files import sha256_file, shipped
from ..core.model_files import ADAPTER
from .ticket import TICKET, read_round

FREE_WITH_A_TICKET = ("checkpoint", "device_pref")
"""Settings that `--set` may change in a gated run: they change no result."""
MEASURED_AS = {"seed_pool": "balanced", "shadow_set": "shadow_set", "reward.weights": "weights"}
"""Role in a ticket of the files that a run is trained and evaluated on, by their key in the config."""
_SAVED = re.compile(
    r"[\w.-]+\.safetensors(\.index\.json)?|config\.json|generation_config\.json|adapter_config\.json"
    r"|(tokenizer|tokenizer_config|special_tokens_map|added_tokens|vocab)\.json|merges\.txt|vocab\.txt"
    r"|[\w.-]+\.(model|tiktoken)|(additional_chat_templates/)?[\w.-]+\.jinja|SERVING\.md|system_prompt\.json|tools\.json"
)
"""Names of the files that engines of AskGate save with a model."""
_TRAIN_AGAIN = "train again: python -m train.ppo_runner"


def trained_config() -> tuple[Path, TrainConfig] | None:
    """Path and content of the trained config: the one of the ticket's configs that the final models are sealed with.

    None if there is no final model. Refuses models of a config that the ticket does not cover.
    """
    seals = final_seals(run_paths.GATED_CHECKPOINTS)
    if not seals:
        return None
    ticket = read_round(TICKET)
    paths = load_profile(ticket.profile).paths
    with explain_damage(run_paths.GATED_CHECKPOINTS, _TRAIN_AGAIN):
        trained = [settings_of(read_seal(seal.parent).marks.get("config", {})) for seal in seals]
    for path in (one for one in (paths.config, paths.trial) if one and shipped(one).exists()):
        config = load_train_config(path).model_copy(update={"profile": ticket.profile})
        if all(one == settings_of(config.model_dump(mode="json")) for one in trained):
            return path, config
    what = f"was not trained with the settings of {paths.config}, which the ticket covers"
    raise BadInput(what, where=str(seals[0].parent), remedy=_TRAIN_AGAIN)


def settings_of(config: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that a ticket fixes."""
    return {key: value for key, value in config.items() if key not in FREE_WITH_A_TICKET}


def final_models(config: TrainConfig, remedy: str = _TRAIN_AGAIN) -> list[Path]:
    """Folders of a gated run's final models, after checking that each is undamaged and sealed with this ticket."""
    folders = run_paths.final_models(config.seeds)
    for folder in folders:
        verify_final_model(folder, remedy)
    return folders


def trained_with_ticket() -> list[Path]:
    """Final models of all runs in this folder that are sealed with the ticket."""
    ticket, runs = sha256_file(TICKET), run_paths.all_runs() or [run_paths.HERE]
    models = [seal.parent for run in runs for seal in final_seals(run / run_paths.GATED_CHECKPOINTS)]
    return [folder for folder in models if sealed_ticket(folder) == ticket]


def sealed_ticket(folder: Path) -> str:
    """SHA-256 of the ticket that a model is sealed with; empty if there is none or the seal is damaged."""
    try:
        return str(read_seal(folder).marks.get("ticket") or "")
    except Damaged:
        return ""


def verify_final_model(folder: Path, remedy: str = _TRAIN_AGAIN) -> None:
    """Refuses a model that is damaged, has files that it was not saved with, was not trained with this ticket, or is of
    a run that did not reach its last step. Only a user's own engine may end early (`ended_early`)."""
    with explain_damage(folder, remedy):
        sealed = verify_seal(folder)
    marks = sealed.marks
    if not marks.get("gated") or marks.get("ticket") != sha256_file(TICKET):
        raise BadInput("was not trained with the ticket in this project folder", where=str(folder), remedy=remedy)
    _refuse_other_sources(folder, marks.get("sources") or {}, remedy)
    if reason := marks.get(STOPPED) or marks.get(HACKING):
        what = f"is of a run that was stopped after step {sealed.step}: {reason}"
        raise BadInput(what, where=str(folder), remedy=remedy)
    if ":" not in marks.get("config", {}).get("engine", ""):
        if early := ended_early(folder):
            raise BadInput(f"is no final model: {early}", where=str(folder), remedy=remedy)
        _refuse_unknown_files(folder, sealed, remedy)
    if (settings := marks.get("config", {}).get("warm_start")) and sealed.step >= settings["steps"]:
        _verify_warm_start(folder, marks, remedy)


def _refuse_other_sources(folder: Path, sources: Mapping[str, str], remedy: str) -> None:
    """Refuses a model that was trained with other files, another base or other code than the rounds measured."""
    ticket = read_round(TICKET)
    known = {key: {ticket.files[role].sha256} for key, role in MEASURED_AS.items() if role in ticket.files}
    known |= {"base_model": {ticket.base_model}, CODE: {ticket.code, *ticket.earlier_code}} if ticket.code else {}
    if others := [key for key in known if sources.get(key) not in known[key]]:
        what = f"was trained with another {others[0]} than the rounds measured"
        raise BadInput(what, where=str(folder), remedy=remedy)


def _verify_warm_start(folder: Path, marks: Mapping[str, Any], remedy: str) -> None:
    """Refuses a warm start that was replaced: the final model has the SHA-256 of its seal."""
    warm = warm_start_of(folder)
    with explain_damage(warm, remedy):
        _refuse_unknown_files(warm, verify_seal(warm), remedy)
    if marks.get(run_paths.WARM_START) != sha256_file(warm / SEAL_FILE):
        what = f"is not the warm start that {folder} was trained from"
        raise BadInput(what, where=str(warm), remedy=remedy)


def _refuse_unknown_files(folder: Path, sealed: Seal, remedy: str) -> None:
    """Refuses a file that was sealed with a model and that no engine of AskGate saves, such as a page with figures."""
    card_of_peft = {"README.md"} if ADAPTER in sealed.files else set()
    for name in (name for name in sealed.files if not _SAVED.fullmatch(name) and name not in card_of_peft):
        what = "is sealed with the model, and no run saves such a file"
        raise BadInput(what, where=str(folder / name), remedy=remedy)


def warm_start_of(folder: Path) -> Path:
    """Folder of the warm start that a final model was trained from."""
    return folder.with_name(run_paths.WARM_START)


def ended_early(folder: Path) -> str:
    """The reason, in words, why a final model is not of the last step of its config; empty if it is."""
    sealed = read_seal(folder)
    steps = sealed.marks.get("config", {}).get("steps")
    return "" if sealed.step == steps else f"it is of step {sealed.step}, and the config has {steps} steps"
