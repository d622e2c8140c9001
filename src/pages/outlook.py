"""What a loop came to, for people: lights in the terminal, `reports/kpi.json`, and `reports/rc1/index.html`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from rich.table import Table
from rich.text import Text

from ..cli import show
from ..config.profile import Profile
from ..core.files import atomic_write, write_json
from ..loop.kpi import Kpi, alarms, collect
from ..loop.lights import WORDS, Light, lights, next_step
from ..loop.stage import Stage, State, fingerprints
from .results import results_page

PAGE, KPIS = Path("reports/rc1/index.html"), Path("reports/kpi.json")
METRICS, EVAL, LOGS = Path("logs/metrics.jsonl"), Path("logs/eval.jsonl"), Path("logs")
COLOURS = {"green": "bold green", "red": "bold red", "grey": "dim"}
LAMP = max(len(word) for word, _ in WORDS.values()) + 2
COMMANDS = {"quickstart": "askgate quickstart", "rc1": "./ops/run_local_rc1.sh"}


def state_file(profile: str) -> Path:
    return Path(f"reports/{profile}_state.json")


def show_lights(found: Sequence[Light], profile: str) -> None:
    """One line a light, which a narrow terminal breaks by itself: a table would cut what does not fit."""
    for light in found:
        lamp = WORDS[light.colour][0]
        said = f"{light.title} {light.title_zh}" + (f" ({light.why})" if light.why else "")
        show.say(Text.assemble((lamp, COLOURS[light.colour]), " " * (LAMP - len(lamp)), said))
    for step in next_step(found, COMMANDS[profile]):
        show.say(f"-> {step}")


def write_results(profile: Profile, stages: Sequence[Stage], state: State) -> list[Light]:
    """KPIs and page, from the files as they are. The lights that they show."""
    found = lights(stages, state)
    evaluation = newest_evaluation()
    kpis = measure(profile, evaluation)
    write_json(KPIS, kpis)
    prints = {path: digest for path, digest in fingerprints(key_files(profile)).items() if digest}
    page = results_page(
        profile.name,
        found,
        next_step(found, COMMANDS[profile.name]),
        _read(evaluation) if evaluation else None,
        log_lines(METRICS),
        log_lines(EVAL),
        kpis,
        prints,
    )
    with atomic_write(PAGE) as file:
        file.write(page)
    return found


def measure(profile: Profile, evaluation: Path | None) -> dict[str, dict[str, Kpi]]:
    paths = profile.paths
    return collect(
        pool_report=paths.pool_report,
        shadow_report=paths.shadow_report,
        evaluation=evaluation,
        ledger=paths.ledger,
        logs=LOGS,
        checkpoints=Path("checkpoints/rc1"),
        artifacts=key_files(profile),
    )


def show_kpis(kpis: dict[str, dict[str, Kpi]]) -> None:
    for part, found in kpis.items():
        table = Table(box=None, pad_edge=False)
        for head in (part, "value", "from"):
            table.add_column(head, overflow="fold")
        for name, one in found.items():
            value = "-" if one.value is None else show.number(one.value)
            table.add_row(name, f"{value} ALARM" if one.alarm and one.alarm.on else value, Text(one.source))
        show.print_table(table)
    for name in alarms(kpis):
        show.complain(f"ALARM 警报: {name} is past its limit; see {KPIS}")


def key_files(profile: Profile) -> list[Path]:
    """Files whose sums are kept: what is trained on, what rewards it, and what it is set to."""
    paths = profile.paths
    return [paths.shadow_set, paths.pool, paths.metrics, paths.balanced, paths.weights, paths.config]


def newest_evaluation() -> Path | None:
    """The report of base against trained policy that was written last."""
    found = sorted(Path("reports").glob("ppo_eval_*.json"), key=lambda path: (path.stat().st_mtime, path.name))
    return found[-1] if found else None


def log_lines(path: Path) -> list[dict[str, Any]]:
    """Lines of a log; a last one that is being written is left out."""
    if not path.exists():
        return []
    found = []
    for line in path.read_bytes().splitlines():
        try:
            found.append(msgspec.json.decode(line, type=dict[str, Any]))
        except msgspec.DecodeError:
            continue
    return found


def _read(path: Path) -> dict[str, Any]:
    return msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
