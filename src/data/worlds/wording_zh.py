"""百科世界的中文措辞：条目在此，短语与问句在旁边的文件里。Chinese wording, built like `wording_en`."""

from __future__ import annotations

from random import Random

from .kb import Entity, Value
from .phrases_zh import ASIDES as ASIDES
from .phrases_zh import ASIDES_ONE as ASIDES_ONE
from .phrases_zh import LEADS as LEADS
from .phrases_zh import NOUNS as NOUNS
from .phrases_zh import STAND_INS as STAND_INS
from .questions_zh import ASKS as ASKS
from .solver import Facts
from .versus_zh import COMPARE as COMPARE
from .versus_zh import STRATEGY as STRATEGY

Sentence = tuple[str, tuple[str, ...]]

YES, NO = "是", "否"


def when(year: int | None) -> str:
    return f"{year}年" if year else ""


def mention(kind: str, name: str, tag: str) -> str:
    if not tag:
        return name
    return {
        "person": f"{tag}{name}",
        "town": f"{tag}的{name}",
        "work": f"{tag}{name}",
        "company": f"做{tag}的{name}",
        "event": f"{tag}{name}",
    }[kind]


def stamp(phrase: str, year: int | None) -> str:
    return f"{phrase}{year}年" if year else phrase


def sentence(text: str) -> str:
    return text


def nests(form: str) -> bool:
    """中文短语从开头嵌套：不说“教过林舟的出生地的镇长的老师”。"""
    return form.startswith("{x}")


_MEASURE = {"person": "位", "town": "个", "work": "部", "company": "家", "event": "个"}


WHICH = (
    "您指的是哪一{m}{x}",
    "您说的{x}是哪{m}",
    "这里的{x}究竟是哪{m}",
    "同名的{x}里要选哪{m}",
    "问到的{x}该算哪{m}",
    "心里想的是哪{m}{x}",
    "提到的是哪{m}{x}",
    "重名的{x}中看中了哪{m}",
)
WHICH_YEAR = (
    "您问的是哪一年",
    "要按哪年来算",
    "想看什么年份的情形",
    "以何年为准",
    "具体是哪个年头",
    "该取哪年的记载",
    "说的是哪一年的事",
    "时间定在何年",
)


def which(kind: str, name: str, rng: Random) -> str:
    return rng.choice(WHICH).format(m=_MEASURE[kind], x=name)


def which_year(rng: Random) -> str:
    return rng.choice(WHICH_YEAR)


FAR = {"easy": 0.0, "medium": 0.2, "hard": 0.05}
"""Three characters say more than three letters: Chinese phrases part from their source much faster than English ones."""
YEAR_WORDS = ("年", "时间", "时候", "何时", "日期")
GAP = ""
JOIN = ""
QUERIES = {
    "born_in": "出生地",
    "teacher": "老师",
    "employer": "商号",
    "mayor": "镇长",
    "author": "作者",
    "house": "出品",
    "setting": "故事发生地",
    "founder": "创办人",
    "seat": "总号",
    "town": "举办地",
    "patron": "赞助商",
    "winner": "优胜者",
}


def query(name: str, relation: str) -> str:
    return f"{name} {QUERIES.get(relation, '简介')}"


def name_words(name: str) -> tuple[str, ...]:
    return (name.strip("《》"), "哪一", "指的")


def tag_span(kind: str, tag: str) -> str:
    return {
        "person": f"那位{tag}",
        "town": f"{tag}的那个",
        "work": f"那部{tag}",
        "company": f"做{tag}的那家",
        "event": f"{tag}那个",
    }[kind]


def also_span(kind: str, value: int | str) -> str:
    return {
        "person": f"{value}年出生的那位",
        "town": f"{value}边上的那个",
        "work": f"{value}年的那部",
        "company": f"{value}年创办的那家",
        "event": f"{value}年首办的那个",
    }[kind]


def title(name: str, tag: str, also: int | str | None) -> str:
    return f"{name}（{tag}，{also}）" if also else f"{name}（{tag}）"


def name_of(value: Value) -> str:
    return value.what.name if isinstance(value.what, Entity) else str(value.what)


def page(entity: Entity, f: Facts, rng: Random) -> list[Sentence]:
    return _PAGES[entity.kind](entity, f, rng)


def _listing(name: str, noun: str, values: list[Value], verb: str, rng: Random, unit: str = "") -> str:
    """`青石镇的镇长，1902年是赵晨，1931年是钱望舒。` 或 `青石镇1902年的镇长是赵晨，1931年是钱望舒。`"""
    (first, *rest) = [(f"{value.year}年", f"{verb}{name_of(value)}{unit}") for value in values]
    opening = rng.choice(
        (
            f"{name}的{noun}，{first[0]}{first[1]}",
            f"{name}{first[0]}的{noun}{first[1]}",
            f"{name}的{noun}{first[0]}{first[1]}",
        )
    )
    return "，".join([opening, *(year + said for year, said in rest)]) + "。"


