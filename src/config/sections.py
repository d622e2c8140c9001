"""The fine print of a training config, a section at a time. The headline figures stand in `train.py`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from ..core.defaults import MAX_STEPS, MIN_STEPS, MIN_TURNS, SEED, SUM_TOLERANCE, TOOLS
from ..core.types import LEVELS, Lang, Level
from .misfit import Misfit
from .schema import FilePath, Section

Share = Annotated[float, Field(ge=0, le=1)]
Listed = Field(strict=False)
"""YAML knows lists only, and a list that nobody may change is a tuple. What is in it is checked as strictly as ever."""

BY_DIFFICULTY: dict[Level, float] = {"easy": 0.2, "medium": 0.4, "hard": 0.4}


def sums_to_one(shares: Iterable[float]) -> None:
    total = sum(shares)
    if abs(total - 1) > SUM_TOLERANCE:
        raise ValueError(f"the shares sum to {total:.6g}, not to 1")


LLAMACPP = ("llamacpp", "llama.cpp", "llama_cpp")
NO_ROLLOUTS = (
    "llama.cpp makes no on-line rollouts: training needs log-probabilities and gradients of the weights that learn, "
    "and a GGUF file is a frozen copy of them in other numbers. It evaluates offline: askgate eval --backend llamacpp"
)


class RolloutSection(Section):
    """How episodes are made, by PyTorch. `rollout_len`, the tokens of one turn, is a headline figure."""

    max_turns: int = Field(default=6, ge=1, le=64)
    """Turns of the policy; the last one must answer."""
    max_tokens: int = Field(default=1024, ge=32, le=131_072)
    """Of a whole episode, with the words of user and tools."""
    temperature: float = Field(default=1.0, gt=0, le=2)
    slots: int = Field(default=64, ge=1, le=4096)
    """Episodes under way at once."""

    @model_validator(mode="before")
    @classmethod
    def _not_by_llamacpp(cls, found: Any) -> Any:
        """There is no such setting. Who looks for it deserves the reason."""
        if isinstance(found, dict) and found.get("backend") in LLAMACPP:
            raise Misfit("backend", NO_ROLLOUTS)
        return found


class RolloutLimits(RolloutSection):
    """The rollout section with the settings it takes from elsewhere: `rollout_len`, and the tools of the pool."""

    max_new_tokens: int = Field(ge=1)
    """Tokens of one turn of the policy, at most."""
    tools: tuple[str, ...] = TOOLS

    def facts(self) -> dict[str, Any]:
        """All settings by name, in the order in which reports and fingerprints write them."""
        names = ("max_turns", "max_new_tokens", "max_tokens", "temperature", "slots", "tools")
        return {name: getattr(self, name) for name in names}


class OptimizerSection(Section):
    """How a batch of episodes becomes updates. `lr` is a headline figure."""

    warmup_steps: int = Field(default=0, ge=0)
    schedule: Literal["constant", "linear", "cosine"] = "constant"
    """After the warm-up: stay, or fall to 0 at the last step."""
    weight_decay: float = Field(default=0.0, ge=0, le=1)
    grad_clip: float = Field(default=1.0, gt=0)
    epochs: int = Field(default=1, ge=1, le=100)
    minibatches: int = Field(default=1, ge=1, le=1024)
    """Updates in an epoch."""
    pack_tokens: int = Field(default=8192, ge=32)
    """Tokens in one forward pass, most. Memory and speed follow it, the result does not."""
    critic_lr: float = Field(default=1e-3, gt=0, le=1)
    critic_hidden: int = Field(default=128, ge=1, le=65_536)
    critic_reaches_trunk: bool = False
    """Whether the error of the values also moves the policy's own layers."""
    critic_epochs: int = Field(default=0, ge=0, le=100)
    """Times that the critic goes over a batch by itself: it learns faster than the policy, at hardly any cost."""
    critic_warmup_steps: int = Field(default=0, ge=0)
    """Steps in which the critic learns alone."""


class RewardSection(Section):
    outcome: float = Field(default=1.0, ge=0, le=10)
    """What success is worth."""
    weights: FilePath | None = None
    """Calibrated weights of the dimensions, as weight_calib writes them; left out: the outcome alone."""
    dimensions: float = Field(default=0.0, ge=0, le=10)
    """What an episode is worth that is perfect in every dimension of `weights`."""
    live_share: Share = 0.0
    """Share of the episodes that the judge is asked about, where `live_mode` is on and a live dimension has a weight.
    The others are rated by the rules, at the same scale."""
    unstable: FilePath | None = None
    """Samples of the pool on which the judge disagrees with itself (unstable_samples.jsonl of `askgate score`): their
    episodes count less."""
    alpha: float = Field(default=0.07, ge=0, le=1)
    """Taken off for each ask where nothing is missing, when `use_overclar_penalty` is on."""
    cap: int = Field(default=3, ge=0, le=64)
    """Asks beyond this are not counted."""
    difficulty_beta: float = Field(default=0.0, ge=0, le=0.10)
    """Hard samples count `1 + beta`, easy ones `1 - beta`; 0 is off, 0.05 to 0.10 is on."""

    @model_validator(mode="after")
    def _off_or_in_range(self) -> Self:
        if 0 < self.difficulty_beta < 0.05:
            raise Misfit("difficulty_beta", "it is 0 (off) or 0.05 to 0.10")
        return self

    @model_validator(mode="after")
    def _weights_and_their_worth(self) -> Self:
        if self.dimensions and not self.weights:
            raise Misfit("weights", "it is missing, and reward.dimensions pays for what it weighs")
        if self.weights and not self.dimensions:
            raise Misfit("dimensions", "it is 0, so the weights would be worth nothing")
        if self.live_share and not self.weights:
            raise Misfit("live_share", "without reward.weights there is nothing to ask a judge about")
        return self


