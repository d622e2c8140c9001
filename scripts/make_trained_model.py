"""Makes `models/tiny-trained`, the trained policy that `askgate demo` shows, from the final model of a finished run.

    make quickstart
    python scripts/make_trained_model.py --model checkpoints/rc1/final_model --out models/tiny-trained

Run it in the folder of the run. It refuses a model that is not as it was sealed, and a run without a report that passed
and that follows from its recorded episodes. Weights are rounded to float16.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from src.checkpoint.seal import SEAL_FILE, Damaged, Seal, verify
from src.config.loader import stored_config
from src.config.train_config import TrainConfig
from src.core.errors import BadInput
from src.core.files import sha256_file
from src.core.paths import FINAL_MODEL, evaluations, run_of
from src.eval.trial import TrialReport
from src.release.card import results_table
from src.release.gguf_export import load_merged, load_tokenizer
from src.training.verify_results import derived_report, verify_results

RUN_SEAL = "run_seal.json"
"""Copy of the seal of the run's final model."""
COMMAND = "python scripts/make_trained_model.py --model {model} --out {out}"


def main() -> None:
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("--model", type=Path, required=True, help="Folder final_model of the run.")
    flags.add_argument("--out", type=Path, default=Path("models/tiny-trained"))
    given = flags.parse_args()
    try:
        print(make_trained(given.model, given.out))
    except BadInput as error:
        print(f"make_trained_model: {error}", file=sys.stderr)
        sys.exit(error.exit_code)


def make_trained(model: Path, out: Path) -> str:
    """Writes weights, tokenizer, the run's seal and the card. Returns the card."""
    sealed = _sealed(model)
    config = stored_config(sealed.marks["config"] | {"profile": sealed.marks["profile"]}, str(model))
    path, report = _report(model, config)
    policy = load_merged(model, None).half()
    policy.save_pretrained(out)
    load_tokenizer(model).save_pretrained(out)
    (out / RUN_SEAL).write_bytes((model / SEAL_FILE).read_bytes())
    text = card(model, out, config, sealed, path, report, sum(weight.numel() for weight in policy.parameters()))
    (out / "README.md").write_text(text, encoding="utf-8")
    return text


def _sealed(model: Path) -> Seal:
    try:
        return verify(model)
    except Damaged as error:
        remedy = f"name the {FINAL_MODEL} of a finished run, such as checkpoints/rc1/{FINAL_MODEL}"
        raise BadInput(str(error), where=str(model), remedy=remedy) from None


def _report(model: Path, config: TrainConfig) -> tuple[Path, TrialReport]:
    """The newest report of the run, which must follow from the recorded episodes and have passed."""
    run = run_of(config.checkpoint_root)
    folders = [config.checkpoints(seed) / FINAL_MODEL for seed in config.seeds]
    if model.resolve() not in [folder.resolve() for folder in folders]:
        raise BadInput("is not of the last run in this folder", where=str(model), remedy=f"name {folders[0]}")
    reports = [path for path in evaluations(run) if path.suffix == ".json"]
    if not reports:
        raise BadInput("has no report", where=str(run), remedy="run `askgate eval` with the config of the run")
    path = max(reports, key=lambda one: one.stat().st_mtime)
    report = derived_report(config, path)
    if report.gated:
        verify_results(False, lambda line: print(line, file=sys.stderr), path)
    if not report.passed:
        failed = ", ".join(check.name for check in report.checks if not check.passed)
        raise BadInput(f"did not pass ({failed})", where=str(path), remedy="train until the report passes")
    return path, report


def card(
    model: Path, out: Path, config: TrainConfig, sealed: Seal, path: Path, report: TrialReport, parameters: int
) -> str:
    """The model card in Markdown."""
    seeds = f"one of {len(config.seeds)} seeds" if len(config.seeds) > 1 else f"seed {config.seeds[0]}"
    gated = "gated (both rounds passed)" if report.gated else "without gates"
    sft = f"SFT on {config.warm_start.tokens:,} tokens, then " if config.warm_start else ""
    steps = sealed.step - min(sealed.step, config.warm_steps)
    shown = f"models/{out.name}"  # wherever this run writes it
    lines = [
        f"# {shown}",
        "",
        f"`{config.base_model}` after training with AskGate: the policy that `askgate demo` shows beside its base.",
        "Like its base it knows AskGate's generated worlds and nothing else; it is not an assistant.",
        "",
        f"    {COMMAND.format(model=model.as_posix(), out=shown)}",
        "",
        f"- {sft}{config.strategy.upper()}, {steps} steps of {config.batch_size} episodes, {seeds}, {gated}, profile "
        f"{report.profile}. The whole config is in `{RUN_SEAL}`, the seal of the run's final model.",
        f"- {parameters / 1e6:.2f}M parameters, rounded to float16; the figures below are of the weights as trained.",
        f"- Report `{path.name}`, SHA-256 `{sha256_file(path)}`, computed again from the recorded episodes.",
        f"- Seal SHA-256 `{sha256_file(model / SEAL_FILE)}`.",
        "",
        f"On {report.figures['held_out']:,} held-out samples, {'greedy' if config.eval.greedy else 'sampled'}:",
        "",
        *results_table(report.pooled),
        "",
        "License: Apache-2.0, like the rest of the repository.",
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
