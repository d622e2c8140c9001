"""The tutorial's commands, from a JSONL file of the user's to a pool that training accepts."""

from __future__ import annotations

import json
import re
from pathlib import Path
from random import Random

import pytest

from src.config.loader import load_train_config
from src.core.jsonl import read_records
from src.core.types import Sample
from src.training.sampler import open_sampler
from tests.conftest import Askgate

TUTORIAL = Path(__file__).resolve().parents[2] / "docs" / "tutorial.md"


def blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", TUTORIAL.read_text(encoding="utf-8"), flags=re.DOTALL)


def problem(random: Random) -> dict[str, str]:
    """A problem in the pattern of the tutorial's example."""
    trays, each, gifts, price = (
        random.randint(3, 19),
        random.randint(4, 24),
        random.randint(2, 11),
        random.randint(2, 9),
    )
    made = trays * each
    question = (
        f"Amir bakes {trays} trays of buns. Each tray holds {each} buns. Amir gives away {gifts} buns. The rest are "
        f"sold for ${price} apiece. How many dollars does Amir take in?"
    )
    answer = (
        f"Amir bakes {trays} * {each} = <<{trays}*{each}={made}>>{made} buns.\nAfter the gifts {made} - {gifts} = "
        f"<<{made}-{gifts}={made - gifts}>>{made - gifts} are left.\nThey bring {made - gifts} * {price} = "
        f"$<<{made - gifts}*{price}={(made - gifts) * price}>>{(made - gifts) * price}.\n#### {(made - gifts) * price}"
    )
    return {"question": question, "answer": answer}


def test_the_tutorials_commands_build_a_pool_that_trains(
    askgate: Askgate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own/gsm8k").mkdir(parents=True)
    shown = json.loads(blocks("json")[0])
    random = Random(1)
    lines = [shown, *(problem(random) for _ in range(1_200))]
    Path("own/gsm8k/bakery.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    shadow_run, build, validate = [line.split()[1:] for line in blocks("bash")[1].splitlines()]
    assert askgate(*shadow_run).code == 0
    assert askgate(*build).code == 0
    judged = askgate(*validate)
    assert judged.code == 1, "one mould is not diverse, as the tutorial says"
    assert "FAILED distinct2" in judged.out
    samples = list(read_records(Path("data/rollouts/own.jsonl"), Sample))
    assert sum(one.needs_clarification for one in samples) == 90
    Path("own.yaml").write_text(blocks("yaml")[0], encoding="utf-8")
    config = load_train_config(Path("own.yaml"))
    sampler = open_sampler(config.seed_pool, config.shadow_set, config.priority_sampling, seed=1)
    assert sampler is not None
