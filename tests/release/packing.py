"""A signed package of a small run, and ways to change it: by accident, and by somebody who knows the format."""

from __future__ import annotations

import gzip
import io
import shutil
import tarfile
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from hashlib import sha256
from pathlib import Path
from random import Random

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from msgspec.structs import replace
from safetensors.numpy import save_file

from askgate_env.actions import say
from askgate_env.types import Episode, Sample
from src.checkpoint.seal import SEAL_FILE, seal
from src.config.loader import load_train_config, source_files
from src.config.train_config import TrainConfig
from src.core.defaults import CODE
from src.core.files import code_sha256, sha256_file, write_json
from src.core.jsonl import write_records
from src.core.paths import EVAL_EPISODES, EVAL_METRICS, GATED_CHECKPOINTS, METRICS, open_run
from src.data.pool.meta import read_meta
from src.eval.metrics import figures, flat, mean_reward
from src.gates.ticket import TICKET
from src.release.package import PUBLIC, SUMS, SUMS_SIGNATURE, make_package
from src.reward.configured import make_reward
from src.runtime.logs import StepLog
from src.training.data import held_out
from src.training.results import episode_files, write_results
from src.training.resume import EVALUATION_KEY, evaluation_key
from src.training.run import record_outputs
from tests.gates.conftest import finished, run
from tests.gates.run_folder import PROFILE, copy_of, small_thresholds_are_shipped
from tests.gates.scripted_policy import ask_first, run_episode
from tests.shared_results import share_results

__all__ = ["finished", "run"]

CONFIG = Path("configs/quickstart_gated.yaml")
MODEL, WARM_START = Path("checkpoints/rc1/final_model"), Path("checkpoints/rc1/warm_start")
TINY = Path(__file__).resolve().parents[2] / "models/tiny"
WEIGHTS = "model.safetensors"
RUN = Path("runs/20260101T000000000Z-ab12")
Change = Callable[[dict[str, bytes]], None]
Policy = Callable[[Sample], Episode]


def silent(text: str) -> None:
    pass


def demonstrated(sample: Sample) -> Episode:
    """A policy that does what the demonstration shows."""
    return run_episode(sample, [say(turn) for turn in sample.dialogue if turn.by == "assistant"], Random(1))


def careless(sample: Sample) -> Episode:
    """A policy that often asks where nothing is missing, and is often wrong."""
    return ask_first(sample, Random(sample.id), 0.5)


_SPOKEN: dict[tuple[Policy, str, str], list[Episode]] = {}


def spoken(policy: Policy, config: TrainConfig) -> list[Episode]:
    """The held-out episodes of a policy; those of the same policy and samples are made once."""
    key = (policy, config.model_dump_json(), sha256_file(config.shadow_set))
    if key not in _SPOKEN:
        seed, reward = config.seeds[0], make_reward(config)
        pairs = list(zip(*held_out(config), strict=True))
        episodes = [(replace(policy(sample), level=level, seed=seed), sample) for sample, level in pairs]
        _SPOKEN[key] = [replace(episode, reward=reward(episode, sample)) for episode, sample in episodes]
    return _SPOKEN[key]


def trained(ticket: str | None = None, policy: Policy = demonstrated) -> None:
    """A sealed model and its results as a gated run leaves them; the policies are scripted."""
    config = load_train_config(CONFIG).model_copy(update={"profile": PROFILE})
    seed = config.seeds[0]
    open_run(RUN, GATED_CHECKPOINTS)
    _small_model(MODEL)
    sources = source_files(config) | {CODE: code_sha256()}
    marks = {"gated": True, "releasable": True, "profile": PROFILE, "config": config.model_dump(mode="json")}
    marks |= {"ticket": ticket or sha256_file(TICKET), "sources": sources}
    _small_model(WARM_START)
    seal(WARM_START, config.warm_steps, marks)
    seal(MODEL, config.steps, marks | {"warm_start": sha256_file(WARM_START / SEAL_FILE)})
    limits = config.rollout_limits(read_meta(config.seed_pool).tools)
    evaluated = evaluation_key(config, limits, seed, sources, "torch.float32")
    write_json(RUN / EVAL_EPISODES / EVALUATION_KEY, evaluated)
    (RUN / METRICS).write_text(f'{{"seed":{seed},"step":1,"reward":0.5}}\n')
    (RUN / EVAL_METRICS).unlink(missing_ok=True)
    files = episode_files(config, seed)
    for who, speak in {"base": careless, "warm_start": careless, "trained": policy}.items():
        episodes = spoken(speak, config)
        with open(files[who], "wb") as handle:
            write_records(handle, episodes)
        step = {"base": 0, "warm_start": config.warm_steps}.get(who, config.steps)
        figures_then = flat(figures(episodes)) | {"reward": mean_reward(episodes)}
        StepLog(RUN / EVAL_METRICS).append(seed, step, figures_then)
    _, made = write_results(config, "20260101T000000Z")
    record_outputs(RUN, RUN / made[0])


