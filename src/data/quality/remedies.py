"""What to do when a gate of the pool fails, in English and Chinese."""

from __future__ import annotations

REMEDIES: dict[str, tuple[str, str]] = {
    "clarify_rate": (
        "the share of samples that need an ask is not what the sidecar asks for: build the pool again, unedited",
        "需要追问的样本占比与元数据要求不符：请重新构建，不要手工修改",
    ),
    "rebuilt": (
        "the sidecar's own arguments give other tasks than stand in the pool: one of them was edited; build it again",
        "按元数据的参数重新生成的任务与样本池不同：其中之一被改过；请重新构建",
    ),
    "distinct2": (
        "add templates or alternatives to the pack, or raise --n: fewer than 5,000 tokens cannot be measured",
        "为模板包增加模板或措辞变体；若文本不足 5,000 个词元则无法测量，请加大 --n",
    ),
    "kl3": (
        "the wording is too close to pack_v1: build with --templates_dir templates/pack_v2, or reword its templates",
        "措辞与 pack_v1 过于接近：用 --templates_dir templates/pack_v2 重新构建，或改写模板",
    ),
    "roles": (
        "add templates of other roles; a role counts when at least 1% of the samples have it",
        "增加其他角色的模板；占样本至少 1% 的角色才计数",
    ),
    "styles": (
        "add templates of other registers; a register counts when at least 1% of the samples have it",
        "增加其他语体的模板；占样本至少 1% 的语体才计数",
    ),
    "dup_pct": (
        "use a larger source or more templates, or build with another seed; figures.duplicates names pairs",
        "扩大数据来源或增加模板，或换一个种子重新构建；figures.duplicates 列出了重复样本对",
    ),
    "len_min": (
        "the shortest sample lacks context or dialogue: check its source, or lower --min_len on purpose",
        "最短的样本缺少上下文或对话：检查其来源，或有意识地降低 --min_len",
    ),
    "len_max": (
        "the longest sample has too much context: cut articles in the source, or raise --max_len if the model allows",
        "最长的样本上下文过长：在来源中裁剪文章，或在模型允许时提高 --max_len",
    ),
    "leak_similar": (
        "build the pool and the shadow set from different splits; figures.leak names the pairs to remove",
        "用不同的划分构建样本池与影子集；figures.leak 列出了需要移除的样本对",
    ),
    "leak_source_ids": (
        "the pool uses source items of the shadow set: build it from the train split; figures.leak names the samples",
        "样本池使用了影子集的来源条目：请用 train 划分重新构建；figures.leak 列出了这些样本",
    ),
    "mix": (
        "build the pool again with the --mix that is wanted; do not remove samples by hand",
        "用所需的 --mix 重新构建样本池；不要手工删除样本",
    ),
    "shortcut_auc": (
        "words of the prompt tell whether something is missing: leave spans out instead of replacing them with vague "
        "words, and let complete samples use the same phrasing",
        "提示中的词语暴露了信息缺失：直接略去片段而不要用含糊的词替换，并让完整样本使用同样的措辞",
    ),
    "consistency": (
        "samples contradict themselves: figures.consistency counts the rules and names samples; correct the source or "
        "the builder and build again",
        "样本自相矛盾：figures.consistency 给出各规则的计数与样本；修正来源或构建器后重新构建",
    ),
}
