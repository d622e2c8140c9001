"""Which knob of the builder to turn when the difficulty is off (the owner's section five), in English and Chinese.

None of them loosens a threshold: the data changes, the gate stays.
"""

from __future__ import annotations

from ..core.types import Level, Task

Remedy = tuple[str, str]

_HARDER: dict[Task, Remedy] = {
    "hotpotqa": (
        "raise --tool_hops and --clarify_rate of build_rollout_pool, or --paraphrase to restate less",
        "调高 build_rollout_pool 的 --tool_hops 与 --clarify_rate，或调高 --paraphrase 以减少复述",
    ),
    "strategyqa": (
        "raise --tool_hops and --clarify_rate of build_rollout_pool, or --paraphrase to restate less",
        "调高 build_rollout_pool 的 --tool_hops 与 --clarify_rate，或调高 --paraphrase 以减少复述",
    ),
    "gsm8k": (
        "raise --ops_numeric and --clarify_rate of build_rollout_pool (more steps of arithmetic, more turns)",
        "调高 build_rollout_pool 的 --ops_numeric 与 --clarify_rate（更多运算步骤、更多轮次）",
    ),
}
_EASIER: Remedy = (
    "lower --tool_hops, --ops_numeric, --clarify_rate or --paraphrase of build_rollout_pool",
    "调低 build_rollout_pool 的 --tool_hops、--ops_numeric、--clarify_rate 或 --paraphrase",
)
_MIDDLE: Remedy = (
    "move --tool_hops, --ops_numeric or --clarify_rate of build_rollout_pool toward the middle, or raise its --n",
    "将 build_rollout_pool 的 --tool_hops、--ops_numeric 或 --clarify_rate 调向中间值，或增加样本数（--n）",
)
TARGET: Remedy = (
    "; then run difficulty_metrics and difficulty_bucketize again (its --target sets the shares)",
    "；然后重跑 difficulty_metrics 与 difficulty_bucketize（--target 决定各桶占比）",
)


def more_of(level: Level, task: Task | None) -> Remedy:
    """How to get more samples of a bucket; without a task, for all of them."""
    if level == "easy":
        return _EASIER
    if level == "medium":
        return _MIDDLE
    if task is not None:
        return _HARDER[task]
    return (
        "raise --tool_hops, --ops_numeric and --clarify_rate of build_rollout_pool, or --paraphrase to restate less",
        "调高 build_rollout_pool 的 --tool_hops、--ops_numeric、--clarify_rate，或调高 --paraphrase 以减少复述",
    )


def then_balance(remedy: Remedy) -> Remedy:
    return remedy[0] + TARGET[0], remedy[1] + TARGET[1]


OVERLAP_TOO_HIGH: Remedy = (
    "raise --paraphrase of build_rollout_pool, so that questions keep further from the words of their supporting text",
    "调高 build_rollout_pool 的 --paraphrase，使问句与支撑文本的重叠降低",
)
OVERLAP_TOO_LOW: Remedy = (
    "lower --paraphrase of build_rollout_pool, so that questions restate more of their supporting text",
    "调低 build_rollout_pool 的 --paraphrase，使问句更多复述支撑文本",
)
TOO_LONG: Remedy = (
    "cut long contexts in the source (fewer or shorter articles a sample), and check the base model's max_seq_len",
    "裁剪过长的上下文（减少或缩短每个样本的文章），并核对底模的 max_seq_len",
)
TOO_MANY_TURNS: Remedy = (
    "lower --max_turns or --clarify_rate of build_rollout_pool",
    "调低 build_rollout_pool 的 --max_turns 或 --clarify_rate",
)
TOO_MANY_HOPS: Remedy = ("lower --tool_hops of build_rollout_pool", "调低 build_rollout_pool 的 --tool_hops")
NO_COPIES: Remedy = (
    "run difficulty_bucketize again: it takes no sample twice",
    "重跑 difficulty_bucketize：它不会重复选取同一样本",
)
MEASURE_AGAIN: Remedy = (
    "the metrics are not those of these samples: run difficulty_metrics and difficulty_bucketize again, edit nothing",
    "指标与样本不符：重跑 difficulty_metrics 与 difficulty_bucketize，勿手工改动这两个文件",
)