def _small_model(folder: Path) -> None:
    """The embedded model with few weights: nobody speaks with it, and a package compresses and searches every byte."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(TINY, folder, ignore=shutil.ignore_patterns(WEIGHTS, "README.md"))
    save_file({"weight": np.arange(256, dtype=np.float32)}, folder / WEIGHTS)


def new_key(path: Path) -> Path:
    private = ec.generate_private_key(ec.SECP256R1())
    path.write_bytes(private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    public = private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    path.with_suffix(".pub").write_bytes(public)
    return path


@pytest.fixture(scope="session")
def package_folder(finished: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a signed package and its key. Tests must not write there."""
    place, made = tmp_path_factory.mktemp("run"), tmp_path_factory.mktemp("package")
    copy_of(finished, place)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        share_results(patch, tmp_path_factory)
        small_thresholds_are_shipped(patch)
        trained()
        make_package(made / "package.tgz", new_key(made / "key.pem"), None, silent)
    return made


@pytest.fixture
def packed(
    finished: Path, package_folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A signed package; the working folder is an empty folder elsewhere."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    shutil.copytree(package_folder, elsewhere, dirs_exist_ok=True)
    with chdir(finished):
        small_thresholds_are_shipped(monkeypatch)
    monkeypatch.chdir(elsewhere)
    return elsewhere / "package.tgz"


@contextmanager
def tarball(out: Path) -> Iterator[tarfile.TarFile]:
    """Writes a tarball in the format of a package."""
    with (
        open(out, "wb") as handle,
        gzip.GzipFile(fileobj=handle, mode="wb", filename="", mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w") as target,
    ):
        yield target


def put(target: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    target.addfile(member, io.BytesIO(content))


def contents(package: Path) -> dict[str, bytes]:
    with tarfile.open(package) as source:
        return {member.name: found.read() for member in source if (found := source.extractfile(member))}


def repacked(package: Path, change: Callable[[str, bytes], bytes | None], more: dict[str, bytes] | None = None) -> Path:
    """The same tarball with changed files; None removes a file."""
    out = package.with_name("changed.tgz")
    with tarball(out) as target:
        for name, content in contents(package).items():
            if (new := change(name, content)) is not None:
                put(target, name, new)
        for name, content in (more or {}).items():
            put(target, name, content)
    return out


def rewritten(package: Path, change: Change) -> Path:
    """The package rewritten by somebody who knows the format but has no key: every checksum fits."""
    found = contents(package)
    change(found)
    listed = sorted(set(found) - {SUMS, SUMS_SIGNATURE})
    found[SUMS] = "".join(f"{sha256(found[name]).hexdigest()}  {name}\n" for name in listed).encode()
    out = package.with_name("rewritten.tgz")
    with tarball(out) as target:
        for name, content in found.items():
            put(target, name, content)
    return out


def unsigned(package: Path, change: Change) -> Path:
    """The package rewritten without any signature."""

    def strip(found: dict[str, bytes]) -> None:
        change(found)
        for name in [name for name in found if name.endswith(".sig") or name == PUBLIC.as_posix()]:
            del found[name]

    return rewritten(package, strip)


def flipped(content: bytes) -> bytes:
    return content[:-2] + bytes([content[-2] ^ 1]) + content[-1:]
