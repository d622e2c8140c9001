"""Flags that several commands share, and defaults, which are those of the original requirements. Help: `help.yaml`."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from typer import Argument, Context, Option
from typer.models import OptionInfo

from askgate_env import actions, types

from ..core import defaults
from ..core.defaults import MIN_SAMPLES, ProfileName
from ..core.errors import BadInput
from ..runtime.language import terminal_language
from . import parse, show

if TYPE_CHECKING:
    from ..config.profile import DifficultyThresholds, PoolThresholds

Thresholds = TypeVar("Thresholds", "PoolThresholds", "DifficultyThresholds")

POOL = Path("data/rollouts/rc1_seed.jsonl")
METRICS = Path("data/rollouts/rc1_seed.metrics.jsonl")
BALANCED = Path("data/rollouts/rc1_seed.balanced.jsonl")
SHADOW = Path("data/shadow_eval_245.jsonl")
QUICKSTART = Path("configs/quickstart.yaml")
MIX = defaults.as_flag(defaults.MIX)
BY_TASK = ",".join(types.TASKS)
TOOLS = ",".join(actions.TOOLS)
TARGET = defaults.as_flag(defaults.DIFFICULTY_MIX)
FROM_PROFILE = "from profile rc1"
"""Default of a threshold in help texts; `help.yaml` shows its value too."""

Seed = Annotated[int, Option(min=0)]
OneLang = Annotated[
    types.Lang,
    Option("--lang", envvar="ASKGATE_LANG", default_factory=terminal_language, show_default="language of the system"),
]
Pool = Annotated[Path, Argument(metavar="POOL")]
Cluster = Annotated[str, Option(metavar="ADDRESS")]
Set = Annotated[list[str] | None, Option("--set", metavar="KEY=VALUE")]
LiveN = Annotated[int | None, Option(min=MIN_SAMPLES)]
Resume = Annotated[bool, Option("--resume")]
Json = Annotated[bool, Option("--json")]


def chosen_profile(given: ProfileName | None, default: ProfileName | None = None) -> ProfileName:
    """The profile of a command, said on standard error. Refuses to guess where another profile ran in this folder.

    `default`: the command's own. Without one it is the profile that ran here, or quickstart before any did.
    """
    from ..loop.profile_loop import has_run, profiles_run

    ran = profiles_run()
    if default is None and not has_run():
        show.note(f"no run in {Path.cwd()}", f"{Path.cwd()} 中没有运行")
    usual = default or (ran[0] if ran else "quickstart")
    if given is None and set(ran) - {usual}:
        here = " and ".join(ran)
        raise BadInput(
            f"this folder has runs of {here}, so the profile is ambiguous",
            where="--profile",
            remedy="add --profile quickstart or --profile rc1",
        )
    say_profile(given or usual)
    return given or usual


def say_profile(name: str) -> None:
    show.note(f"profile: {name}", f"配置档：{name}")


def say_tasks(source: str, tasks: Mapping[types.Task, float], mix: str = MIX) -> None:
    """Says what follows from the rows and not from the flags: the tasks of a source that has its own, and that answers
    of a user's rows are not checked. `tasks`: shares of the tasks; `mix`: --mix."""
    from ..data.readers.messages import LONGEST_ANSWER

    if mix != MIX and parse.mix(mix) != tasks:
        made = ", ".join(f"{task}:{share:.2f}" for task, share in tasks.items())
        show.note(
            f"--mix {mix} has no effect: the rows of source {source} decide about the tasks ({made})",
            f"--mix {mix} 不起作用：任务由来源 {source} 的数据决定（{made}）",
        )
    if source == "messages" and "detect" in tasks:
        english = (
            f"task detect: most rows have no answer of at most {LONGEST_ANSWER} words, so no answer is checked, only "
            "when and for what the policy asks; to check answers give each row a short `answer`"
        )
        chinese = (
            f"任务为 detect：多数行没有不超过 {2 * LONGEST_ANSWER} 个汉字（英文 {LONGEST_ANSWER} 个词）的答案，"
            "因此不检查答案，只看模型何时提问、问什么；"
            "要检查答案，请为每行写简短的 answer"
        )
        show.note(english, chinese)


def thresholds(context: Context, section: type[Thresholds]) -> Thresholds:
    """A section of thresholds as the flags of a command give them."""
    typed = [context.get_parameter_source(name) for name in section.model_fields]
    if any(source is None or source.name.startswith("DEFAULT") for source in typed):
        say_profile("rc1")
    return section.model_construct(**{name: context.params[name] for name in section.model_fields})


def threshold(key: str, flag: str = "", **bounds: Any) -> OptionInfo:
    """A flag that defaults to a threshold of gate profile rc1, such as `pool.kl3_min`, read when the command runs."""

    def read() -> Any:
        from ..config.profile import load_profile

        return attrgetter(key)(load_profile("rc1").thresholds)

    name = flag or f"--{key.rpartition('.')[2].replace('_', '-')}"
    option: OptionInfo = Option(name, default_factory=read, show_default=FROM_PROFILE, **bounds)
    return option
