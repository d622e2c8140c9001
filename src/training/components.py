"""The components that a config names: engine with its job, strategy, callbacks, renderer and live judge.

Engine, strategy and callbacks may be built-in ones or classes in the user's own files.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, cast, get_args, get_type_hints

from transformers import AutoTokenizer

from askgate_env.actions import TOOLS
from askgate_env.types import Sample

from ..agents.native import make_renderer
from ..agents.render import Renderer, generation_stop_ids
from ..config.loader import naming_keys
from ..config.profile import scoring_for
from ..config.train_config import TrainConfig
from ..core.api import Callback, Engine, Strategy
from ..core.errors import BadInput
from ..core.jsonl import read_records
from ..core.model_files import explain_tokenizer_errors, find_model, read_once
from ..core.user_class import load_user_class, require_members
from ..data.pool.meta import read_meta
from ..engines.job import LiveJudge, TrainJob, WarmStart
from ..engines.sft import SftPlan
from ..reward.configured import make_reward
from ..reward.live_share import RunJudge
from ..runtime.device import prepare_device
from ..scoring.judge import open_session
from ..scoring.monitor import forecast, score_once
from ..scoring.providers import ScorerSettings, settings_for
from ..scoring.scores import Score
from ..strategies.dpo import DPO
from ..strategies.grpo import GRPO
from ..strategies.ppo import PPO
from .resume import steps_done
from .sampler import open_sampler
from .sft_control import demonstrations, tokens_seen

if TYPE_CHECKING:
    from .preflight import Ready

ENGINES: Mapping[str, str] = {"pure_pt": "PurePT", "trl_ppo": "TrlEngine"}
"""Built-in engines: module of `engines`, and class."""
STRATEGIES: Mapping[str, type] = {"ppo": PPO, "grpo": GRPO, "dpo": DPO}
ENGINE_MEMBERS = "strategies fit save load save_model".split()
STRATEGY_MEMBERS = "critic reference group_size".split()
STRATEGY_METHODS = "targets loss after_step metrics state_dict load_state_dict".split()
CALLBACK_MEMBERS = ("on_start", "on_step", "on_end")

log = logging.getLogger(__name__)


def load_engine(name: str, strategy: str) -> Callable[[TrainJob], Engine]:
    """The engine class of that name. Refuses a built-in strategy that is not in its `strategies`; a user's own strategy
    is always tried. An engine may have `refusals`: by strategy, the reason and the remedy for the message."""
    remedy = f"use {', '.join(ENGINES)}, or package.module:Class for your own"
    engine: Any
    if name in ENGINES:
        try:
            engine = getattr(import_module(f"..engines.{name}", __package__), ENGINES[name])
        except ModuleNotFoundError as error:
            extra = f"pip install 'askgate[{error.name}]', or set engine: pure_pt"
            raise BadInput(f"{error.name} is not installed", where="engine", remedy=extra) from error
    else:
        engine = load_user_class(name, "engine", remedy)
    require_members(engine, ENGINE_MEMBERS, name, "an engine", where="engine")
    if ":" not in strategy and strategy not in engine.strategies:
        default = f"{name} does not run {strategy}", f"with engine: {name} use {', '.join(sorted(engine.strategies))}"
        what, remedy = getattr(engine, "refusals", {}).get(strategy, default)
        raise BadInput(what, where="strategy", remedy=remedy)
    return cast(Callable[[TrainJob], Engine], engine)


def make_engine(
    ready: Ready,
    seed: int,
    lora_targets: tuple[str, ...],
    judge: LiveJudge | None = None,
    last_good: Callable[[int], Path | None] = lambda before: None,
) -> tuple[Engine, TrainJob]:
    """The engine of a seed, and its job. Ranks other than 0 have no judge and no checkpoints."""
    config = ready.config
    with naming_keys(ready.path, config):
        weights, warm = unstable_weights(config), config.warm_start
        limits, optimizer = config.rollout_limits(read_meta(config.seed_pool).tools), config.optimizer
        if ready.forecast:
            memory = ready.forecast.memory
            limits = limits.model_copy(update={"slots": memory.slots})
            optimizer = optimizer.model_copy(update={"pack_tokens": memory.pack_tokens})
        warm_start = None
        if warm:
            demos = partial(demonstrations, config.seed_pool, ready.renderer, limits)
            warm_start = WarmStart(warm.steps, SftPlan(warm.tokens, warm.lr, warm.batch_tokens, seed), demos)
        job = TrainJob(
            model=ready.model,
            renderer=ready.renderer,
            strategy=make_strategy(config),
            sampler=open_sampler(config.seed_pool, config.shadow_set, config.priority_sampling, seed, weights=weights),
            reward=make_reward(config),
            seed=seed,
            max_steps=config.steps,
            batch_size=config.batch_size,
            device=ready.device,
            dtype=ready.dtype,
            lr=config.lr,
            rollout=limits,
            optimizer=optimizer,
            finetune=config.finetune,
            lora_targets=lora_targets,
            kl_alert=config.kl_alert,
            judge=judge,
            warm_start=warm_start,
            last_good=last_good,
        )
        prepare_device(ready.device)
        engine = ready.engine(job)
        if config.eval.control:
            tokens_seen(engine)  # refuses an engine that does not count them, before it trains
    return engine, job


def strategy_class(name: str) -> type:
    """The class of a strategy by its name in the config."""
    remedy = f"use {', '.join(STRATEGIES)}, or package.module:Class for your own"
    return STRATEGIES[name] if name in STRATEGIES else load_user_class(name, "strategy", remedy)


def load_strategy(name: str, options: Mapping[str, Any]) -> Strategy:
    """Makes the strategy of that name with these options. Never constructs a class that is no strategy."""
    strategy_type = strategy_class(name)
    require_members(strategy_type, STRATEGY_METHODS, name, "a strategy", where="strategy")
    known = inspect.signature(strategy_type).parameters
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values())
    for key in options:
        if key not in known and not takes_any:
            remedy = f"use one of: {', '.join(known)}" if known else "clear the section with strategy_options: {}"
            raise BadInput(f"{name} has no option {key!r}", where=f"strategy_options.{key}", remedy=remedy)
    _check_types(strategy_type, options)
    try:
        strategy = strategy_type(**options)
    except TypeError as error:
        what = f"{name} does not take these options ({error})"
        raise BadInput(what, where="strategy_options", remedy=f"see the arguments of {name}") from error
    require_members(strategy, STRATEGY_MEMBERS, name, "a strategy", where="strategy")
    return cast(Strategy, strategy)


def _check_types(strategy_type: type, options: Mapping[str, Any]) -> None:
    """Checks options against annotations of plain types: 7.9 is not an int and "no" is not a bool."""
    try:
        hints = get_type_hints(strategy_type.__init__)  # type: ignore[misc]
    except NameError:
        return
    for key, value in options.items():
        if key not in hints:
            continue
        annotated = get_args(hints[key]) or (hints[key],)
        if set(annotated) <= {bool, int, float, str, NoneType}:
            accepted = {*annotated, int} if float in annotated else {*annotated}
            if type(value) not in accepted:
                names = " or ".join(kind.__name__ for kind in annotated if kind is not NoneType)
                what = f"{value!r} is not of type {names}"
                raise BadInput(what, where=f"strategy_options.{key}", remedy=f"give a value of type {names}")


def make_strategy(config: TrainConfig) -> Strategy:
    """The strategy, with `clip`, `kl_coef` and `target_kl` as far as it takes them, and all of `strategy_options`."""
    parameters = inspect.signature(strategy_class(config.strategy)).parameters
    top_level = {"clip": config.clip, "kl_coef": config.kl_coef, "target_kl": config.target_kl}
    for name in top_level:
        if name in config.strategy_options:
            what = f"{name} is a setting of its own"
            raise BadInput(what, where=f"strategy_options.{name}", remedy=f"set {name} at the top level")
    if {"kl_coef", "target_kl"} <= parameters.keys() and config.kl_coef == 0 and config.target_kl is not None:
        raise BadInput(
            f"a coefficient of 0 never adapts, so it cannot reach a target of {config.target_kl:g}",
            where="kl_coef",
            remedy="start with a coefficient above 0, or set target_kl: null",
        )
    options = {name: value for name, value in top_level.items() if name in parameters} | config.strategy_options
    return load_strategy(config.strategy, options)


def make_callbacks(config: TrainConfig) -> list[Callback]:
    """The user's own callbacks (`callbacks` in the config)."""
    callbacks: list[Callback] = []
    for name in config.callbacks:
        callback_type = load_user_class(name, "callbacks", "check the name")
        require_members(callback_type, CALLBACK_MEMBERS, name, "a callback", where="callbacks")
        callbacks.append(callback_type())
    return callbacks


