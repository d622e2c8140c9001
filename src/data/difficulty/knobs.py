"""Which knob of the builder to turn when the difficulty is off (the owner's section five), in English and Chinese.

None of them loosens a threshold: the data changes, the gate stays.
"""

from __future__ import annotations

from ...core.types import Level, Task

Remedy = tuple[str, str]

_HARDER_PAGES: Remedy = (
    "raise --tool_hops of build_rollout_pool (with room in --max_turns) or, with --source builtin, --clarify_rate",
    "调高 build_rollout_pool 的 --tool_hops（--max_turns 须留有余地）；用 --source builtin 时也可调高 --clarify_rate",
)
_HARDER: dict[Task, Remedy] = {
    "hotpotqa": _HARDER_PAGES,
    "strategyqa": _HARDER_PAGES,
    "gsm8k": (
        "raise --tool_hops (with room for it in --max_turns) or --ops_numeric of build_rollout_pool",
        "调高 build_rollout_pool 的 --tool_hops（--max_turns 须留有余地）或 --ops_numeric",
    ),
}
_EASIER: Remedy = (
    "lower --tool_hops of build_rollout_pool, for gsm8k also --ops_numeric, or raise its --n",
    "调低 build_rollout_pool 的 --tool_hops（gsm8k 还可调低 --ops_numeric），或增加样本数（--n）",
)
_MIDDLE: Remedy = (
    "set --tool_hops and --ops_numeric of build_rollout_pool to their usual 4, or raise its --n",
    "将 build_rollout_pool 的 --tool_hops 与 --ops_numeric 设回常用值 4，或增加样本数（--n）",
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
        "raise --tool_hops (with room for it in --max_turns) or, for gsm8k, --ops_numeric of build_rollout_pool",
        "调高 build_rollout_pool 的 --tool_hops（--max_turns 须留有余地），gsm8k 还可调高 --ops_numeric",
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
NOT_COPIED: Remedy = (
    "samples differ from those of the pool: run difficulty_bucketize again, which copies them as they are",
    "样本与原样本池不一致：重跑 difficulty_bucketize，它会原样复制样本",
)
MEASURE_AGAIN: Remedy = (
    "the metrics are not those of these samples: run difficulty_metrics and difficulty_bucketize again, edit nothing",
    "指标与样本不符：重跑 difficulty_metrics 与 difficulty_bucketize，勿手工改动这两个文件",
)
