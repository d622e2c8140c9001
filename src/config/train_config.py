"""Settings of a training config (`configs/*.yaml`), section by section; `TrainConfig` at the end is the whole.

Keys that the original requirements name (docs/internal/seeds.md) are at the top level, under those names.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from askgate_env.actions import TOOLS
from askgate_env.reward import OVERCLAR_ALPHA, OVERCLAR_CAP
from askgate_env.types import LEVELS, Lang, Level

from ..core.defaults import MIX
from ..core.paths import GATED_CHECKPOINTS, LOCAL_CHECKPOINTS, seed_folder
from .schema import FilePath, LevelShares, Listed, Section, SettingError, Share, TaskShares

LOCAL_STEPS = 2000
DeviceName = Literal["cuda", "mps", "cpu"]
TrackerName = Literal["tensorboard", "wandb", "mlflow", "trackio"]
Precision = Literal["auto", "fp32", "fp16", "bf16"]
UserKind = Literal["rules", "llm", "noisy"]
"""The user of a rollout: the user simulator's rules (`rules`), a language model on the server at `USER_BASE_URL`
(`llm`), or the rules with replies that are terse, evasive or corrected later (`noisy`)."""


def _plain(value: object) -> object:
    if not isinstance(value, bool | int | float | str):
        raise ValueError("it is not a number, a text, true or false")
    return value


OwnClass = Annotated[str, Field(pattern=r"^[\w.]+:\w+$")]
"""A class of the user's own, as `package.module:Class`."""
AnyClass = Annotated[str, Field(pattern=r"^[\w.]+(:\w+)?$")]
"""A built-in class by its name, or one of the user's own."""
Option = Annotated[bool | int | float | str, BeforeValidator(_plain)]

BY_DIFFICULTY: dict[Level, float] = {"easy": 0.2, "medium": 0.4, "hard": 0.4}

LLAMACPP = ("llamacpp", "llama.cpp", "llama_cpp")
NO_ROLLOUTS = (
    "llama.cpp cannot make training rollouts: training needs log-probabilities and gradients of the current weights, "
    "and a GGUF file is a frozen, converted copy. Use it for evaluation: askgate eval --backend llamacpp"
)


def _listed(found: Any) -> Any:
    return (found,) if isinstance(found, str) else found


class RolloutSection(Section):
    """Limits of rollouts. The maximum tokens of a turn are `rollout_len` at the top level."""

    max_turns: int = Field(default=6, ge=1, le=64)
    """Maximum turns of the policy; the last one must be an answer."""
    max_tokens: int = Field(default=1024, ge=32, le=131_072)
    """Maximum tokens of an episode, replies of user and tools included."""
    temperature: float = Field(default=1.0, gt=0, le=2)
    slots: int = Field(default=64, ge=1, le=4096)
    """Episodes generated in parallel."""
    think_tokens: int | None = Field(default=None, ge=1, le=131_072)
    """Maximum tokens of the thought with which a turn begins. A longer one is closed with `</think>`, and the action
    has `rollout_len` tokens of its own. Default: thought and action share `rollout_len`."""
    actions: Literal["tags", "native"] = "tags"
    """`tags`: `<ask>`, `<wiki>`, `<calc>` and `<answer>`, which the system prompt explains. `native`: the tool calls of
    the model's chat template, with `ask_user` as a tool; a reply without a call is the answer."""
    thoughts: Literal["keep", "drop"] = "keep"
    """Whether earlier thoughts stay in the context after a reply of the user. `drop`, as in Qwen's chat template: each
    user reply starts a new segment, which is trained on by itself."""
    backend: Literal["auto", "cpu", "cuda", "vllm"] = "auto"
    """`cuda`: CUDA graphs over a merged copy of the weights; `cpu`: packed passes through the model itself, on any
    device; `vllm`: the servers of `url`. `auto`: `cuda` on a CUDA device, else `cpu`."""
    url: Annotated[tuple[str, ...], BeforeValidator(_listed), Field(strict=False)] = ()
    """Addresses of vLLM servers. One that stops answering gives its episodes to the others."""
    adapter_dir: str = Field(default="checkpoints/vllm_adapters", min_length=1)
    """Folder for the adapters of each rollout, which the vLLM servers must be able to read under the same path."""

    @model_validator(mode="before")
    @classmethod
    def _not_llamacpp(cls, found: Any) -> Any:
        """There is no such setting, but users look for it, so the message gives the reason."""
        if isinstance(found, dict) and found.get("backend") in LLAMACPP:
            raise SettingError("backend", NO_ROLLOUTS)
        return found

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.actions == "native" and self.thoughts == "drop":
            raise SettingError(
                "thoughts",
                "drop does not work with actions: native, where the user's reply is a tool result; set it to keep",
            )
        if (self.backend == "vllm") != bool(self.url):
            raise SettingError("url", "backend: vllm and the addresses of its servers belong together")
        if any("@" in url for url in self.url):
            raise SettingError("url", "a password in an address would be written to the run; set VLLM_API_KEY")
        if bad := [url for url in self.url if not url.startswith(("http://", "https://"))]:
            raise SettingError("url", f"{bad[0]} is no address such as http://127.0.0.1:8000")
        return self