def open_renderer(model: str, actions: str = "tags", tools: Sequence[str] = TOOLS) -> Renderer:
    """The renderer of a model; `actions` and `tools` as in `RolloutLimits`."""
    model_folder = find_model(model)
    with read_once(model_folder, weights=False) as folder:
        with explain_tokenizer_errors(model_folder):
            tokenizer = AutoTokenizer.from_pretrained(folder)
        stop_ids = generation_stop_ids(str(folder))
        return make_renderer(tokenizer, stop_ids, actions, tools)


def unstable_weights(config: TrainConfig) -> dict[str, float]:
    """Weights, by sample id, of samples on which the judge's votes disagreed; all others have weight 1.
    A gated run may do without the list, because a ticket needs no score of the pool."""
    path = config.reward.unstable_list
    if config.reward.unstable and not path:
        if config.profile == "local":
            raise BadInput("does not exist", where=str(config.reward.unstable), remedy="correct reward.unstable")
        log.warning("there is no %s (reward.unstable), so every sample counts fully", config.reward.unstable)
    return {score.id: score.weight for score in read_records(path, Score)} if path else {}


def judge_settings(config: TrainConfig) -> ScorerSettings | None:
    """Settings of the live judge from the environment; None if `live_mode` is off or no live dimension has a weight.
    Refuses a config that needs a judge while REWARD_LIVE_MODE is off."""
    dimensions = make_reward(config).dimensions
    if not (config.live_mode and dimensions is not None and dimensions.wants_judge):
        return None
    settings = settings_for(os.environ, scoring_for(config), "")
    if not settings.live:
        raise BadInput(
            "is on, and REWARD_LIVE_MODE is off, so no judge may be called",
            where="live_mode",
            remedy="set REWARD_LIVE_MODE=1, or live_mode: false to train by the rules alone",
        )
    return settings


