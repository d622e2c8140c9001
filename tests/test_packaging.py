"""The wheel is complete: installed alone, it works from an empty folder."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from pathlib import Path

import msgspec
import pytest

import askgate_env
from src import __version__
from src.core.defaults import MIX
from src.data.pool.build import build_pool
from src.data.pool.plan import BuildPlan

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
ENV = ROOT / "packages/askgate-env"
ENV_PROJECT = tomllib.loads((ENV / "pyproject.toml").read_text(encoding="utf-8"))
OWN = f"askgate-env=={__version__}"
SHIPPED = sorted(
    path.relative_to(ROOT)
    for folder in ("templates", "configs", "models")
    for path in (ROOT / folder).rglob("*")
    if path.is_file() and path.suffix != ".md" and "__pycache__" not in path.parts and path.name != "weights.json"
) + sorted(path.relative_to(ROOT) for path in (ROOT / "docs").glob("*.md"))
"""Files that are no code and that the package needs; weights are what a run measured, and no part of it."""


def test_every_package_of_the_source_tree_is_listed() -> None:
    modules = [path.relative_to(ROOT / "src") for path in (ROOT / "src").rglob("*.py")]
    found = {".".join(("askgate", *module.parent.parts)) for module in modules}
    listed = set(PROJECT["tool"]["setuptools"]["packages"])
    assert listed == found | {".".join(("askgate", *file.parent.parts)) for file in SHIPPED}


def test_the_shipped_models_are_small() -> None:
    assert sum(file.stat().st_size for file in (ROOT / "models").rglob("*") if file.is_file()) <= 16_000_000


def test_the_version_is_the_same_everywhere() -> None:
    assert PROJECT["project"]["version"] == __version__
    assert ENV_PROJECT["project"]["version"] == askgate_env.__version__ == __version__
    assert OWN in PROJECT["project"]["dependencies"]


def test_what_ci_installs_is_pinned_exactly() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert all("==" in pin for pin in pins)
    assert "torch==2.13.0" in pins
    pinned = {pin.split("==")[0].lower() for pin in pins}
    extras = PROJECT["project"]["optional-dependencies"]
    asked = PROJECT["project"]["dependencies"] + extras["train"] + extras["dev"]
    assert {re.split(r"[\[>]", requirement)[0].lower() for requirement in asked if requirement != OWN} <= pinned


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel built from a source archive of a copy: files missing in the archive are missing in the wheel."""
    copy = tmp_path_factory.mktemp("copy") / "askgate"
    copy.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    for name in {"src", *(file.parts[0] for file in SHIPPED)}:
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    run(copy, sys.executable, "-m", "build", "--no-isolation", "--outdir", "dist", ".")
    [made] = (copy / "dist").glob("*.whl")
    return made


@pytest.fixture(scope="module")
def env_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the environment, built the same way."""
    copy = tmp_path_factory.mktemp("copy") / "askgate-env"
    shutil.copytree(ENV, copy, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info", "build"))
    run(copy, sys.executable, "-m", "build", "--no-isolation", "--outdir", "dist", ".")
    [made] = (copy / "dist").glob("*.whl")
    return made


def test_the_wheel_has_all_source_and_shipped_files(wheel: Path) -> None:
    inside = set(zipfile.ZipFile(wheel).namelist())
    code = [path for path in (ROOT / "src").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    wanted = {f"askgate/{path.relative_to(ROOT / 'src').as_posix()}" for path in code}
    wanted |= {f"askgate/{file.as_posix()}" for file in SHIPPED}
    assert wanted <= inside
    assert {name.split("/")[0] for name in inside} == {"askgate", f"askgate-{__version__}.dist-info"}


def test_the_wheel_of_the_environment_has_all_its_files(env_wheel: Path) -> None:
    inside = set(zipfile.ZipFile(env_wheel).namelist())
    source = ENV / "src"
    code = [path for path in (source / "askgate_env").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert {path.relative_to(source).as_posix() for path in code} <= inside
    assert {name.split("/")[0] for name in inside} == {"askgate_env", f"askgate_env-{__version__}.dist-info"}


def fresh_environment(home: Path, *wheels: Path) -> tuple[Path, Path]:
    """The `bin` and the libraries of a new virtual environment with these wheels and nothing that they depend on."""
    run(home, sys.executable, "-m", "venv", "--without-pip", "env")
    python = home / "env" / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", str(python))
    run(home, *pip, "install", "--quiet", "--no-deps", "--no-index", *map(str, wheels))
    site = run(home, str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
    return python.parent, Path(site)


PLAY_DEMONSTRATIONS = """
import sys, sysconfig
import msgspec
from askgate_env.actions import say
from askgate_env.env import Env
from askgate_env.reward import TrainingReward
from askgate_env.types import Sample
for line in open(sys.argv[1], "rb"):
    sample = msgspec.json.decode(line, type=Sample)
    env = Env(sample, max_turns=20)
    for turn in sample.dialogue:
        if turn.by == "assistant":
            env.step(say(turn))
    assert sum(TrainingReward()(env.episode(0), sample).values()) == 1, sample.id
site = sysconfig.get_path("purelib")
files = {name: getattr(module, "__file__", None) or "" for name, module in sys.modules.items()}
print(*sorted({name.split(".")[0] for name, file in files.items() if file.startswith(site)}))
"""


def test_the_environment_needs_only_msgspec(env_wheel: Path, tmp_path: Path) -> None:
    assert ENV_PROJECT["project"]["dependencies"] == ["msgspec>=0.19"]
    programs, site = fresh_environment(tmp_path, env_wheel)
    shutil.copytree(Path(msgspec.__file__).parent, site / "msgspec")
    pool = tmp_path / "pool.jsonl"
    build_pool(BuildPlan(n=20, mix=MIX, seed=3, langs=(), templates_dir=ROOT / "templates/pack_v2"), pool)
    imported = run(tmp_path, str(programs / "python"), "-c", PLAY_DEMONSTRATIONS, str(pool))
    assert imported.split() == ["askgate_env", "msgspec"]


@pytest.fixture(scope="module")
def installed(wheel: Path, env_wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with both wheels; dependencies come from the environment that runs the tests."""
    programs, site = fresh_environment(tmp_path_factory.mktemp("environment"), wheel, env_wheel)
    (site / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return programs


def test_the_installed_command_builds_a_pool_from_an_empty_folder(installed: Path, tmp_path: Path) -> None:
    where = run(tmp_path, str(installed / "python"), "-c", "import askgate; print(askgate.__file__)").strip()
    assert Path(where).is_relative_to(installed.parent)
    assert "build-rollout-pool" in run(tmp_path, str(installed / "askgate"), "--help")
    run(tmp_path, str(installed / "askgate"), "build_rollout_pool", "--n", "20", "--out", "pool.jsonl")
    assert len((tmp_path / "pool.jsonl").read_bytes().splitlines()) == 20
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pool.jsonl", "pool.meta.json"]


def run(folder: Path, *command: str) -> str:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(command, cwd=folder, env=clean, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout
