"""What to do when a trained policy is not good enough, in the two languages of the reports."""

from __future__ import annotations

Remedy = tuple[str, str]

REMEDIES: dict[str, Remedy] = {
    "need_ask_success": (
        "train on more samples that lack something (--clarify_rate) or for more steps; logs/episodes shows whether the "
        "policy does not ask or asks beside the point",
        "提高 --clarify_rate 或增加训练步数；查看 logs/episodes，分清是没有提问，还是问不到点上",
    ),
    "overclar": (
        "set use_overclar_penalty: true and raise reward.alpha a little, or train for more steps",
        "确认 use_overclar_penalty: true，适当提高 reward.alpha，或增加训练步数",
    ),
    "avg_turns": (
        "look in logs/episodes at what the extra turns are: needless asks (raise reward.alpha), repeated tool calls or "
        "turns without an act (lower the learning rate)",
        "查看 logs/episodes 中多出的轮次：无谓提问（提高 reward.alpha）、重复调用工具或无效回合（降低学习率）",
    ),
    "success_hard": (
        "give hard samples a larger share (priority_sampling.by_difficulty), switch on reward.difficulty_beta (0.05 to "
        "0.10), or train for more steps",
        "提高 priority_sampling.by_difficulty 中 hard 的占比，开启 reward.difficulty_beta（0.05 至 0.10），"
        "或增加训练步数",
    ),
    "ablation_overclar": (
        "the penalty does not hold needless asks down: raise --alpha a little, or train both arms for more steps; with "
        "few samples the interval beside the figure tells how little it says",
        "惩罚没有压住无谓提问：适当提高 --alpha，或让两组都多训练几步；样本少时请看旁边的置信区间",
    ),
    "ablation_turns": (
        "the policy with the penalty takes more turns: read the episodes of both arms, and lower --alpha where it "
        "looks things up again instead of asking",
        "带惩罚的策略轮次更多：对照阅读两组对话；若它用重复查找代替提问，请降低 --alpha",
    ),
    "ablation_success": (
        "the penalty costs success: lower --alpha, or train both arms for more steps",
        "惩罚损害了成功率：降低 --alpha，或让两组都多训练几步",
    ),
}
