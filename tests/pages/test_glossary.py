"""Chinese texts use one word for one thing: episode 对话, turn 轮, judge 评委, gate 闸门, ticket 训练票 and so on."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXTS = [
    ROOT / "README.zh-CN.md",
    ROOT / "templates/remedies.yaml",
    ROOT / "src/loop/stages.yaml",
    *sorted((ROOT / "src").glob("*/templates/*.html")),
    ROOT / "src/pages/templates/labels.yaml",
    ROOT / "src/cli/help.yaml",
    ROOT / "docs/tutorial.zh-CN.md",
]
WORDS = {
    "对话": "轨迹|录音",
    "轮": "轮次|回合",
    "评委": "评分器|评审模型|打分器|裁判|评分员",
    "训练票": "票据|通行证|持此票",
    "负责人": "老板|所有者",
    "生成": "物化",
    "连通检查": "真连通",
    "开训": "开跑",
    "账本": "台账",
    "配置档": "档位",
    "影子集": "影子评测集",
    "闸门": "门禁|关卡|门槛",
}
"""The word of the glossary, and the words that must not be used instead."""


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_chinese_texts_use_the_words_of_the_glossary(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    wrong = {right: found for right, others in WORDS.items() if (found := re.findall(others, text))}
    assert wrong == {}