class RolloutLimits(RolloutSection):
    """The rollout section, completed by `rollout_len`, the tools of the pool, and the user."""

    max_new_tokens: int = Field(ge=1)
    tools: tuple[str, ...] = TOOLS
    user: UserKind = "rules"

    def facts(self) -> dict[str, Any]:
        """Settings by name, in the order of reports and fingerprints; the last four only if changed."""
        names = ("max_turns", "max_new_tokens", "max_tokens", "temperature", "slots", "tools")
        facts = {name: getattr(self, name) for name in names}
        for name in ("think_tokens", "thoughts", "actions", "user"):
            if (value := getattr(self, name)) != RolloutLimits.model_fields[name].default:
                facts[name] = value
        return facts


class OptimizerSection(Section):
    """How a batch of episodes becomes updates. The learning rate `lr` is at the top level."""

    warmup_steps: int = Field(default=0, ge=0)
    schedule: Literal["constant", "linear", "cosine"] = "constant"
    """Learning rate after the warm-up: constant, or falling to 0 at the last step."""
    grad_clip: float = Field(default=1.0, gt=0)
    epochs: int = Field(default=1, ge=1, le=100)
    minibatches: int = Field(default=1, ge=1, le=1024)
    """Updates per epoch."""
    pack_tokens: int = Field(default=8192, ge=32)
    """Maximum tokens of one forward pass. Changes memory and speed, not the result."""
    gradient_checkpointing: bool = False
    """Recomputes each layer in the backward pass instead of keeping its activations: about a tenth of their memory
    for 30 to 40% more time."""
    critic_lr: float = Field(default=1e-3, gt=0, le=1)
    critic_epochs: int = Field(default=0, ge=0, le=100)
    """Extra epochs of the critic alone per batch; they cost little and let it learn faster than the policy."""
    critic_warmup_steps: int = Field(default=0, ge=0)
    """First steps, in which only the critic learns."""


class WarmStartSection(Section):
    """Warm start: SFT on the pool's demonstrations in the first `steps` of the run's steps, before the strategy's."""

    steps: int = Field(ge=1)
    """Steps of the run, counted in `steps` at the top level; a run with fewer steps ends in its warm start. Each step
    reads an equal part of `tokens`."""
    tokens: int = Field(ge=1)
    """Tokens to read in all, user and tool tokens included; the demonstrations are repeated as often as that takes."""
    lr: float = Field(default=3e-4, gt=0, le=1)
    """Peak learning rate: it rises over 5% of the tokens and falls as a cosine to a tenth."""
    batch_tokens: int = Field(default=4096, ge=32)


