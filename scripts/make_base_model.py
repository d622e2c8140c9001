"""Makes `models/tiny`, the embedded base policy: tokenizer, SFT on built-in demonstrations, figures, model card.

    python scripts/make_base_model.py --out models/tiny

Minutes on a GPU, hours on two cores; cut short, it goes on where it was. The same device gives the same policy up to
rounding.
"""

import argparse
import platform
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch

from src.core.jsonl import read_records
from src.core.types import Sample
from src.data.pool.build import build_pool
from src.engines.base_card import card, play
from src.engines.base_model import STAGES, Shape, build_plan, make_base
from src.eval.metrics import figures, flat


def main() -> None:
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("--out", type=Path, default=Path("models/tiny"))
    flags.add_argument("--work", type=Path, default=Path("data/base_model"), help="What is done so far lies here.")
    flags.add_argument("--held_out", type=int, default=1000, help="Samples that it is measured on.")
    flags.add_argument("--held_out_seed", type=int, default=4444)
    flags.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    flags.add_argument("--machine", default="", help="A line for the card: what it was trained on.")
    given = flags.parse_args()

    device = torch.device(given.device)
    shape = Shape()
    model, tokenizer = make_base(shape, STAGES, given.work, device, lambda text: print(text, file=sys.stderr))
    shadow = given.work / f"held_out_{given.held_out_seed}_{given.held_out}.jsonl"
    if not shadow.exists():
        build_pool(build_plan(given.held_out, given.held_out_seed, 0.30, "shadow"), shadow)
    samples = list(read_records(shadow, Sample))
    greedy, sampled = (flat(figures(play(model, tokenizer, samples, way, device))) for way in (True, False))
    seed = given.held_out_seed
    held_out = f"On {len(samples):,} held-out samples of other worlds (seed {seed}), 30% of which lack something:"
    machine = given.machine or f"Trained with torch {torch.__version__} on {device.type}, {platform.machine()}."
    parameters = sum(weight.numel() for weight in model.parameters())
    model.cpu().save_pretrained(given.out)
    tokenizer.save_pretrained(given.out)
    text = card(shape, STAGES, parameters, greedy, sampled, held_out, machine)
    (given.out / "README.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