class WatchSection(Section):
    """From where on a sign of reward hacking stops the run. Shares are means over the last `window` steps."""

    ask_spam: Share = 0.50
    """Episodes that ask where nothing is missing, or that go on asking where something is."""
    malformed: Share = 0.50
    """Turns without an act."""
    bare_answer: Share = 0.50
    """Episodes that are an answer and nothing else."""
    echo: Share = 0.20
    """Episodes that hand the question back."""
    spike: float = Field(default=3.0, gt=1, le=1000)
    """A spread of the rewards in a step, so many times the usual one."""
    window: int = Field(default=5, ge=1, le=10_000)


class RatioAt(Section):
    step: int = Field(ge=0)
    ratio: Share


class SamplingSection(Section):
    """`priority_sampling`: which samples a batch is made of."""

    enable: bool = True
    """Off: every sample of the pool alike, and nothing made afresh."""
    by_difficulty: dict[Level, Share] = Field(default=BY_DIFFICULTY)
    low_perf_cap: Share = 0.30
    """Share of a batch that may go to samples on which the policy does badly."""
    seed_ratio: Share | None = None
    """Share of a batch from the frozen pool, the same at every step; the rest is generated afresh."""
    seed_ratio_schedule: Annotated[tuple[RatioAt, ...], Listed] = ()
    """Or a share that changes: each entry holds from its step on."""

    @field_validator("by_difficulty")
    @classmethod
    def _whole(cls, shares: dict[Level, float]) -> dict[Level, float]:
        sums_to_one(shares.values())
        return shares

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if set(self.by_difficulty) != set(LEVELS):
            raise Misfit("by_difficulty", f"it names {', '.join(self.by_difficulty)}, not {', '.join(LEVELS)}")
        if self.seed_ratio is not None and self.seed_ratio_schedule:
            raise Misfit("seed_ratio", "seed_ratio_schedule is there too, and they exclude each other")
        steps = [entry.step for entry in self.seed_ratio_schedule]
        if steps and (steps[0] != 0 or sorted(set(steps)) != steps):
            raise Misfit("seed_ratio_schedule", "it begins with step 0, and its steps rise")
        return self

    def ratio(self, step: int) -> float:
        """Share of that step's batch which comes from the frozen pool."""
        if not self.enable:
            return 1.0
        if self.seed_ratio_schedule:
            return [entry.ratio for entry in self.seed_ratio_schedule if entry.step <= step][-1]
        return 1.0 if self.seed_ratio is None else self.seed_ratio


class CheckpointSection(Section):
    every_steps: int = Field(default=1000, ge=1)
    every_minutes: float = Field(default=30.0, ge=30, le=60)
    """Whichever comes first."""
    keep: int = Field(default=3, ge=2)
    """The newest so many; with fewer than two, a damaged newest one would leave nothing."""
    mirror: FilePath | None = None
    """A second folder, such as a mounted drive, that gets a copy of each."""


class EvalSection(Section):
    """Looks at the held-out samples of `shadow_set` at the start, every so many steps, and at the end."""

    every_steps: int = Field(default=100, ge=1)
    base: bool = True
    """False: not at the start; for a run that is compared with another one and not with its base."""
    n: int | None = Field(default=None, ge=1)
    """So many, evenly apart; left out: all."""
    greedy: bool = True
    control: bool = False
    """At the end also a control: the base after as many tokens of SFT on the pool's demonstrations as the run saw."""
    control_lr: float = Field(default=1e-4, gt=0, le=1)


class TargetRow(Section):
    memory_gb: float = Field(ge=0)
    modules: Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(strict=False, min_length=1)]


_ATTENTION = ("q_proj", "k_proj", "v_proj", "o_proj")
_MLP = ("gate_proj", "up_proj", "down_proj")
TARGETS = (
    TargetRow(memory_gb=0, modules=("q_proj", "v_proj")),
    TargetRow(memory_gb=12, modules=_ATTENTION),
    TargetRow(memory_gb=20, modules=(*_ATTENTION, *_MLP)),
)


class FinetuneSection(Section):
    """`full` trains every weight; `lora` and `qlora` train adapters, the latter on a base in 4 bits (CUDA)."""

    method: Literal["full", "lora", "qlora"] = "full"
    rank: int = Field(default=16, ge=1, le=1024)
    alpha: float = Field(default=32.0, gt=0)
    targets: Annotated[tuple[TargetRow, ...], Field(strict=False, min_length=1)] = TARGETS
    """Which layers get an adapter, by memory: the last row that the device has memory for."""

    @model_validator(mode="after")
    def _rows_rise(self) -> Self:
        sizes = [row.memory_gb for row in self.targets]
        if sizes[0] != 0 or sorted(set(sizes)) != sizes:
            raise Misfit("targets", "it begins with memory_gb 0, and memory_gb rises")
        return self


class BuildSection(Section):
    """How to make `seed_pool` and `shadow_set` where they are not there yet: the arguments of build_rollout_pool."""

    n: int = Field(ge=1, le=10_000_000)
    shadow_n: int = Field(default=245, ge=1, le=100_000)
    seed: int = Field(default=SEED, ge=0)
    lang: Annotated[tuple[Lang, ...], Listed] = ()
    """Empty: every language the source has."""
    clarify_rate: Share = 0.30
    max_turns: int = Field(default=6, ge=MIN_TURNS)
    tool_hops: int = Field(default=4, ge=MIN_STEPS, le=MAX_STEPS)
    ops_numeric: int = Field(default=4, ge=MIN_STEPS, le=MAX_STEPS)
    paraphrase: Share = 0.5
