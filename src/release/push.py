"""Pushes a model or a data file to the Hugging Face hub in one commit, with a card made from its evidence.

The token comes from HF_TOKEN or from the login that `hf auth login` has stored. It goes into the requests and nowhere
else. A file with a secret in it is refused before anything is sent, also where parquet compresses it. `HF_ENDPOINT`
names another hub.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from ..core.errors import BadInput
from ..core.files import sidecar
from ..core.model_files import WEIGHTS
from ..data.export import PARQUET, facts_path
from ..runtime.progress import Tell
from ..runtime.secrets import masker
from .card import data_card, model_card, model_evidence
from .package import refuse_secrets

CARD = "README.md"
EVIDENCE = "evidence"
_REPO = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_HIDDEN = re.compile(r"(^|/)\.")


def push_model(repo: str, folder: Path, public: bool, tell: Tell) -> str:
    """Pushes a folder of a model or of adapters. Returns the address of the repository."""
    _require_name(repo)
    if not any((folder / name).exists() for name in ("config.json", "adapter_config.json")):
        raise BadInput("is no folder of a model or of adapters", where=str(folder), remedy="name a final_model")
    found = model_evidence(folder, tell)
    inside = {file.relative_to(folder).as_posix(): file for file in sorted(folder.rglob("*")) if file.is_file()}
    files = {name: file for name, file in inside.items() if name != CARD and not _HIDDEN.search(name)}
    if found.report_path:
        files[f"{EVIDENCE}/{found.report_path.name}"] = found.report_path
    return _push(repo, "model", model_card(repo, folder, found), files, public)


def push_data(repo: str, file: Path, public: bool) -> str:
    """Pushes a pool or an exported file with its facts. Returns the address of the repository."""
    _require_name(repo)
    card = data_card(repo, file)
    beside = facts_path(file) if facts_path(file).exists() else sidecar(file)
    return _push(repo, "dataset", card, {one.name: one for one in (file, beside)}, public)


def _push(repo: str, kind: str, card: str, files: Mapping[str, Path], public: bool) -> str:
    from httpx2 import HTTPError
    from huggingface_hub import CommitOperationAdd, HfApi, get_token
    from huggingface_hub.errors import HfHubHTTPError, RepositoryNotFoundError

    refuse_secrets(_texts(card, files), "nothing is pushed")
    token = os.environ.get("HF_TOKEN") or get_token()
    if not token:
        remedy = "set HF_TOKEN to a token that may write, or run `hf auth login`"
        raise BadInput("there is no token for the hub", where="HF_TOKEN", remedy=remedy)
    api = HfApi(endpoint=os.environ.get("HF_ENDPOINT") or None, token=token)
    parts = [CommitOperationAdd(CARD, card.encode())]
    parts += [CommitOperationAdd(name, str(path)) for name, path in sorted(files.items())]
    try:
        try:
            is_public = not api.repo_info(repo, repo_type=kind).private
        except RepositoryNotFoundError:
            is_public = False
        if is_public and not public:
            what = "this repository is public, so everybody could read what is pushed"
            raise BadInput(what, where=repo, remedy="add --public if that is what you want, or name another repository")
        address = api.create_repo(repo, repo_type=kind, private=not public, exist_ok=True)
        api.create_commit(repo, parts, commit_message="Push with AskGate", repo_type=kind)
    except (HfHubHTTPError, HTTPError, OSError, ValueError, RuntimeError) as error:
        message = str(error.__cause__ or error).strip() or type(error).__name__
        why = masker(os.environ, token)(message.splitlines()[0])
        remedy = f"check the name, and that the token may write to {repo}"
        raise BadInput(f"the hub did not take it ({why})", where=repo, remedy=remedy) from None
    return str(address)


def _require_name(repo: str) -> None:
    if not _REPO.fullmatch(repo):
        raise BadInput(f"{repo!r} is no repository", where="REPO", remedy="name it in full, like owner/name")


def _texts(card: str, files: Mapping[str, Path]) -> Iterator[tuple[str, bytes]]:
    """Name and readable content of the card and of each file."""
    yield CARD, card.encode()
    for name, path in files.items():
        if path.suffix == PARQUET:
            from pyarrow import parquet

            rows = parquet.read_table(path).to_pylist()
            yield name, "\n".join(json.dumps(row, ensure_ascii=False, default=str) for row in rows).encode()
        elif path.suffix != WEIGHTS:
            yield name, path.read_bytes()