class RewardSection(Section):
    """Reward settings: the terms of an episode's reward and their weights."""

    outcome: float = Field(default=1.0, ge=0, le=10)
    info: float = Field(default=0.0, ge=0, le=10)
    """Reward of an ask that brings what is missing."""
    weights: FilePath | None = None
    """Calibrated weights of the dimensions, from weight-calib. Default: no dimension is part of the reward."""
    dimensions: float = Field(default=0.0, ge=0, le=10)
    """Reward of an episode that is perfect in every dimension of `weights`."""
    live_share: Share = 0.0
    """Share of episodes that the judge scores, if `live_mode` is on and a live dimension has a weight. The others
    get its mean scores of the calibration."""
    unstable: FilePath | None = None
    """Samples on which the judge's votes disagree (unstable_samples.jsonl of `askgate score`). Their episodes count
    less."""

    @property
    def unstable_list(self) -> Path | None:
        """The list of unstable samples, where one was made: without the stage `score` every sample counts fully."""
        return self.unstable if self.unstable is not None and self.unstable.exists() else None

    alpha: float = Field(default=OVERCLAR_ALPHA, ge=0, le=1)
    """Penalty for each ask where nothing is missing, if `use_overclar_penalty` is on."""
    cap: int = Field(default=OVERCLAR_CAP, ge=0, le=64)
    difficulty_beta: float = Field(default=0.0, ge=0, le=0.10)
    """Hard samples are weighted `1 + beta`, easy ones `1 - beta`. 0 is off; else 0.05 to 0.10."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if 0 < self.difficulty_beta < 0.05:
            raise SettingError("difficulty_beta", "it is 0 (off) or 0.05 to 0.10")
        if self.dimensions and not self.weights:
            raise SettingError("weights", "it is missing, and reward.dimensions needs it")
        if self.weights and not self.dimensions:
            raise SettingError("dimensions", "it is 0, so reward.weights would have no effect")
        if self.live_share and not self.weights:
            raise SettingError("live_share", "without reward.weights a judge has nothing to score")
        return self


class WatchSection(Section):
    """Limits at which signs of reward hacking stop the run. Shares are means over the last `window` steps."""

    ask_spam: Share = 0.50
    """Episodes that ask where nothing is missing, or keep asking where something is."""
    malformed: Share = 0.50
    """Turns without a valid action."""
    bare_answer: Share = 0.50
    """Episodes with an answer and nothing else."""
    echo: Share = 0.20
    """Episodes that repeat the question."""
    spike: float = Field(default=3.0, gt=1, le=1000)
    """Standard deviation of the rewards in a step, as a multiple of the median of earlier steps. The median counts as
    at least 0.1 (more in batches of fewer than 30 episodes), so that the first right answers are no spike."""
    window: int = Field(default=5, ge=1, le=10_000)


class RatioAt(Section):
    """A share that is in force from a step on."""

    step: int = Field(ge=0)
    ratio: Share


class SamplingSection(Section):
    """Section `priority_sampling`: which samples make up a batch."""

    enable: bool = True
    """Off: all samples of the pool are equally likely, and none is generated."""
    by_difficulty: LevelShares = BY_DIFFICULTY
    low_perf_cap: Share = 0.30
    """Maximum share of a batch for samples that the policy has failed. With success rate p they are drawn in proportion
    to p (1 - p): a sample that is never solved teaches as little as one that always is."""
    need_ask_share: Share | None = None
    """Share of the samples that need an ask, from the pool and fresh ones alike. Default: as in the pool."""
    seed_ratio: Share | None = None
    """Share of a batch from the frozen pool, the same at every step; the rest is generated."""
    seed_ratio_schedule: Annotated[tuple[RatioAt, ...], Listed] = ()
    """Or a share that changes with the step."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if set(self.by_difficulty) != set(LEVELS):
            raise SettingError("by_difficulty", f"it names {', '.join(self.by_difficulty)}, not {', '.join(LEVELS)}")
        if self.seed_ratio is not None and self.seed_ratio_schedule:
            raise SettingError("seed_ratio", "seed_ratio_schedule is set too, and they exclude each other")
        steps = [entry.step for entry in self.seed_ratio_schedule]
        if steps and (steps[0] != 0 or sorted(set(steps)) != steps):
            raise SettingError("seed_ratio_schedule", "it begins with step 0, and its steps rise")
        return self

    def ratio(self, step: int) -> float:
        """Share of the batch of a step that comes from the frozen pool."""
        if not self.enable:
            return 1.0
        if self.seed_ratio_schedule:
            return [entry.ratio for entry in self.seed_ratio_schedule if entry.step <= step][-1]
        return 1.0 if self.seed_ratio is None else self.seed_ratio


class CheckpointSection(Section):
    """When checkpoints are written and how many are kept."""

    every_steps: int = Field(default=1000, ge=1)
    every_minutes: float = Field(default=30.0, ge=30, le=60)
    """Steps or minutes, whichever comes first."""
    keep: int = Field(default=3, ge=2)
    """Number of checkpoints kept. At least two, in case the newest is damaged."""
    mirror: FilePath | None = None
    """A second folder, such as a mounted drive, for a copy of each checkpoint."""


