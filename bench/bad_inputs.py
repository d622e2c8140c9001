"""Bad inputs over the commands: each must end with exit code 2 and one message that says what to do.

    python bench/bad_inputs.py            # all cases, in this process, each with a deadline
    python bench/bad_inputs.py --every 8  # every eighth case

A case is a command with one damaged file, or a flag with a value that nobody should type. Prints the cases that ended
with a traceback, at the deadline or with another exit code, and exits with 1 if there was one.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
DEADLINE_S = 60
CONFIG = ROOT / "configs/quickstart.yaml"
DIGITS = "9" * 6_000


class DeadlineError(BaseException):
    """No `except Exception` of a command catches it."""


def _write(content: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(content)


def _damaged_model(path: Path) -> None:
    shutil.copytree(ROOT / "models/tiny", path)
    for file in path.glob("*.safetensors"):
        file.write_bytes(file.read_bytes()[:1000])


KINDS: dict[str, Callable[[Path], object]] = {
    "missing": lambda path: None,
    "empty": _write(b""),
    "folder": lambda path: path.mkdir(),
    "pipe": lambda path: os.mkfifo(path),
    "link to nothing": lambda path: path.symlink_to("nowhere"),
    "link to itself": lambda path: path.symlink_to(path.name),
    "binary": _write(bytes(range(256)) * 8),
    "not utf-8": _write(b'{"id": "\xff\xfe"}\n'),
    "NUL bytes": _write(b"\0" * 4096),
    "deep brackets": _write(b"[" * 200_000),
    "deep braces": _write(b'{"a":' * 50_000),
    "5,000-digit number": _write(f'{{"id": {DIGITS}, "steps": {DIGITS}}}\n'.encode()),
    "cut in the middle": _write(b'{"id": "a", "steps": 3, "prompt": "wh'),
    "a list": _write(b"[1, 2, 3]\n"),
    "a number": _write(b"17\n"),
    "other fields": _write(b'{"colour": "blue"}\n'),
}
FILES: dict[str, tuple[str, ...]] = {
    "diversity_report": ("diversity_report", "{}.jsonl"),
    "validate_pool": ("validate_pool", "{}.jsonl", "--leak_check", "shadow.jsonl"),
    "validate_pool, shadow set": ("validate_pool", "pool.jsonl", "--leak_check", "{}.jsonl"),
    "difficulty_metrics": ("difficulty_metrics", "--in", "{}.jsonl", "--out", "m.jsonl"),
    "difficulty_bucketize": ("difficulty_bucketize", "--metrics", "{}.jsonl", "--out", "b.jsonl"),
    "validate_difficulty": ("validate_difficulty", "--metrics", "{}.jsonl", "--balanced", "pool.jsonl"),
    "score": ("score", "{}.jsonl", "--n", "4", "--provider", "custom"),
    "validate_scores": ("validate_scores", "{}.jsonl"),
    "weight_calib": ("weight_calib", "--scored", "{}.jsonl"),
    "weight_calib, baseline": ("weight_calib", "--scored", "pool.jsonl", "--baseline", "{}.json"),
    "shadow_run, weights": ("shadow_run", "--n", "8", "--shadow_set", "shadow.jsonl", "--weights", "{}.json"),
    "train": ("train", "--config", "{}.yaml"),
    "ppo_runner": ("ppo_runner", "--config", "{}.yaml"),
    "evaluate": ("evaluate", "--config", "{}.yaml"),
    "overclar_penalty": ("overclar_penalty", "--ablation", "--config", "{}.yaml"),
    "report": ("report", "--profile", "quickstart", "--evaluation", "{}.json"),
    "sign-off": ("sign-off", "--key", "{}.pem"),
    "export_gguf": ("export_gguf", "--model", "{}.model", "--out", "o.gguf"),
    "reproduce": ("reproduce", "{}.tgz", "--verify"),
}
"""Commands with the place of the damaged file."""
FLAGS: tuple[tuple[str, ...], ...] = (
    ("train", "--config", str(CONFIG), "--set", f"steps={DIGITS}"),
    ("train", "--config", str(CONFIG), "--set", "steps=-1"),
    ("train", "--config", str(CONFIG), "--set", "steps"),
    ("train", "--config", str(CONFIG), "--set", "no.such.key=1"),
    ("train", "--config", str(CONFIG), "--set", "lr=nan"),
    ("train", "--config", str(CONFIG), "--set", "strategy=no_such_module:Thing"),
    ("train", "--config", str(CONFIG), "--set", "strategy=broken_class:Thing"),
    ("train", "--config", str(CONFIG), "--set", "base_model=damaged"),
    ("train", "--config", str(CONFIG), "--set", "seed_pool=pool.jsonl", "--set", "shadow_set=pipe"),
    ("evaluate", "--config", str(CONFIG)),
    ("build_rollout_pool", "--n", "0", "--out", "x.jsonl"),
    ("build_rollout_pool", "--n", DIGITS, "--out", "x.jsonl"),
    ("build_rollout_pool", "--n", "10", "--out", "x.txt"),
    ("build_rollout_pool", "--n", "10", "--out", "x" * 300 + ".jsonl"),
    ("build_rollout_pool", "--n", "10", "--out", "/proc/x.jsonl"),
    ("build_rollout_pool", "--n", "10", "--mix", "hotpotqa:2", "--out", "x.jsonl"),
    ("build_rollout_pool", "--n", "10", "--mix", "", "--out", "x.jsonl"),
    ("build_rollout_pool", "--n", "10", "--templates_dir", "pool.jsonl", "--out", "x.jsonl"),
    ("build_rollout_pool", "--n", "10", "--source", "dir", "--data_dir", "nowhere", "--out", "x.jsonl"),
    ("shadow_run", "--n", "8", "--materialize", "folder.jsonl/../pipe/x.jsonl"),
    ("validate_pool", "pool.jsonl", "--leak_ngram", "-1"),
    ("validate_pool", "pool.jsonl", "--leak_sim", "7"),
    ("validate_pool", "pool.jsonl", "--by_task", "chess"),
    ("validate_scores", "pool.jsonl", "--max_unstable", "nan"),
    ("round", "--round", "3"),
    ("round", "--round", "1", "--profile", "mine"),
    ("round", "--readmit"),
    ("verify",),
    ("verify", "--deep"),
    ("package",),
    ("sign-off", "--amber", "none", "--by", "x"),
    ("export_gguf", "--model", "damaged", "--out", "o.gguf"),
    ("eval", "--model", "damaged", "--config", str(CONFIG)),
    ("eval", "--model", "pool.jsonl", "--backend", "llamacpp", "--config", str(CONFIG)),
    ("probe_scorer", "--n", "1", "--provider", "nobody"),
    ("scorecache", "replay-bad", "--profile", "mine"),
    ("train",),
    ("nothing",),
)


@dataclass(frozen=True)
class Case:
    name: str
    arguments: tuple[str, ...]
    make: Callable[[Path], object] | None = None
    """Makes the damaged file, whose path it is given."""
    damaged: str = ""
    """Name of that file."""


def cases() -> list[Case]:
    found = []
    for command, words in FILES.items():
        for kind, make in KINDS.items():
            made = next(word for word in words if "{}" in word).format("damaged_input")
            given = tuple(word.format("damaged_input") for word in words)
            found.append(Case(f"{command}: {kind}", given, make, made))
        long = tuple(word.format("a" * 300) for word in words)
        found.append(Case(f"{command}: a name of 300 characters", long))
    found += [Case(" ".join(words).replace(str(ROOT), "")[:120], words) for words in FLAGS]
    return found


def prepare(folder: Path) -> None:
    """Writes the honest files that a case may need beside its damaged one."""
    from msgspec.structs import replace

    from src.core.defaults import MIX, SEED, TEMPLATES
    from src.data.pool.build import build_pool
    from src.data.pool.plan import BuildPlan

    plan = BuildPlan(n=40, mix=MIX, seed=SEED, langs=(), templates_dir=TEMPLATES)
    build_pool(plan, folder / "pool.jsonl")
    build_pool(replace(plan, split="shadow", n=24), folder / "shadow.jsonl")
    _damaged_model(folder / "damaged")
    os.mkfifo(folder / "pipe")
    (folder / "broken_class.py").write_text("class Thing(:\n")


@contextmanager
def captured(file: Path) -> Iterator[None]:
    """Sends standard output and error of this process to a file, whoever writes to them."""
    sys.stdout.flush()
    sys.stderr.flush()
    before = [os.dup(number) for number in (1, 2)]
    with open(file, "a", encoding="utf-8", buffering=1) as target, redirect_stdout(target), redirect_stderr(target):
        for number in (1, 2):
            os.dup2(target.fileno(), number)
        try:
            yield
        finally:
            target.flush()
            for number, old in zip((1, 2), before, strict=True):
                os.dup2(old, number)
                os.close(old)


def outcome(case: Case, honest: Path, deadline_s: int = DEADLINE_S) -> str:
    """`clean`, or what was wrong."""
    from src.cli import main

    def too_late(number: int, frame: object) -> None:
        raise DeadlineError

    here = Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        place = Path(name) / "run"
        place.mkdir()
        for file in honest.iterdir():
            (place / file.name).symlink_to(file)
        os.chdir(place)
        if case.make:
            case.make(place / case.damaged)
        code: object = None
        signal.signal(signal.SIGALRM, too_late)
        signal.alarm(deadline_s)
        try:
            with captured(Path(name) / "said"):
                try:
                    main(list(case.arguments))
                except SystemExit as left:
                    code = left.code
                finally:
                    signal.alarm(0)
        except DeadlineError:
            return "deadline"
        except BaseException as error:
            return f"traceback ({type(error).__name__})"
        finally:
            os.chdir(here)
        said = (Path(name) / "said").read_text(errors="replace")
    if "Traceback (most recent call last)" in said:
        return f"traceback ({said.strip().splitlines()[-1][:120]})"
    if code != 2:
        return f"exit code {code} ({said.strip()[-120:]!r})"
    messages = said.count("What to do")
    usage = "Try '" in said or "Usage:" in said
    return "clean" if usage or messages == 1 else f"{messages} messages ({said[-200:]!r})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=1, help="Run every N-th case only.")
    parser.add_argument("--only", default="", help="Run cases whose name contains this.")
    chosen = parser.parse_args()
    for variable in ("SCORER_PROVIDER", "SCORER_API_KEY", "SCORER_BASE_URL", "RUN_MODE"):
        os.environ.pop(variable, None)
    os.environ |= {"HF_HUB_OFFLINE": "1", "NO_COLOR": "1", "COLUMNS": "200"}
    started, results = time.monotonic(), {}
    with tempfile.TemporaryDirectory() as name:
        honest = Path(name)
        prepare(honest)
        for case in [one for one in cases() if chosen.only in one.name][:: chosen.every]:
            results[case.name] = outcome(case, honest)
            if results[case.name] != "clean":
                print(f"{case.name}: {results[case.name]}", flush=True)
    kinds = Counter(result.split(" (")[0] for result in results.values())
    print(json.dumps({"cases": len(results), **kinds, "seconds": round(time.monotonic() - started, 1)}))
    sys.exit(int(set(results.values()) != {"clean"}))


if __name__ == "__main__":
    main()