def _person(e: Entity, f: Facts, rng: Random) -> list[Sentence]:
    born, died, town = name_of(f["born"][0]), name_of(f["died"][0]), name_of(f["born_in"][0])
    first = rng.choice(
        (
            f"{e.name}，{e.tag}，出生于{born}年。",
            f"{e.tag}{e.name}出生于{born}年。",
            f"{e.name}是{born}年出生的{e.tag}。",
        )
    )
    death = rng.choice((f"{e.name}去世于{died}年。", f"{e.name}是{died}年去世的。", f"{died}年，{e.name}去世。"))
    birth = rng.choice(
        (
            f"{e.name}的出生地是{town}。",
            f"{e.name}出生的地方是{town}。",
            f"{town}是{e.name}的出生地。",
            f"{town}是{e.name}出生的地方。",
        )
    )
    out: list[Sentence] = [(first, ("born", "tag")), (birth, ("born_in",)), (death, ("died",))]
    if "teacher" in f:
        teacher = name_of(f["teacher"][0])
        text = rng.choice((f"{e.name}的老师是{teacher}。", f"{teacher}是{e.name}的老师。"))
        out.append((text, ("teacher",)))
    if "employer" in f:
        out.append((_joined(e.name, f["employer"], rng), ("employer",)))
    return out


def _joined(name: str, values: list[Value], rng: Random) -> str:
    """加入不用“的”连接人名：`林舟1902年加入的商号是大丰厂，1931年是恒泰行。`"""
    (first, *rest) = values
    opening = rng.choice(
        (
            f"{name}加入的商号，{first.year}年是{name_of(first)}",
            f"{name}{first.year}年加入的商号是{name_of(first)}",
            f"{first.year}年{name}加入的商号是{name_of(first)}",
        )
    )
    return "，".join([opening, *(f"{value.year}年是{name_of(value)}" for value in rest)]) + "。"


def _town(e: Entity, f: Facts, rng: Random) -> list[Sentence]:
    river, founded, high = name_of(f["river"][0]), name_of(f["founded"][0]), name_of(f["elevation"][0])
    first = rng.choice(
        (
            f"{e.name}位于{e.tag}，坐落在{river}边。",
            f"{e.name}属于{e.tag}，在{river}边。",
            f"{e.tag}的{e.name}坐落在{river}边。",
        )
    )
    start = rng.choice((f"{e.name}建于{founded}年。", f"{e.name}是{founded}年建立的。", f"{founded}年，{e.name}建立。"))
    height = rng.choice((f"{e.name}海拔{high}米。", f"{e.name}的海拔是{high}米。"))
    out: list[Sentence] = [(first, ("tag", "river")), (start, ("founded",)), (height, ("elevation",))]
    if "population" in f:
        out.append((_listing(e.name, "居民", f["population"], "有", rng, "人"), ("population",)))
    if "mayor" in f:
        out.append((_listing(e.name, "镇长", f["mayor"], "是", rng), ("mayor",)))
    return out


def _work(e: Entity, f: Facts, rng: Random) -> list[Sentence]:
    author, year, house = name_of(f["author"][0]), name_of(f["year"][0]), name_of(f["house"][0])
    setting = name_of(f["setting"][0])
    first = rng.choice(
        (
            f"{e.name}，{e.tag}，问世于{year}年。",
            f"{e.tag}{e.name}是{year}年问世的。",
            f"{e.tag}{e.name}问世于{year}年。",
        )
    )
    made = rng.choice((f"{e.name}的作者是{author}。", f"创作{e.name}的人是{author}。", f"{author}是{e.name}的作者。"))
    scene = rng.choice((f"{e.name}的故事发生在{setting}。", f"{setting}是{e.name}的故事发生的地方。"))
    firm = rng.choice((f"出品{e.name}的商号是{house}。", f"{e.name}由{house}出品。", f"{e.name}的出品商号是{house}。"))
    return [(first, ("year", "tag")), (made, ("author",)), (scene, ("setting",)), (firm, ("house",))]


def _company(e: Entity, f: Facts, rng: Random) -> list[Sentence]:
    founder, founded = name_of(f["founder"][0]), name_of(f["founded"][0])
    first = rng.choice(
        (
            f"{e.name}，{e.tag}商号，创办于{founded}年。",
            f"{e.name}是{founded}年创办的{e.tag}商号。",
            f"{e.tag}商号{e.name}创办于{founded}年。",
        )
    )
    by = rng.choice(
        (f"{e.name}的创办人是{founder}。", f"创办{e.name}的人是{founder}。", f"{founder}是{e.name}的创办人。")
    )
    out: list[Sentence] = [(first, ("founded", "tag")), (by, ("founder",))]
    if "seat" in f:
        out.append((_listing(e.name, "总号", f["seat"], "设在", rng), ("seat",)))
    if "staff" in f:
        out.append((_listing(e.name, "雇员", f["staff"], "有", rng, "人"), ("staff",)))
    return out


def _event(e: Entity, f: Facts, rng: Random) -> list[Sentence]:
    town, first_year, patron = name_of(f["town"][0]), name_of(f["first"][0]), name_of(f["patron"][0])
    first = rng.choice(
        (
            f"{e.name}是{e.tag}，首次举办于{first_year}年。",
            f"{e.tag}{e.name}，{first_year}年首次举办。",
            f"{e.tag}{e.name}首次举办于{first_year}年。",
        )
    )
    place = rng.choice((f"{e.name}的举办地是{town}。", f"举办{e.name}的城镇是{town}。", f"{town}是{e.name}的举办地。"))
    sponsor = rng.choice(
        (f"{e.name}的赞助商是{patron}。", f"赞助{e.name}的商号是{patron}。", f"{patron}是{e.name}的赞助商。")
    )
    out: list[Sentence] = [(first, ("first", "tag")), (place, ("town",)), (sponsor, ("patron",))]
    if "winner" in f:
        out.append((_listing(e.name, "优胜者", f["winner"], "是", rng), ("winner",)))
    if "visitors" in f:
        out.append((_listing(e.name, "观众", f["visitors"], "有", rng, "人"), ("visitors",)))
    return out


_PAGES = {"person": _person, "town": _town, "work": _work, "company": _company, "event": _event}