class EvalSection(Section):
    """Evaluations on the held-out samples of `shadow_set`: at the start, every `every_steps`, and at the end."""

    every_steps: int = Field(default=100, ge=1)
    base: bool = True
    """Whether to evaluate at the start. False for a run that is compared with another run, not with its base."""
    n: int | None = Field(default=None, ge=1)
    """Number of samples, evenly spaced. Default: all."""
    greedy: bool = True
    user: UserKind | None = None
    """The user in evaluations; see `UserKind`. Default: the same as in training."""
    control: bool = False
    """Also evaluate a control at the end: the base after SFT on as many tokens of the pool's demonstrations as the run
    read."""
    control_tokens: int | None = Field(default=None, ge=1)
    """With `control`, also evaluate a time-matched control: SFT on the tokens that it reads in the time of the whole
    run, which is `warm_start.tokens` + seconds of the other steps * SFT tokens per second, measured once on an idle
    machine."""
    control_lr: float = Field(default=1e-4, gt=0, le=1)
    control_batch_tokens: int = Field(default=4096, ge=32)


class TargetRow(Section):
    """Layers that get an adapter on a device with at least this much memory."""

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
    """`full` trains all weights; `lora` trains adapters; `qlora` trains adapters on a 4-bit base (CUDA)."""

    method: Literal["full", "lora", "qlora"] = "full"
    rank: int = Field(default=16, ge=1, le=1024)
    alpha: float = Field(default=32.0, gt=0)
    targets: Annotated[tuple[TargetRow, ...], Field(strict=False, min_length=1)] = TARGETS
    """Layers that get an adapter, by memory. The last row that fits the device is used."""

    @model_validator(mode="after")
    def _rows_rise(self) -> Self:
        sizes = [row.memory_gb for row in self.targets]
        if sizes[0] != 0 or sorted(set(sizes)) != sizes:
            raise SettingError("targets", "it begins with memory_gb 0, and memory_gb rises")
        return self


class BuildSection(Section):
    """How to build `seed_pool` and `shadow_set` if they do not exist. Other arguments are build_rollout_pool's own."""

    n: int = Field(ge=1, le=10_000_000)
    shadow_n: int = Field(default=245, ge=1, le=100_000)
    lang: Annotated[tuple[Lang, ...], Listed] = ()
    """Default: every language of the source."""


