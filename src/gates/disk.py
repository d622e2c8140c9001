"""Room for logs, checkpoints and what is made of them."""

from __future__ import annotations

import shutil

from ..core.check import check
from .finding import Finding, found
from .look import Look

GB = 2**30


def free_bytes() -> int:
    return shutil.disk_usage(".").free


def disk_findings(look: Look) -> list[Finding]:
    least = look.profile.thresholds.disk_free_gb_min
    free = check(
        "disk_free_gb",
        round(free_bytes() / GB, 3),
        ">",
        least,
        f"free some space: more than {least:g} GB must be free here",
        f"请清理磁盘：此处可用空间须大于 {least:g} GB",
    )
    return found("disk", [free], {})
