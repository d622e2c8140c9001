"""The work orders' commands parse word for word, under every name that they have."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from src.cli.app import GROUPS, app, help_texts, hyphens
from src.config.train_config import TrainConfig
from src.data.difficulty.validate_difficulty import EASY_OVERLAP_MIN, HARD_OVERLAP_MAX
from src.gates.final_models import FREE_WITH_A_TICKET
from tests.conftest import Askgate

ROOT = Path(__file__).resolve().parents[2]

WORK_ORDER = {
    "shadow_run": "--n 245 --seed 20250820 --stratify"
    " --materialize data/shadow_eval_245.jsonl --dump-manifest reports/rc1/sample_manifest.json",
    "build_rollout_pool": "--out data/rollouts/rc1_seed.jsonl --n 30000"
    " --mix 'hotpotqa:0.45,strategyqa:0.30,gsm8k:0.25' --max_turns 6 --clarify_rate 0.30"
    " --tools 'wiki,calc' --templates_dir templates/pack_v2",
    "validate_pool": "data/rollouts/rc1_seed.jsonl --min_distinct2 0.60 --kl3_min 0.15 --roles_min 4 --styles_min 3"
    " --max_dup_pct 2.0 --max_len 4096 --min_len 64"
    " --leak_check data/shadow_eval_245.jsonl --leak_ngram 5 --leak_sim 0.85 --by_task 'hotpotqa,strategyqa,gsm8k'",
    "difficulty_metrics": "--in data/rollouts/rc1_seed.jsonl --out data/rollouts/rc1_seed.metrics.jsonl",
    "difficulty_bucketize": "--metrics data/rollouts/rc1_seed.metrics.jsonl"
    " --target 'easy:0.25,medium:0.45,hard:0.30' --by_task 'hotpotqa,strategyqa,gsm8k'"
    " --out data/rollouts/rc1_seed.balanced.jsonl",
    "validate_difficulty": "--metrics data/rollouts/rc1_seed.metrics.jsonl"
    " --balanced data/rollouts/rc1_seed.balanced.jsonl --min_hard_pct 0.30 --max_easy_pct 0.30"
    " --len_max 3500 --turns_max 8 --tool_hops_max 8 --clue_overlap_max_easy 0.65 --clue_overlap_min_hard 0.10"
    " --out reports/rc1/difficulty_report.json",
    "diversity_report": "data/rollouts/rc1_seed.jsonl --out reports/diversity_report.json",
    "make_min_data": "",
    "probe_scorer": "--n 8 --provider deepseek_r1 --live",
    "assert_not_simulated": "--cache_hit_lt 0.90",
    "score": "",
    "weight_calib": "--cv 5 --boot 200 --l2 0.1 --seed 42",
    "overclar_penalty": "--alpha 0.07 --cap 3 --ablation",
    "evaluate": "",
    "train": "--config configs/train_local.yaml --resume",
}
ASKED_FOR = {
    # What to write and how to draw, whom to call and that it is meant: asked for, never assumed.
    "shadow_run": ("materialize", "dump_manifest", "stratify"),
    "probe_scorer": ("provider", "live"),
    # Those of the config's gate profile.
    "weight_calib": ("cv", "boot", "l2", "seed"),
    # Price and cap are those of configs/default.yaml.
    "overclar_penalty": ("alpha", "cap", "ablation"),
    "train": ("resume",),
}
ADDED = {
    "shadow_run": {
        *("--tag", "--source", "--data_dir", "--mix", "--lang", "--templates_dir"),
        *("--shadow_set", "--episodes", "--config", "--set", "--weights", "--live_n", "--provider"),
    },
    "build_rollout_pool": {
        "--source",
        "--data_dir",
        "--seed",
        "--lang",
        "--tool_hops",
        "--ops_numeric",
        "--paraphrase",
        "--reuse",
        "--cluster",
    },
    "validate_pool": {"--max_shortcut_auc", "--out", "--cluster"},
    "difficulty_metrics": {"--cluster"},
    "validate_difficulty": {"--cluster"},
    "weight_calib": {
        *("--tag", "--n", "--pool", "--episodes", "--config", "--set", "--live_n", "--provider"),
        *("--scored", "--baseline", "--out"),
    },
    "probe_scorer": {"--profile"},
    "assert_not_simulated": {"--profile"},
    "score": {
        *("--out", "--n", "--samples", "--seed", "--budget", "--provider", "--profile"),
        *("--batch", "--cluster"),
    },
    "overclar_penalty": {"--config", "--set", "--steps", "--seeds", "--n", "--episodes", "--tag"},
    "evaluate": {
        "--adapter",
        *("--config", "--set", "--tag"),
        *("--model", "--backend", "--n", "--greedy", "--compare", "--out"),
        *("--bench", "--data", "--limit", "--actions"),
    },
    "train": {"--plan", "--set", "--model", "--data"},
}
OPERATIONS = (
    "quickstart",
    "rc1",
    "status",
    "board",
    "kpi",
    "sync",
    "scale",
    "validate_scores",
    "round",
    "verify",
    "ppo_runner",
    "sft",
    "runs",
    "doctor",
)
"""Commands of the whole loop, which no work order names."""
RELEASE = (
    *("report", "review", "init", "chat", "demo", "samples", "export", "push", "export_gguf", "eval"),
    *("package", "reproduce", "anchor"),
)
NO_SCRIPT = ("shadow_run", "make_min_data", "score", "weight_calib", "overclar_penalty", "evaluate", "train")
DOORS = {
    **{verb: [f"scripts/{verb}.py"] for verb in WORK_ORDER if verb not in NO_SCRIPT},
    "shadow_run": ["-m", "src.evaluation.shadow_run"],
    "weight_calib": ["-m", "src.evaluation.weight_calib"],
    "overclar_penalty": ["-m", "src.evaluation.overclar_penalty"],
    "train": ["-m", "src.core.launch"],
    "make_min_data": ["ops/make_min_data.py"],
    "export_gguf": ["scripts/export_gguf.py"],
}


def understood(verb: str, arguments: str) -> dict[str, Any]:
    group: Any = typer.main.get_command(app)
    parameters: dict[str, Any] = group.commands[hyphens(verb)].make_context(verb, shlex.split(arguments)).params
    return parameters


@pytest.mark.parametrize("verb", WORK_ORDER)
def test_help_lists_every_flag_of_the_work_orders(verb: str, askgate: Askgate) -> None:
    shown = askgate(verb, "--help")
    assert shown.code == 0
    flags = set(re.findall(r"^ +(--[\w-]+)", shown.out, flags=re.MULTILINE))
    asked = set(re.findall(r"--[\w-]+", WORK_ORDER[verb]))
    assert flags == set(map(hyphens, asked | ADDED.get(verb, set()))) | {"--json", "--help"}


@pytest.mark.parametrize("verb", WORK_ORDER)
def test_the_work_orders_values_are_the_defaults(verb: str) -> None:
    given, default = understood(verb, WORK_ORDER[verb]), understood(verb, "")
    for name in ASKED_FOR.get(verb, ()):
        assert given.pop(name)
        assert not default.pop(name)
    assert given == default


def test_the_example_of_set_is_one_that_the_verb_takes(askgate: Askgate) -> None:
    """A ticket covers the config, so a gated run may change few settings."""
    for verb, section in (("ppo_runner", FREE_WITH_A_TICKET), ("train", TrainConfig.model_fields)):
        example = re.search(r"such as\s+([a-z_]+)\.[a-z_]+=", askgate(verb, "--help").out)
        assert example is not None
        assert example[1] in section


def test_every_verb_is_listed_with_a_whole_sentence(askgate: Askgate, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = askgate("--help").out
    listed = dict(re.findall(r"^  ([\w-]+) {2,}(\S.*)$", shown.split("\nStart (")[1], flags=re.MULTILINE))
    verbs = {*WORK_ORDER, *OPERATIONS, *RELEASE, "scorecache", "sign-off"} - {"evaluate"}
    assert set(listed) == set(map(hyphens, verbs))
    assert "Commands:" not in shown, "a verb belongs to a group"
    for language in ("en", "zh"):
        monkeypatch.setenv("ASKGATE_LANG", language)
        lines = askgate("--help").out.splitlines()[1:]
        assert not [line for line in lines if line.endswith("...")], "a sentence is cut off"


def test_the_fixed_clue_overlap_limits_equal_those_checked(askgate: Askgate) -> None:
    shown = " ".join(askgate("validate-difficulty", "--help").out.split())
    assert f"the lower limit is fixed at {EASY_OVERLAP_MIN:.2f}." in shown
    assert f"the upper limit is fixed at {HARD_OVERLAP_MAX:.2f}." in shown


def test_help_has_eight_groups_each_with_an_example_that_parses(askgate: Askgate) -> None:
    shown = askgate("--help").out
    groups = re.findall(r"^(\w+) \(.+\):$", shown, flags=re.MULTILINE)
    assert groups == ["Start", "Data", "Judge", "Reward", "Train", "Eval", "Gate", "Owner"]
    assert GROUPS.keys() == help_texts()["groups"].keys()
    for group in help_texts()["groups"].values():
        assert f"    $ {group['example']}\n" in shown
        for command in group["example"].split(" && "):
            _, verb, *flags = shlex.split(re.sub(r"^(\w+=\S+ )*", "", command))
            understood(verb, shlex.join(flags))


@pytest.mark.parametrize("arguments", [["validate_pool", "--max_len"], ["validate-pool", "--max-len"],
                                       ["scorecache", "replay_bad", "--prof_ile"]])  # fmt: skip
def test_verbs_and_flags_may_have_a_hyphen_or_an_underscore(arguments: list[str], askgate: Askgate) -> None:
    """The last flag lacks its value or does not exist, which only the right command can say."""
    refused = askgate(*arguments)
    assert refused.code == 2
    assert "No such command" not in refused.err
    assert arguments[-1] in refused.err or hyphens(arguments[-1]) in refused.err


def test_every_flag_has_hyphens() -> None:
    group: Any = typer.main.get_command(app)
    for verb, command in group.commands.items():
        assert "_" not in verb
        for parameter in command.params:
            assert not [flag for flag in parameter.opts if "_" in flag and flag.startswith("--")], verb


def test_evaluate_is_a_hidden_name_of_eval(askgate: Askgate) -> None:
    group: Any = typer.main.get_command(app)
    assert group.commands["evaluate"].callback.__wrapped__ is group.commands["eval"].callback.__wrapped__
    assert group.commands["evaluate"].hidden
    refused = askgate("eval", "--n", "3", "--greedy")
    assert (refused.code, refused.out) == (2, "")
    assert "--n, --greedy: measures one model. What to do: add --model FOLDER." in refused.err


@pytest.mark.parametrize("verb", DOORS)
def test_a_script_runs_its_verb(verb: str, tmp_path: Path) -> None:
    door = DOORS[verb]
    at_root = door[0] == "-m"
    command = [sys.executable, *(door if at_root else [str(ROOT / door[0])]), "--help"]
    done = subprocess.run(command, cwd=ROOT if at_root else tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"Usage: askgate {hyphens(verb)} [OPTIONS]")


def imported(heavy: str, code: str) -> str:
    script = f"import sys; {code}; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=60)
    return done.stdout.strip() or done.stderr


def test_help_does_not_import_heavy_libraries() -> None:
    heavy = "{'numpy', 'scipy', 'sklearn', 'jinja2', 'torch', 'datasets', 'openai', 'xllamacpp'}"
    assert imported(heavy, "from src.cli import main") == "[]"


def test_verify_does_not_import_heavy_libraries() -> None:
    """They take seconds, and `verify` promises two."""
    heavy = "{'scipy', 'sklearn', 'torch', 'transformers', 'datasets', 'openai', 'huggingface_hub', 'xllamacpp'}"
    assert imported(heavy, "import src.gates.verify, src.training.verify_results") == "[]"


@pytest.mark.parametrize(("program", "on_path", "told"), [
    (".venv/bin/askgate", None, True),
    (".venv/bin/askgate", "/usr/bin/askgate", False),
    ("src/cli/__main__.py", None, False),
])  # fmt: skip
def test_a_make_user_is_told_how_to_extend_the_path(
    program: str, on_path: str | None, told: bool, askgate: Askgate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".venv/bin").mkdir(parents=True)
    (tmp_path / ".venv/bin/activate").touch()
    monkeypatch.setattr(sys, "prefix", str(tmp_path / ".venv"))
    monkeypatch.setattr(sys, "argv", [program])
    monkeypatch.setattr("src.cli.app.which", lambda name: on_path)
    assert ("first run: . .venv/bin/activate" in askgate("init", "new").err) == told
    assert "first run" not in askgate("status").err, "once is enough"