class TrainConfig(Section):
    """A whole training config, such as `configs/quickstart.yaml`."""

    profile: Literal["local", "quickstart", "rc1"]
    """`local` trains without a ticket (`askgate train`); the others need one (`train.ppo_runner`)."""
    simulate: bool = False
    live_mode: bool = False
    """Whether live-scored dimensions are part of the reward, for `reward.live_share` of the episodes."""

    base_model: str = Field(min_length=1)
    """A folder, or a name on the hub."""
    engine: AnyClass = "pure_pt"
    """`pure_pt`, `trl_ppo`, or your own as `package.module:Class`."""
    strategy: AnyClass = "ppo"
    """`ppo`, `grpo`, `dpo`, or your own as `package.module:Class`."""
    strategy_options: dict[str, Option] = Field(default_factory=dict)
    """Arguments of the strategy other than `clip`, `kl_coef` and `target_kl`."""
    callbacks: Annotated[tuple[OwnClass, ...], Listed] = ()
    """Your own callbacks as `package.module:Class`, created without arguments. They run after ours and before the
    checkpoints."""
    trackers: Annotated[tuple[TrackerName, ...], Listed] = ("tensorboard",)
    """Trackers that get the curves beside `logs/metrics.jsonl`. All but TensorBoard need a package of their name."""
    finetune: FinetuneSection = FinetuneSection()

    datasets: TaskShares = MIX
    seed_pool: FilePath
    shadow_set: FilePath
    build: BuildSection | None = None
    priority_sampling: SamplingSection = SamplingSection()

    warm_start: WarmStartSection | None = None
    """null: the strategy starts from the base."""
    steps: int = Field(ge=1, le=10_000_000)
    """Steps of the run, those of the warm start included. `max_steps` is another name of this key."""
    seeds: Annotated[tuple[Annotated[int, Field(ge=0, lt=2**32)], ...], Field(strict=False, min_length=1)]
    batch_size: int = Field(default=32, ge=1, le=65_536)
    """Episodes per step."""
    rollout_len: int = Field(default=128, ge=1, le=131_072)
    """Maximum tokens of one turn of the policy."""
    lr: float = Field(default=1e-5, gt=0, le=1)
    clip: float = Field(default=0.2, gt=0, lt=1)
    kl_coef: float = Field(default=0.02, ge=0, le=10)
    """Initial weight of the KL penalty; it adapts towards `target_kl`."""
    target_kl: float | None = Field(default=0.03, gt=0, le=10)
    """null: the weight of the KL penalty is constant."""
    kl_alert: float = Field(default=0.2, gt=0, le=100)
    """KL of a step that counts as an alert; three in a row roll back to the last good checkpoint."""
    rollout: RolloutSection = RolloutSection()
    user: Literal["rules", "llm"] = "rules"
    """The user in training; see `UserKind`. `llm` is allowed with `profile: local` only."""
    optimizer: OptimizerSection = OptimizerSection()

    use_overclar_penalty: bool = True
    reward: RewardSection = RewardSection()
    watch: WatchSection = WatchSection()
    """Limits that stop a run that hacks its reward."""

    device_pref: Annotated[tuple[DeviceName, ...], Field(strict=False, min_length=1)] = ("cuda", "mps", "cpu")
    precision: Precision = "auto"
    """`auto`: cuda bf16, mps fp16, cpu fp32."""
    checkpoint: CheckpointSection = CheckpointSection()
    eval: EvalSection = EvalSection()

    def rollout_limits(self, tools: tuple[str, ...], user: UserKind | None = None) -> RolloutLimits:
        """The limits of a rollout. `tools` are those of the pool; `user`, if given, is not the one in training."""
        settings = self.rollout.model_dump()
        return RolloutLimits(**settings, max_new_tokens=self.rollout_len, tools=tools, user=user or self.user)

    @model_validator(mode="before")
    @classmethod
    def _one_name_for_steps(cls, found: Any) -> Any:
        if isinstance(found, dict) and "max_steps" in found:
            if "steps" in found:
                raise SettingError("max_steps", "steps is set too, and they are the same setting")
            found = {("steps" if key == "max_steps" else key): value for key, value in found.items()}
        return found

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.simulate:
            raise SettingError("simulate", "it must be false: nothing is simulated")
        if self.engine in LLAMACPP:
            raise SettingError("engine", NO_ROLLOUTS)
        if len(set(self.seeds)) < len(self.seeds):
            raise SettingError("seeds", "a seed occurs twice")
        if self.profile == "local" and self.steps > LOCAL_STEPS:
            raise SettingError("steps", f"{self.steps} steps; a run with profile local takes at most {LOCAL_STEPS}")
        if self.profile != "local" and (self.user != "rules" or self.eval.user not in (None, "rules")):
            raise SettingError("user", "gates replay episodes, and only rules can be replayed; use profile local")
        if self.live_mode and not self.reward.live_share:
            raise SettingError("reward.live_share", "live_mode is on, and with a share of 0 no judge is called")
        if self.rollout_len + (self.rollout.think_tokens or 0) >= self.rollout.max_tokens:
            thought = " and rollout.think_tokens" if self.rollout.think_tokens else ""
            raise SettingError("rollout_len", f"{self.rollout_len} tokens{thought} do not fit into rollout.max_tokens")
        if self.rollout.backend == "vllm" and self.finetune.method == "full":
            raise SettingError("rollout.backend", "vLLM servers are given adapters; set finetune.method: lora or qlora")
        if self.eval.control and self.finetune.method != "full":
            what = f"the control needs finetune.method: full, not {self.finetune.method}"
            raise SettingError("eval.control", what, "set eval.control: false")
        return self

    @property
    def own_classes(self) -> tuple[str, ...]:
        """All classes that the config names; those that are in the user's own files run as code."""
        return (self.engine, self.strategy, *self.callbacks)

    @property
    def warm_steps(self) -> int:
        """Steps of the warm start; 0 where there is none."""
        return self.warm_start.steps if self.warm_start else 0

    @property
    def checkpoint_root(self) -> Path:
        """`checkpoints/local` or `checkpoints/rc1`: gated runs of all profiles share one folder."""
        return LOCAL_CHECKPOINTS if self.profile == "local" else GATED_CHECKPOINTS

    def checkpoints(self, seed: int) -> Path:
        """Checkpoint folder of one seed."""
        return seed_folder(self.checkpoint_root, seed, self.seeds)
