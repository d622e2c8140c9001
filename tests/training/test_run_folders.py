"""Every run has its own folder, and the known paths are links to the last one."""

from __future__ import annotations

import errno
import os
import re
import shutil
from pathlib import Path

import pytest

from src.core.paths import LINKS, adopt_run, all_runs, evaluations, run_of
from tests.conftest import Askgate

from .run_outputs import assert_refused, files_of, lines, only_run, weights
from .tiny_run import write_config


def test_a_second_run_changes_no_file_of_the_first(place: Path, askgate: Askgate) -> None:
    config = write_config(place, steps=1)
    assert askgate("train", "--config", config).code == 0
    first = only_run()
    before = files_of(first)
    for name in ("logs/metrics.jsonl", "logs/eval.jsonl", "logs/train.log", "logs/episodes/step_00001.jsonl",
                 "logs/eval/step_00001.jsonl", "reports/config_effective.yaml",
                 "checkpoints/local/final_model/model.safetensors"):  # fmt: skip
        assert (place / name).read_bytes() == before[name], name
    assert askgate("train", "--config", config).code == 0
    assert files_of(first) == before
    second, _ = all_runs()
    assert second != first
    for link in ("logs/metrics.jsonl", "logs/eval", "checkpoints/local", "runs/latest"):
        assert run_of(Path(link)) == second, link
    assert len(lines(place / "logs" / "metrics.jsonl")) == 1
    (report,) = (second / "reports").glob("ppo_eval_*.json")
    assert (place / "reports" / report.name).read_bytes() == report.read_bytes()


def test_a_resume_finds_its_run_by_config(place: Path, askgate: Askgate) -> None:
    assert askgate("train", "--config", write_config(place, steps=1)).code == 0
    first = only_run()
    assert askgate("train", "--config", write_config(place, steps=1, clip=0.5)).code == 0
    (second,) = set(all_runs()) - {first}
    before = files_of(second)
    done = askgate("train", "--config", write_config(place, steps=2), "--resume")
    assert done.code == 0, done.err
    assert "resumed after step 1 of 2" in done.err
    assert len(lines(first / "logs" / "metrics.jsonl")) == 2
    assert run_of(Path("checkpoints/local")) == run_of(Path("runs/latest")) == first
    assert files_of(second) == before


def test_a_run_of_an_older_version_gets_its_own_folder(place: Path, askgate: Askgate) -> None:
    """Older versions wrote `logs/` and `checkpoints/` in place, without links."""
    config = write_config(place, steps=1)
    assert askgate("train", "--config", config).code == 0
    first = only_run()
    for name in (*LINKS, *(path.relative_to(first) for path in evaluations(first))):
        if name.is_symlink():
            name.unlink()
            if (first / name).exists():
                (first / name).rename(name)
    shutil.rmtree(place / "runs")
    assert askgate("train", "--config", write_config(place, steps=2), "--resume").code == 0
    assert [line["step"] for line in lines(only_run() / "logs" / "metrics.jsonl")] == [1, 2]
    assert run_of(Path("logs/metrics.jsonl")) == only_run()


def test_a_link_that_no_run_made_is_refused(place: Path, askgate: Askgate) -> None:
    (place / "checkpoints").mkdir()
    (place / "elsewhere").mkdir()
    (place / "checkpoints" / "local").symlink_to("../elsewhere")
    assert_refused(
        askgate("evaluate", "--config", write_config(place)),
        "checkpoints/local: is a link to elsewhere, which no run made",
    )


def test_a_disk_without_links_is_refused(place: Path, askgate: Askgate, monkeypatch: pytest.MonkeyPatch) -> None:
    link = Path.symlink_to

    def no_links(path: Path, target: str) -> None:
        if not path.is_absolute() or path.is_relative_to(place):
            raise OSError(errno.EPERM, os.strerror(errno.EPERM))
        link(path, target)

    monkeypatch.setattr(Path, "symlink_to", no_links)
    done = askgate("train", "--config", write_config(place, steps=1))
    assert done.code == 2
    assert "checkpoints/local: a link cannot be made here" in done.err


def test_the_mirror_has_the_checkpoints_of_each_run(place: Path, askgate: Askgate) -> None:
    config = write_config(place, steps=1, checkpoint={"mirror": "drive"})
    for _ in range(2):
        done = askgate("train", "--config", config)
        assert done.code == 0, done.err
    assert {path.name for path in (place / "drive").iterdir()} == {run.name for run in all_runs()}
    newest = place / "drive" / all_runs()[0].name / "local"
    assert (newest / "final_model" / "model.safetensors").read_bytes() == weights(place)


def test_every_seed_has_its_own_folder_and_table(place: Path, askgate: Askgate) -> None:
    done = askgate("train", "--config", write_config(place, steps=1, seeds=[1, 2]))
    assert done.code == 0, done.err
    assert re.findall(r"^seed (\d+), 1 steps", done.out, flags=re.MULTILINE) == ["1", "2"]
    finals = [place / f"checkpoints/local/seed_{seed}/final_model/model.safetensors" for seed in (1, 2)]
    assert finals[0].read_bytes() != finals[1].read_bytes()
    assert [line["seed"] for line in lines(place / "logs" / "metrics.jsonl")] == [1, 2]
    assert (place / "logs" / "episodes" / "seed_2" / "step_00001.jsonl").exists()


def test_a_second_run_at_the_same_time_is_refused(place: Path, askgate: Askgate) -> None:
    from src.runtime.lock import lock_folder

    held = lock_folder(place / "logs")
    try:
        assert_refused(askgate("train", "--config", write_config(place)), "logs: another run is writing here")
    finally:
        os.close(held)


def test_empty_folders_made_beforehand_are_no_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("checkpoints/rc1/best").mkdir(parents=True)
    assert adopt_run() is None
    assert not Path("checkpoints/rc1").exists()
    Path("checkpoints/rc1/best").mkdir(parents=True)
    Path("checkpoints/rc1/best/step_00002.json").touch()
    run = adopt_run()
    assert run is not None
    assert run_of(Path("checkpoints/rc1")) == run
    assert Path("checkpoints/rc1/best/step_00002.json").exists()


def test_a_run_adopted_in_two_attempts_is_one_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kill between two renames: the rest goes to the same folder."""
    monkeypatch.chdir(tmp_path)
    for name, at in (("logs/metrics.jsonl", 1e9), ("checkpoints/rc1/step_00001/manifest.json", 2e9)):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text("{}")
        os.utime(name, (at, at))

    def killed(run: Path) -> None:
        raise KeyboardInterrupt

    def killed_at_the_second(path: Path, target: Path) -> None:
        if path == Path("checkpoints/rc1"):
            raise KeyboardInterrupt
        os.rename(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", killed_at_the_second)
        with pytest.raises(KeyboardInterrupt):
            adopt_run()
    with pytest.raises(KeyboardInterrupt):
        adopt_run(killed)
    mirrored: list[Path] = []
    run = adopt_run(mirrored.append)
    assert [run] == all_runs() == mirrored
    assert run_of(Path("logs/metrics.jsonl")) == run_of(Path("checkpoints/rc1")) == run
    assert adopt_run() is None
