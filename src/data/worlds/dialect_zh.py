"""每个世界有自己的说法：这里叫商号，那里叫字号；这里出生，那里降生。

A world keeps to one word for each thing, in its articles and in the questions about it, and other worlds have others:
so a reader of many worlds meets the language and not a form letter.
"""

from __future__ import annotations

import re
from random import Random

SAYINGS: dict[str, tuple[str, ...]] = {
    "商号": ("商号", "字号", "行号", "企业", "商家", "铺户", "买卖家"),
    "镇长": ("镇长", "主事", "首长", "镇守", "里正", "镇尹"),
    "总号": ("总号", "总部", "本部", "总店", "大本营"),
    "雇员": ("雇员", "员工", "伙计", "职工", "工友"),
    "观众": ("观众", "看客", "来宾", "访客", "游人"),
    "居民": ("居民", "住民", "乡亲", "住户"),
    "优胜者": ("优胜者", "冠军", "头名", "魁首", "得主"),
    "创办": ("创办", "创立", "开办", "兴办", "筹建", "缔造"),
    "去世": ("去世", "逝世", "辞世", "离世", "谢世", "过世", "作古"),
    "出生": ("出生", "诞生", "降生", "出世"),
    "老师": ("老师", "师傅", "业师", "导师", "恩师", "授业人"),
    "作者": ("作者", "主创", "创作者", "原作人"),
    "问世": ("问世", "面世", "亮相", "发表"),
    "举办": ("举办", "举行", "承办", "操办"),
    "赞助": ("赞助", "资助", "襄助"),
    "出品": ("出品", "发行", "刊行", "推出"),
    "城镇": ("城镇", "市镇", "集镇", "城邑"),
    "职业": ("职业", "行当", "身份", "本行"),
    "加入": ("加入", "进入", "入职", "投身", "就职"),
    "首次": ("首次", "首度", "初次", "头次"),
    "故事": ("故事", "情节", "剧情"),
    "位于": ("位于", "地处", "处在"),
    "建立": ("建立", "始建", "奠基", "开埠"),
    "哪一年": ("哪一年", "哪年", "何年", "什么年份"),
    "哪里": ("哪里", "何处", "哪儿", "什么地方"),
    "是谁": ("是谁", "是哪位", "是何人", "系何人"),
    "多少": ("多少", "几多"),
    "哪家": ("哪家", "哪一家", "何家"),
    "哪座": ("哪座", "哪一座", "何座"),
    "地方": ("地方", "去处", "所在"),
    "更早": ("更早", "较早", "在先"),
    "已经": ("已经", "业已", "早已", "已然"),
}
_SAID = re.compile("|".join(SAYINGS))
_BETWEEN = "\x00"


def dialect(rng: Random) -> dict[str, str]:
    return {thing: rng.choice(words) for thing, words in SAYINGS.items()}


def speak(texts: list[str], words: dict[str, str]) -> list[str]:
    """The texts in that dialect. All at once, because one pass is cheaper than many.

    >>> speak(["青石镇的镇长姓赵。"], {"镇长": "主事"})
    ['青石镇的主事姓赵。']
    """
    return _SAID.sub(lambda found: words[found[0]], _BETWEEN.join(texts)).split(_BETWEEN)