@contextmanager
def open_judge(config: TrainConfig, resumed: Path | None, group_size: int) -> Iterator[RunJudge | None]:
    """The live judge of the whole run, called once as a test. Logs the estimated cost of the steps that are left.

    `resumed`: folder of the run that is resumed.
    """
    settings = judge_settings(config)
    if settings is None:
        if config.live_mode:
            log.info("no live dimension has a weight in %s, so no judge is called", config.reward.weights)
        yield None
        return
    scoring = settings.scoring
    with ExitStack() as stack:
        session = stack.enter_context(open_session(settings, log.info))
        runner = stack.enter_context(asyncio.Runner())
        client = session.client()
        stack.callback(lambda: runner.run(client.close()))
        run_judge = RunJudge(session, client, runner)
        sample = next(iter(read_records(config.seed_pool, Sample)))
        runner.run(score_once(run_judge.judge, sample))
        done = sum(min(config.steps, steps_done(config, seed, resumed)) for seed in config.seeds) if resumed else 0
        steps = config.steps * len(config.seeds) - max(done, config.warm_steps * len(config.seeds))
        judged_per_step = config.batch_size * config.reward.live_share
        calls = round(max(judged_per_step, group_size) * scoring.votes.k)
        at_once = max(1, min(scoring.limits.concurrency_max, calls))
        log.info(
            "live scoring by %s of %g%% of the episodes, for %d steps in all: %s", session.provider.name,
            100 * config.reward.live_share, steps, forecast(session, round(steps * judged_per_step), at_once),
        )  # fmt: skip
        yield run_judge
