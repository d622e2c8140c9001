"""A second training run in the same folder leaves report, verification, board and package of the first as they were."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from msgspec.structs import replace

from src.board.run_files import episode_files
from src.config.profile import load_profile
from src.core.defaults import SEED_POOL_FACTS
from src.core.files import sha256_file
from src.core.model_files import model_sha256
from src.core.paths import all_runs, run_of
from src.gates import final_models
from src.gates.admission import Admission
from src.gates.manifest import Manifest, newest_evaluation
from src.gates.ticket import TICKET
from src.gates.verify import verify
from src.pages.rc1_report import Rc1, write_rc1
from src.release.package import contents
from src.training.run import run as train
from tests.release.packing import finished, run
from tests.training.tiny_run import make_model_and_data, write_config

__all__ = ["finished", "run"]

TINY = {"base_model": "tiny/model", "seed_pool": "tiny/data/pool.jsonl", "shadow_set": "tiny/data/shadow.jsonl"}


@pytest.fixture
def config(run: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The config of a gated run that has ended in the folder of the finished rounds. It trains on smaller files than
    the rounds measured, which is refused otherwise (tests/attacks/test_models.py)."""
    monkeypatch.setattr(final_models, "_refuse_other_sources", lambda *_: None)
    make_model_and_data(run / "tiny")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    path = write_config(Path("."), steps=1, **TINY)
    files = {
        "config": sha256_file(path),
        "base_model": model_sha256(Path(TINY["base_model"])),
        "seed_pool": sha256_file(Path(TINY["seed_pool"])),
        SEED_POOL_FACTS: sha256_file(Path(TINY["seed_pool"]).with_suffix(".meta.json")),
        "shadow_set": sha256_file(Path(TINY["shadow_set"])),
    }
    train(path, False, Admission("quickstart", sha256_file(TICKET), "b" * 32, files))
    yield path
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(False)


def report() -> Rc1:
    return replace(write_rc1(load_profile("quickstart")), ts="")


def packed_names(config: Path) -> dict[str, str]:
    """Names in a package with the checksum of each file of the run."""
    from src.config.loader import load_train_config

    settings = load_train_config(config)
    found = dict(contents(config, settings, [Path("checkpoints/rc1/final_model")]))
    return {name: sha256_file(file) for name, file in found.items() if not name.startswith("reports/rc1/")}


def test_report_verify_board_and_package_ignore_a_local_run(config: Path) -> None:
    first, evaluation = run_of(Path("checkpoints/rc1")), newest_evaluation()
    lines: list[str] = []
    verify(False, lines.append)
    before = report(), lines, episode_files(Path(".")), packed_names(config)
    assert before[0].training
    assert before[0].reading

    train(write_config(Path("."), steps=2, lr=2.0e-3, **TINY), False)

    second = run_of(Path("logs/metrics.jsonl"))
    assert {first, second} == set(all_runs())
    assert newest_evaluation() == evaluation
    again: list[str] = []
    verify(False, again.append)
    assert report() == before[0]
    assert again == before[1]
    assert [one for one in episode_files(Path(".")) if not one.path.startswith(second.as_posix())] == before[2]
    write_config(Path("."), steps=1, **TINY)
    assert packed_names(config) == before[3]


def test_a_package_leaves_earlier_gated_runs_out(config: Path) -> None:
    """Whoever receives it needs no files of other runs, and none of them can be lost."""
    before = packed_names(config)
    other = Path("runs/20260101T000000000Z-ab12/logs/eval/key.json")
    other.parent.mkdir(parents=True)
    other.write_text("{}")
    Manifest().record([other])
    assert packed_names(config) == before


def test_a_package_has_the_runs_files_under_the_seeds_names(config: Path) -> None:
    names = packed_names(config)
    for name in ("logs/metrics.jsonl", "logs/eval.jsonl", "logs/episodes/step_00001.jsonl",
                 "logs/eval/step_00001.jsonl", "reports/config_effective.yaml",
                 "checkpoints/rc1/final_model/model.safetensors"):  # fmt: skip
        assert name in names
    evaluation = newest_evaluation()
    assert evaluation is not None
    assert names[f"reports/{evaluation.name}"] == sha256_file(evaluation)
    only_recorded = [name for name in names if name.startswith("runs/")]
    ends = ("final_model/manifest.json", evaluation.name)
    assert all(name.endswith(ends) or "/logs/eval/" in name for name in only_recorded)
