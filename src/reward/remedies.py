"""What to do when a reward does not pass its gates, in the two languages of the reports."""

from __future__ import annotations

Remedy = tuple[str, str]

REMEDIES: dict[str, Remedy] = {
    "spearman": (
        "the two scores order the episodes too differently: raise --l2 of weight_calib, which keeps the weights closer "
        "to the old ones, or look at the dimensions with the largest weights",
        "新旧评分的排序相差太大：提高 weight_calib 的 --l2，使权重更接近旧权重，或检查权重最大的维度",
    ),
    "top10_overlap": (
        "compare top10_reachable in the report: below the threshold, equal old scores leave no definite top and only "
        "finer old dimensions help; else raise --l2 of weight_calib",
        "先看报告中的 top10_reachable：若低于门槛，说明旧评分同分太多、没有确定的前 10%，须让旧维度更细；"
        "否则提高 weight_calib 的 --l2",
    ),
    "corr_improve": (
        "record more episodes and calibrate again, lower --l2 of weight_calib, or add a dimension that tells right "
        "from wrong; the report shows task and difficulty one by one",
        "增加对话记录后重新校准，降低 weight_calib 的 --l2，或增加能区分对错的维度；报告按任务和难度分别列出",
    ),
    "rank_corr": (
        "record more episodes to calibrate on, or lower --l2 so that the weights may move further from the old ones; "
        "dimensions whose interval reaches 0 tell little about success",
        "增加用于校准的对话，或降低 --l2，让权重离旧权重更远；区间触及 0 的维度与成功关系不大",
    ),
    "mae": (
        "lower --l2, or look at the means of the dimensions: weights that sum to 1 cannot predict a success rate below "
        "the lowest or above the highest of them",
        "降低 --l2，或检查各维度的均值：权重之和为 1，预测值不可能低于最低或高于最高的维度均值",
    ),
}
