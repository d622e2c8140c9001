"""Several ranks against one process on this machine (gloo, CPU), and SIGKILL of a rank at every checkpoint operation.

    python bench/distributed.py rounding         # which shapes of a CPU's matrix products round a row differently
    python bench/distributed.py agree            # models/tiny on 1, 2 and 4 ranks: episodes, gradients, metrics, resume
    python bench/distributed.py kill             # both ranks at every operation of a save; takes an hour on two cores
    python bench/distributed.py kill --stride 5  # at every fifth
    python bench/distributed.py kill --keep DIR  # can be stopped and repeated: cases that are in DIR are not run again

`agree` trains two steps in one process and on 1, 2 and 4 ranks, and then resumes the run of 2 ranks everywhere, for the
third step from equal weights. `kill` starts from a run of 2 ranks before its third save, kills one rank at an operation
of that save, reads how it ended, resumes it, and compares metrics, episodes and weights with an uninterrupted run, bit
by bit. Ranks are started by torchrun's agent, forked from a process that has imported everything.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
import yaml
from torch.nn.functional import linear, pad, scaled_dot_product_attention

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from src.rollout.kv_cache import INVARIANT_ROWS  # noqa: E402
from tests.engines.killed import WEIGHTS  # noqa: E402
from tests.engines.test_resume_kill import copied, outcome, said  # noqa: E402
from tests.fork_server import ForkServer  # noqa: E402
from tests.reproducible_metrics import reproducible_metrics  # noqa: E402
from tests.training.tiny_run import make_model_and_data, write_config  # noqa: E402

GRADIENTS = 1e-6
TARGET = 3
"""The save that is broken; there is an older checkpoint to drop by then."""
MAX_OPERATIONS = 100


def furnish_tiny(place: Path, slots: int, updates: int) -> None:
    place.mkdir()
    make_model_and_data(place)
    (place / "weights.json").write_text(json.dumps({"weights": WEIGHTS}))
    write_config(
        place,
        base_model=str(ROOT / "models/tiny"),
        steps=2,
        batch_size=16,
        rollout_len=40,
        rollout={"max_turns": 4, "max_tokens": 400, "slots": slots},
        reward={"weights": "weights.json", "dimensions": 1.0},
        optimizer={"minibatches": updates, "pack_tokens": 1200},
        eval={"every_steps": 1000, "n": 1, "base": False},
        lr=1e-5,
    )


def metrics_of(place: Path) -> list[dict[str, float]]:
    lines = (place / "logs/metrics.jsonl").read_text().splitlines()
    return [reproducible_metrics(json.loads(line)) for line in lines]


def episodes_of(place: Path, step: int) -> str:
    return (place / f"logs/episodes/step_{step:05}.jsonl").read_text()


def apart(found: torch.Tensor, wanted: torch.Tensor) -> float:
    return float((found.double() - wanted.double()).norm() / wanted.double().norm().clamp(min=1e-30))


def flat(gradients: list[torch.Tensor]) -> torch.Tensor:
    return torch.cat([one.flatten() for one in gradients])


def of_metrics(found: dict[str, Any], wanted: dict[str, Any]) -> str:
    """The metrics that differ by more than gradients may, each with its value and the difference."""
    pairs = {name: (found[name], wanted[name]) for name in wanted if isinstance(wanted[name], float)}
    differ = [
        f"{name} {b:.4g} by {abs(a - b):.0e}" for name, (a, b) in pairs.items() if abs(a - b) > GRADIENTS * abs(b)
    ]
    return f"{len(pairs) - len(differ)} of {len(pairs)} metrics within {GRADIENTS:.0e}; others: {', '.join(differ)}"


def agree(server: ForkServer, top: Path, slots: int, updates: int) -> bool:
    furnish_tiny(top / "furnished", slots, updates)
    places = {ranks: copied(top / "furnished", top / f"ranks_{ranks}") for ranks in (0, 1, 2, 4)}
    for ranks, place in places.items():
        assert server.run("train", place, ranks=ranks, gradients=True) == 0, said(place)
    wanted = pickle.loads((places[0] / "gradients").read_bytes())
    passed = True
    for ranks in (1, 2, 4):
        found = pickle.loads((places[ranks] / "gradients").read_bytes())
        worst = max(map(apart, found, wanted))
        whole = apart(flat(found), flat(wanted))
        same = episodes_of(places[ranks], 1) == episodes_of(places[0], 1)
        difference = of_metrics(metrics_of(places[ranks])[0], metrics_of(places[0])[0])
        passed &= same and whole <= GRADIENTS
        print(f"{ranks} ranks: first step: episodes the same {same}; gradient of the first update {whole:.1e} "
              f"(worst tensor {worst:.1e}); {difference}", flush=True)  # fmt: skip
    resumed = {ranks: copied(places[2], top / f"resumed_{ranks}") for ranks in (0, 1, 2, 4)}
    for ranks, place in resumed.items():
        settings = yaml.safe_load((place / "own.yaml").read_text()) | {"steps": 3}
        (place / "own.yaml").write_text(yaml.safe_dump(settings))
        assert server.run("train", place, ranks=ranks, gradients=True) == 0, said(place)
    wanted = pickle.loads((resumed[2] / "gradients").read_bytes())
    for ranks in (0, 1, 4):
        place = resumed[ranks]
        found = pickle.loads((place / "gradients").read_bytes())
        worst, whole = max(map(apart, found, wanted)), apart(flat(found), flat(wanted))
        same = episodes_of(place, 3) == episodes_of(resumed[2], 3)
        difference = of_metrics(metrics_of(place)[2], metrics_of(resumed[2])[2])
        passed &= same and whole <= GRADIENTS
        name = f"{ranks} ranks" if ranks else "one process without torchrun"
        print(f"checkpoint of 2 ranks resumed by {name}: episodes the same {same}; gradient {whole:.1e} "
              f"(worst tensor {worst:.1e}); {difference}", flush=True)  # fmt: skip
    return passed


def kill(server: ForkServer, top: Path, stride: int) -> bool:
    furnished, whole, before = top / "furnished", top / "whole", top / "before"
    if not before.exists():
        for folder in (furnished, whole, top / "preparing"):
            shutil.rmtree(folder, ignore_errors=True)
        furnished.mkdir()
        assert server.run("furnish", furnished, steps=4, every_steps=1) == 0
        copied(furnished, whole)
        assert server.run("train", whole, ranks=2) == 0, said(whole)
        preparing = copied(furnished, top / "preparing")
        assert server.run("train", preparing, ranks=2, step=TARGET, at=1, victim=0) == 1
        (preparing / "said").unlink()  # it names a killed rank
        preparing.rename(before)
    log = top / "cases.jsonl"
    cases = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    done = {(case["victim"], case["at"]) for case in cases}
    wanted = outcome(whole)
    for victim in (0, 1):
        for at in range(1, MAX_OPERATIONS, stride):
            if (victim, at) in done:
                continue
            if any(case["victim"] == victim and at > case.get("operations", MAX_OPERATIONS) for case in cases):
                break
            shutil.rmtree(top / "run", ignore_errors=True)
            case = kill_once(server, copied(before, top / "run"), victim, at, wanted)
            print(case, flush=True)
            cases.append(case)
            with log.open("a") as file:
                file.write(json.dumps(case) + "\n")
    kills = [case for case in cases if "operations" not in case]
    good = [case for case in kills if case["named"] and case["same"]]
    print(f"{len(kills)} kills, {len(good)} of them named and resumed with the same bits; the run ended within "
          f"{max(case['seconds'] for case in kills):.1f} s")  # fmt: skip
    return len(good) == len(kills)


def kill_once(server: ForkServer, place: Path, victim: int, at: int, wanted: dict[str, Any]) -> dict[str, Any]:
    """One case of the matrix. A save with fewer than `at` operations is not killed; the case then has their number."""
    case: dict[str, Any] = {"victim": victim, "at": at}
    if server.run("train", place, ranks=2, step=TARGET, at=at, victim=victim) == 0:
        return case | {"operations": int((place / "operations").read_text())}
    case["seconds"] = round(time.time() - float((place / "killed_at").read_text()), 1)
    text = said(place)
    case["named"] = f"rank      : {victim} (local_rank: {victim})" in text and "SIGKILL" in text
    case["told"] = f"rank {1 - victim}: torchrun ends it" in text
    case["same"] = server.run("train", place, ranks=2) == 0 and outcome(place) == wanted
    return case


def rounding() -> bool:
    """Numbers of rows, and depths of attention, at which a CPU rounds a row otherwise than in a large product."""
    torch.manual_seed(0)
    passed = True
    for threads in (1, 2):
        torch.set_num_threads(threads)
        for width, out in ((64, 64), (192, 512), (512, 192), (192, 4096), (1024, 3072), (3072, 1024)):
            weight_OH, x_MH = torch.randn(out, width) / width**0.5, torch.randn(300, width)
            wanted_MO = linear(x_MH, weight_OH)
            differ = [m for m in range(1, 257) if not torch.equal(linear(x_MH[:m], weight_OH), wanted_MO[:m])]
            passed &= not any(m % INVARIANT_ROWS == 0 for m in differ)
            print(
                f"{threads} threads, {width} to {out}: numbers of rows that differ from 300 rows: {differ}", flush=True
            )
    query, key, value = torch.randn(8, 3, 32), torch.randn(8, 320, 32), torch.randn(8, 320, 32)

    def decode(seen: int, depth: int) -> torch.Tensor:
        dark = torch.zeros(depth).masked_fill_(torch.arange(depth) >= seen, -torch.inf).expand(8, 3, -1)
        weight = torch.baddbmm(dark, query, key[:, :depth].transpose(1, 2), alpha=0.2).softmax(-1)
        return torch.bmm(weight, value[:, :depth])

    def prefill(start: int, end: int, blank: int) -> torch.Tensor:
        mask = torch.ones(end - start + blank, end, dtype=torch.bool).tril(start)
        rows = pad(value[None, :, start:end], (0, 0, 0, blank))
        return scaled_dot_product_attention(rows, key[None, :, :end], value[None, :, :end], mask)[:, :, : end - start]

    pairs = [(seen, depth) for seen in range(60, 253, 7) for depth in range(seen, 320)]
    differ = [depth for seen, depth in pairs if not torch.equal(decode(seen, depth), decode(seen, 320))]
    multiples = sum(depth % INVARIANT_ROWS == 0 for depth in differ)
    print(f"attention of one token: {len(differ)} of {len(pairs)} depths of the cache differ from a depth of 320, "
          f"{multiples} of them a multiple of {INVARIANT_ROWS}")  # fmt: skip
    found = {"as it is": 0, "padded": 0}
    pairs = [(start, end) for end in range(100, 320, 13) for start in range(0, end, 7)]
    for start, end in pairs:
        for name, rows in (("as it is", 1), ("padded", INVARIANT_ROWS)):
            whole, part = prefill(0, end, -end % rows), prefill(start, end, -(end - start) % rows)
            found[name] += not torch.equal(part, whole[:, :, start:])
    print(f"attention of many tokens after a shared prefix, {len(pairs)} cases: differ from a read of all {found}")
    return passed and not multiples and not found["padded"]


def main() -> None:
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("part", choices=["rounding", "agree", "kill"])
    flags.add_argument("--slots", type=int, default=16, help="rollout slots of `agree`")
    flags.add_argument("--updates", type=int, default=2, help="updates of a step of `agree`")
    flags.add_argument("--stride", type=int, default=1)
    flags.add_argument("--keep", type=Path, help="folder of `kill` for its runs and cases; default: removed")
    given = flags.parse_args()
    keep = given.keep and given.keep.resolve()
    os.chdir(ROOT)
    if given.part == "rounding":
        passed = rounding()
    else:
        server = ForkServer("tests.engines.ranks", HF_HUB_OFFLINE="1", COLUMNS="200", OMP_NUM_THREADS="1")
        with tempfile.TemporaryDirectory() as temporary:
            top = keep or Path(temporary)
            top.mkdir(parents=True, exist_ok=True)
            passed = (
                agree(server, top, given.slots, given.updates)
                if given.part == "agree"
                else kill(server, top, given.stride)
            )
        server.close()
    print("PASSED" if passed else "FAILED")
    sys.exit(not passed)


if __name__ == "__main__":
    main()
