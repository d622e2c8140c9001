"""What is left of a failure, to be sent to whoever looks into it: `reports/rc1/FAIL_<ts>.tgz`, and no secret in it.

    python -m src.runtime.failpack        # needs nothing but Python, so that it works where the set-up failed

Every file passes through the same mask: values of the environment whose names say that they are secret, whatever is
shaped like a key of a known service, and assignments to names such as MY_API_KEY. Names of files pass through it too.
"""

from __future__ import annotations

import io
import os
import re
import sys
import tarfile
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from .secrets import MASK, redact, secrets_in

WANTED = (
    # The work order's list.
    "logs/**/*",
    "reports/preflight/**/*",
    "data/shadow_eval_*.jsonl",
    "data/rollouts/rc1_seed*.jsonl",
    "reports/rc1/*.sha256",
    "reports/rc1/difficulty_report.json",
    "reports/rc1/pool_report.json",
    "reports/rc1/git_*.txt",
    "reports/shadow_run_*.json",
    "reports/calibration_report_*.json",
    "reports/overclar_ablation_*.json",
    "reports/ERROR_*.json",
    "reports/rc1_state.json",
    "configs/weights.json",
    "configs/ppo_scale.yaml",
)
FOLDER = Path("reports/rc1")
LINES = 200
_KEYS = re.compile(
    r"\b(?:sk-|sk_|AIza|hf_|ghp_|gho_|github_pat_|glpat-|xox[abp]-)[\w-]{12,}"
    r"|(?<=Bearer )[\w.~+/=-]{8,}"
    r"|(?<=bearer )[\w.~+/=-]{8,}"
)
_NAMES = "KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?"
_ASSIGNED = re.compile(rf"\b([A-Z][A-Z0-9_]*_(?:{_NAMES}))(\s*[=:]\s*)([^\s\"',;]+)")


def masker(environment: Mapping[str, str]) -> Callable[[str], str]:
    """
    >>> masker({"MY_TOKEN": "abcdef"})("GET /?t=abcdef with Bearer 0123456789, SCORER_API_KEY=x1y2")
    'GET /?t=*** with Bearer ***, SCORER_API_KEY=***'
    """
    # Files are masked line by line, so a secret of several lines is one secret a line.
    secrets = [part for value in secrets_in(environment) for part in value.splitlines() if len(part) >= 4]

    def mask(text: str) -> str:
        text = _KEYS.sub(MASK, redact(text, secrets))
        return _ASSIGNED.sub(rf"\1\2{MASK}", text)

    return mask


def failpack(root: Path, environment: Mapping[str, str]) -> Path:
    """Packs what is there under `root`. The archive appears under its name when it is whole."""
    mask = masker(environment)
    folder = root / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"FAIL_{datetime.now(UTC):%Y%m%d_%H%M%S}.tgz"
    part = path.with_suffix(".part")
    try:
        with tarfile.open(part, "w:gz") as pack:
            for file in wanted(root):
                _add(pack, file, file.relative_to(root).as_posix(), mask)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
    return path


def wanted(root: Path) -> list[Path]:
    """Plain files. Through a link somebody else's file could come along, so links are left out."""
    found = {file for pattern in WANTED for file in root.glob(pattern) if file.is_file() and not file.is_symlink()}
    return sorted(found)


def last_lines(root: Path, environment: Mapping[str, str]) -> Iterator[str]:
    """The end of the newest log, masked."""
    logs = sorted((root / "logs").glob("*.log"), key=lambda file: file.stat().st_mtime)
    if logs:
        mask = masker(environment)
        with open(logs[-1], encoding="utf-8", errors="replace") as lines:
            yield from (mask(line.rstrip("\n")) for line in deque(lines, LINES))


def _add(pack: tarfile.TarFile, file: Path, name: str, mask: Callable[[str], str]) -> None:
    """Bytes that are no text pass through unchanged, but for a secret among them."""
    masked = io.BytesIO()
    with open(file, "rb") as lines:
        for line in lines:
            text = line.decode("utf-8", "surrogateescape")
            masked.write(mask(text).encode("utf-8", "surrogateescape"))
    entry = tarfile.TarInfo(mask(name))
    entry.size, entry.mtime, entry.mode = masked.tell(), int(file.stat().st_mtime), 0o644
    masked.seek(0)
    pack.addfile(entry, masked)


def _main() -> None:
    here = Path(".")
    for line in last_lines(here, os.environ):
        sys.stdout.write(f"{line}\n")
    sys.stdout.write(f"packed {failpack(here, os.environ)}: send it to whoever looks into the failure 请回传该归档\n")


if __name__ == "__main__":
    _main()
