"""百科世界的中文措辞：条目、关系的名词短语、问句。Chinese wording, built like `wording_en`."""

from __future__ import annotations

from random import Random

from .kb import Entity, Value
from .solver import Facts

Sentence = tuple[str, tuple[str, ...]]

NOUNS: dict[str, tuple[str, ...]] = {
    "born_in": ("{x}的出生地", "{x}出生的地方", "养育了{x}的那方水土", "{x}的故乡"),
    "teacher": ("{x}的老师", "教过{x}的老师", "{x}当年拜的师傅", "把手艺传给{x}的人"),
    "employer": ("{x}{when}加入的商号", "{x}{when}加入的那家商号", "{when}给{x}发薪水的东家", "{x}{when}投奔的那家字号"),
    "mayor": ("{x}{when}的镇长", "{when}当{x}的镇长的人", "{when}执掌{x}政务的人", "{x}{when}的当家人"),
    "author": ("{x}的作者", "创作{x}的人", "{x}背后的那双手", "让{x}问世的那位"),
    "house": ("出品{x}的商号", "{x}的出品商号", "为{x}掏钱的那一家", "{x}的出资方"),
    "setting": ("{x}的故事发生的地方", "{x}的故事发生地", "{x}里写到的那座城镇", "{x}取景的所在"),
    "founder": ("{x}的创办人", "创办{x}的人", "一手拉起{x}的人", "{x}的开山之人"),
    "seat": ("{x}{when}的总号所在地", "{x}的总号{when}所在的城镇", "{when}{x}东家们议事的城镇", "{x}{when}的大本营"),
    "town": ("举办{x}的城镇", "{x}的举办地", "为{x}腾出街巷的城镇", "{x}年年开锣的地方"),
    "patron": ("赞助{x}的商号", "{x}的赞助商", "替{x}付账的买卖家", "{x}的金主"),
    "winner": ("{x}{when}的优胜者", "{x}的{when}优胜者", "{when}在{x}拔得头筹的人", "{x}{when}的魁首"),
}

ASKS: dict[tuple[str, str], tuple[str, ...]] = {
    ("person", "born"): ("{x}出生于哪一年？", "{x}是哪年出生的？", "{x}的生年是哪一年？", "哪一年世上才有了{x}？"),
    ("person", "died"): ("{x}去世于哪一年？", "{x}是哪年去世的？", "{x}的卒年是哪一年？", "{x}在哪一年走完一生？"),
    ("person", "tag"): ("{x}的职业是什么？", "{x}是做什么职业的？", "{x}靠哪门本事谋生？", "说说{x}吃的是哪碗饭。"),
    ("town", "tag"): ("{x}位于哪个地区？", "{x}属于哪个地区？", "{x}归哪一级行政区管辖？", "去{x}得先到哪个省道？"),
    ("town", "river"): ("{x}坐落在哪条河边？", "{x}在哪条河畔？", "流经{x}的水叫什么名字？", "在{x}过桥，跨的是哪条水？"),
    ("town", "founded"): ("{x}建于哪一年？", "{x}是哪年建立的？", "{x}的历史可以追溯到哪一年？", "{x}从哪一年起就有人烟？"),
    ("town", "elevation"): ("{x}海拔多少米？", "{x}的海拔是多少米？", "站在{x}，离海平面有多少米高？", "{x}的地势有多高（以米计）？"),
    ("town", "population"): ("{x}的居民{when}有多少人？", "{x}{when}的居民有多少人？", "{when}清点人头，{x}有几口人？", "{x}{when}的户籍册上记了多少人？"),
    ("town", "mayor"): ("{x}{when}的镇长是谁？", "{x}的镇长{when}是谁？", "{when}{x}的政务交到了谁手上？", "{x}{when}由谁当家？"),
    ("work", "year"): ("{x}问世于哪一年？", "{x}是哪年问世的？", "世人哪一年才见到{x}？", "{x}是哪个年份的作品？"),
    ("work", "setting"): ("{x}的故事发生在哪里？", "{x}的故事发生在哪座城镇？", "{x}写的是什么地方？", "看{x}会认出哪座城镇？"),
    ("work", "house"): ("出品{x}的商号是哪家？", "{x}由哪家商号出品？", "{x}是谁家掏的钱？", "{x}背后站着哪家字号？"),
    ("company", "tag"): ("{x}从事哪一行？", "{x}是哪一行的商号？", "{x}做的是什么买卖？", "{x}靠哪门生意赚钱？"),
    ("company", "founded"): ("{x}创办于哪一年？", "{x}是哪年创办的？", "{x}的招牌挂了多久，始于何年？", "{x}从哪年开张？"),
    ("company", "seat"): ("{x}的总号{when}设在哪里？", "{x}的总号{when}设在哪座城镇？", "{when}要找{x}的东家该去哪座城镇？", "{x}{when}在何处坐镇？"),
    ("company", "staff"): ("{x}的雇员{when}有多少人？", "{x}{when}的雇员有多少人？", "{when}在{x}领工钱的有几人？", "{x}{when}的花名册上有多少人？"),
    ("event", "first"): ("{x}首次举办是哪一年？", "{x}哪年首次举办？", "{x}的头一届开在何年？", "{x}这个老规矩始于何年？"),
    ("event", "town"): ("举办{x}的城镇是哪座？", "{x}的举办地是哪里？", "想看{x}得去什么地方？", "{x}年年在何处开锣？"),
    ("event", "winner"): ("{x}{when}的优胜者是谁？", "{when}谁赢得了{x}？", "{when}{x}的头奖被谁捧走？", "{x}{when}把谁的名字刻上奖座？"),
    ("event", "visitors"): ("{x}的观众{when}有多少人？", "{x}{when}的观众有多少人？", "{when}{x}卖出几张票？", "{when}有几个人去看{x}？"),
    ("person", "employer"): ("{x}加入的商号{when}是哪家？", "{x}{when}加入的商号是哪家？", "{when}{x}领的是谁家的薪水？", "{x}{when}投奔了哪家字号？"),
    ("person", "teacher"): ("{x}的老师是谁？", "教过{x}的老师是谁？", "{x}的手艺是谁传的？", "{x}当年给谁磕过头拜过师？"),
    ("person", "born_in"): ("{x}的出生地是哪里？", "{x}出生的地方是哪座城镇？", "{x}是哪方人氏？", "{x}的故乡叫什么？"),
    ("company", "founder"): ("创办{x}的人是谁？", "{x}的创办人是谁？", "{x}是谁一手拉起来的？", "{x}的头一块砖是谁砌的？"),
    ("work", "author"): ("创作{x}的人是谁？", "{x}的作者是谁？", "{x}出自何人之手？", "{x}该记在谁的名下？"),
    ("event", "patron"): ("赞助{x}的商号是哪家？", "{x}的赞助商是哪家？", "{x}的账由谁来付？", "谁家的银子撑着{x}？"),
}

LEADS = (
    "先想想{x}。",
    "就拿{x}来说。",
    "想打听{x}。",
    "事情与{x}有关。",
    "说到{x}。",
    "咱们聊聊{x}。",
    "从{x}说起。",
    "最近老惦记着{x}。",
    "话题转到{x}。",
    "轮到{x}了。",
)
ASIDES = (
    "{a}和{b}都查过了，但是没有用。",
    "虽然先看到的是{a}与{b}，可是都对不上。",
    "如果碰到{a}或者{b}，那么略过就好。",
    "因为{a}同{b}已经讲完，所以不必再提。",
    "同事说是{a}，而我原本猜{b}，结果都落空。",
    "笔记里由于{b}才记下{a}，不过那是另一回事。",
    "起初翻了{a}，然后翻{b}，但线索断了。",
    "除非弄错，{a}以及{b}与此无关。",
    "上周理清了{a}，而且昨天弄懂了{b}，因此这两样不用管。",
    "尽管{b}总跟{a}一起出现，然而要问的是别的。",
    "既不是{a}，也不是{b}，虽然看着都像。",
    "{a}那一页太闷，于是转去看{b}，但也没看完。",
    "从{a}看起，因此又打开{b}，可惜白费工夫。",
    "要是{a}或{b}就够用，那么也不必来问了。",
)
ASIDES_ONE = (
    "{a}那一条看过了，但没什么用。",
    "虽然总有人提{a}，别理会。",
    "因为朋友坚持，先翻了{a}。",
    "如果搜出{a}，不用管。",
    "目前只查到{a}，于是来请教。",
    "然后还有{a}，可那是题外话。",
    "既然{a}已经排除，换个方向。",
    "都说看看{a}，不过没人讲得清缘由。",
    "此事同{a}无关，尽管看着像。",
    "读着{a}走了神，所以重来。",
    "姑妈说是{a}，然而她老记混。",
    "星期一划掉了{a}，因此再试一回。",
)
STAND_INS = {
    "person": ("此人", "这个人", "那一位"),
    "town": ("那座城镇", "这个地方", "此地"),
    "company": ("那家商号", "这家字号", "该商号"),
    "work": ("那部作品", "这件作品", "该作品"),
    "event": ("那项活动", "这场活动", "该活动"),
}

COMPARE: dict[tuple[str, str], tuple[tuple[str, str], ...]] = {
    ("person", "born"): (
        ("{a}和{b}，谁出生得更早？", "min"),
        ("{a}与{b}相比，哪一位年纪更小？", "max"),
        ("论年岁，{a}同{b}谁为长？", "min"),
    ),
    ("person", "died"): (("{a}和{b}，谁先去世？", "min"), ("{a}与{b}，谁送走了对方？", "max")),
    ("town", "founded"): (
        ("{a}和{b}，哪座城镇建得更早？", "min"),
        ("{a}与{b}之中，哪个历史更短？", "max"),
        ("若论资历，{a}比{b}，谁更老？", "min"),
    ),
    ("town", "elevation"): (
        ("{a}和{b}，哪里海拔更高？", "max"),
        ("{a}与{b}，何处离海平面更近？", "min"),
        ("水往低处流：{a}、{b}两地，水会从哪边来？", "max"),
    ),
    ("company", "founded"): (
        ("{a}和{b}，哪家创办得更早？", "min"),
        ("{a}与{b}，谁是后起之秀？", "max"),
        ("{a}、{b}两家，哪家的招牌更老？", "min"),
    ),
    ("work", "year"): (
        ("{a}和{b}，哪一部问世更早？", "min"),
        ("{a}与{b}，哪个更新？", "max"),
        ("把{a}跟{b}按年份排开，谁在后头？", "max"),
    ),
    ("event", "first"): (
        ("{a}和{b}，哪个办得更久？", "min"),
        ("{a}与{b}，哪一项是新花样？", "max"),
        ("{a}、{b}，谁开在前头？", "min"),
    ),
}

YES, NO = "是", "否"
STRATEGY: dict[str, tuple[str, ...]] = {
    "born_before_work": (
        "{a}出生于{b}问世之前吗？",
        "{b}问世的那年，{a}已经出生了吗？",
        "{b}头一回见人时，世上有没有{a}这个人？",
        "{a}算不算比{b}年长？",
    ),
    "born_before_firm": (
        "{a}出生于{b}创办之前吗？",
        "{b}创办的那年，{a}已经出生了吗？",
        "{b}挂牌那天，{a}来得及喝一杯喜酒吗？",
        "拿生年和开张的年份比，{a}大过{b}吗？",
    ),
    "lived_to_event": (
        "{b}首次举办时，{a}还没有去世吗？",
        "{a}去世于{b}首次举办之后（含当年）吗？",
        "{b}头一届的热闹，{a}有没有可能听说？",
        "{a}赶得上{b}开锣吗？",
    ),
    "lived_to_work": (
        "{b}问世时，{a}还没有去世吗？",
        "{a}去世于{b}问世之后（含当年）吗？",
        "{a}有没有机会评点{b}？",
        "{b}送到门上，{a}还能亲手接过吗？",
    ),
    "lived_to_firm": (
        "{b}创办时，{a}还没有去世吗？",
        "{a}去世于{b}创办之后（含当年）吗？",
        "{a}有可能做过{b}的主顾吗？",
        "{a}生前能不能从{b}的招牌下走过？",
    ),
    "of_age": (
        "{b}首次举办时，{a}出生满{n}年了吗？",
        "{a}出生于{b}首次举办的{n}年以前吗？",
        "若规定年满{n}岁方可入场，{a}进得了{b}的头一届吗？",
        "{b}开锣的年份，{a}过得了{n}岁这道门槛吗？",
    ),
    "pupil": (
        "{a}出生于{b}去世之前吗？",
        "{b}去世的那年，{a}已经出生了吗？",
        "{b}有可能抱过襁褓里的{a}吗？",
        "单看{a}的生年，来得及见{b}一面吗？",
    ),
    "downhill": (
        "{a}的海拔比{b}的海拔高吗？",
        "论海拔多少米，{a}高过{b}吗？",
        "没有刹车的板车会从{a}一路溜到{b}吗？",
        "由{a}步行前往{b}，大体上是下坡吗？",
    ),
    "climb": (
        "{b}的海拔比{a}的海拔高出{n}米以上吗？",
        "从{a}到{b}，海拔升高超过{n}米吗？",
        "只肯爬{n}米的人，从{a}走不到{b}，对吗？",
        "由{a}去{b}，净上坡有没有超过{n}米？",
    ),
    "jobs": (
        "{a}的雇员不少于{b}的居民吗？",
        "{b}的居民有多少人，{a}的雇员就有那么多或更多吗？",
        "{b}的男女老少能不能全进{a}做工？",
        "{a}的花名册装得下整个{b}吗？",
    ),
    "crowd": (
        "{a}的观众比{b}的居民多吗？",
        "{a}的观众有多少人，超过{b}的居民了吗？",
        "{b}人人接待一位客人，{a}还会有人没处落脚吗？",
        "把{a}的人潮搬进{b}，客人会压过本地人吗？",
    ),
    "crowd_staff": (
        "{a}的观众比{b}的雇员多吗？",
        "{a}的观众有多少人，超过{b}的雇员了吗？",
        "{b}全体出动去看{a}，会是少数派吗？",
        "{a}的票根比{b}的花名册更厚吗？",
    ),
    "old_town": (
        "{a}建于{b}创办的{n}年以前吗？",
        "{b}创办时，{a}建立满{n}年了吗？",
        "{b}迎来头一个工作日时，{a}办得起{n}周年大庆吗？",
        "跟{a}比，{b}晚了整整{n}年或更多吗？",
    ),
    "town_event": (
        "{a}建于{b}首次举办的{n}年以前吗？",
        "{b}首次举办时，{a}建立满{n}年了吗？",
        "{b}开锣时，{a}过完{n}周年了吗？",
        "{a}比{b}多{n}年的资历吗？",
    ),
    "work_firm": (
        "{a}问世于{b}创办之前吗？",
        "{b}创办的那年，{a}已经问世了吗？",
        "{b}的头一批伙计上工前就能知道{a}吗？",
        "{a}比{b}的招牌还老吗？",
    ),
    "work_event": (
        "{a}问世于{b}首次举办之前吗？",
        "{b}首次举办的那年，{a}已经问世了吗？",
        "{b}头一届的人群里，会有人谈起{a}吗？",
        "{a}同{b}摆在一处，前者更老吗？",
    ),
    "same_region": (
        "{a}和{b}位于同一个地区吗？",
        "{a}与{b}属于同一个地区吗？",
        "从{a}去{b}，不出省道地界行吗？",
        "{a}、{b}两地归同一个衙门管吗？",
    ),
    "same_river": (
        "{a}和{b}坐落在同一条河边吗？",
        "{a}与{b}在同一条河边吗？",
        "{a}、{b}的人喝的是一条水吗？",
        "只划船不上岸，能连起{a}跟{b}吗？",
    ),
    "same_calling": (
        "{a}和{b}的职业相同吗？",
        "{a}的职业也是{b}的职业吗？",
        "{a}、{b}算得上同行吗？",
        "{a}与{b}会不会坐进同一家行会？",
    ),
    "same_trade": (
        "{a}和{b}是同一行的商号吗？",
        "{a}与{b}从事的是同一行吗？",
        "{a}、{b}抢的是同一碗饭吗？",
        "{a}跟{b}算不算冤家对头（同行）？",
    ),
}


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


def which(kind: str, name: str) -> str:
    return f"您指的是哪一{_MEASURE[kind]}{name}"


def which_year(kind: str, name: str) -> str:
    return "您问的是哪一年"


FAR = {"easy": 0.0, "medium": 0.15, "hard": 0.05}
"""Three characters say more than three letters: Chinese phrases part from their source much faster than English ones."""
YEAR_WORDS = ("年", "时间", "时候", "何时", "日期")
GAP = ""
JOIN = ""
QUERIES = {
    "born_in": "出生地", "teacher": "老师", "employer": "商号", "mayor": "镇长", "author": "作者", "house": "出品",
    "setting": "故事发生地", "founder": "创办人", "seat": "总号", "town": "举办地", "patron": "赞助商", "winner": "优胜者",
}


def query(name: str, relation: str) -> str:
    return f"{name}{QUERIES.get(relation, '')} 条目"


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


def _listing(name: str, noun: str, values: list[Value], one: str) -> str:
    """`青石镇的镇长，1902年是赵晨，1931年是钱望舒。`"""
    return f"{name}的{noun}，" + "，".join(one.format(v=name_of(v), y=v.year) for v in values) + "。"


def _person(e: Entity, f: Facts, rng: Random) -> list[Sentence]:
    born, died, town = name_of(f["born"][0]), name_of(f["died"][0]), name_of(f["born_in"][0])
    first = rng.choice((f"{e.name}（{born}年出生，{died}年去世），{e.tag}。", f"{e.tag}{e.name}出生于{born}年，去世于{died}年。"))
    birth = rng.choice((f"{e.name}的出生地是{town}。", f"{e.name}出生的地方是{town}。"))
    out: list[Sentence] = [(first, ("born", "died", "tag")), (birth, ("born_in",))]
    if "teacher" in f:
        teacher = name_of(f["teacher"][0])
        out.append((rng.choice((f"{e.name}的老师是{teacher}。", f"教过{e.name}的老师是{teacher}。")), ("teacher",)))
    if "employer" in f:
        out.append((_listing(f"{e.name}加入", "商号", f["employer"], "{y}年是{v}"), ("employer",)))
    return out


def _town(e: Entity, f: Facts, rng: Random) -> list[Sentence]:
    river, founded, high = name_of(f["river"][0]), name_of(f["founded"][0]), name_of(f["elevation"][0])
    out: list[Sentence] = [
        (rng.choice((f"{e.name}位于{e.tag}，坐落在{river}边。", f"{e.name}属于{e.tag}，在{river}边。")), ("tag", "river")),
        (rng.choice((f"{e.name}建于{founded}年。", f"{e.name}是{founded}年建立的。")), ("founded",)),
        (rng.choice((f"{e.name}海拔{high}米。", f"{e.name}的海拔是{high}米。")), ("elevation",)),
    ]
    if "population" in f:
        out.append((_listing(e.name, "居民", f["population"], "{y}年有{v}人"), ("population",)))
    if "mayor" in f:
        out.append((_listing(e.name, "镇长", f["mayor"], "{y}年是{v}"), ("mayor",)))
    return out


def _work(e: Entity, f: Facts, rng: Random) -> list[Sentence]:
    author, year, house = name_of(f["author"][0]), name_of(f["year"][0]), name_of(f["house"][0])
    setting = name_of(f["setting"][0])
    return [
        (rng.choice((f"{e.name}，{e.tag}，问世于{year}年。", f"{e.tag}{e.name}是{year}年问世的。")), ("year", "tag")),
        (rng.choice((f"{e.name}的作者是{author}。", f"创作{e.name}的人是{author}。")), ("author",)),
        (f"{e.name}的故事发生在{setting}。", ("setting",)),
        (rng.choice((f"出品{e.name}的商号是{house}。", f"{e.name}由{house}出品。")), ("house",)),
    ]


def _company(e: Entity, f: Facts, rng: Random) -> list[Sentence]:
    founder, founded = name_of(f["founder"][0]), name_of(f["founded"][0])
    first = rng.choice((f"{e.name}，{e.tag}商号，创办于{founded}年。", f"{e.name}是{founded}年创办的{e.tag}商号。"))
    out: list[Sentence] = [
        (first, ("founded", "tag")),
        (rng.choice((f"{e.name}的创办人是{founder}。", f"创办{e.name}的人是{founder}。")), ("founder",)),
    ]
    if "seat" in f:
        out.append((_listing(e.name, "总号", f["seat"], "{y}年设在{v}"), ("seat",)))
    if "staff" in f:
        out.append((_listing(e.name, "雇员", f["staff"], "{y}年有{v}人"), ("staff",)))
    return out


def _event(e: Entity, f: Facts, rng: Random) -> list[Sentence]:
    town, first_year, patron = name_of(f["town"][0]), name_of(f["first"][0]), name_of(f["patron"][0])
    first = rng.choice((f"{e.name}是{e.tag}，首次举办于{first_year}年。", f"{e.tag}{e.name}，{first_year}年首次举办。"))
    out: list[Sentence] = [
        (first, ("first", "tag")),
        (rng.choice((f"{e.name}的举办地是{town}。", f"举办{e.name}的城镇是{town}。")), ("town",)),
        (rng.choice((f"{e.name}的赞助商是{patron}。", f"赞助{e.name}的商号是{patron}。")), ("patron",)),
    ]
    if "winner" in f:
        out.append((_listing(e.name, "优胜者", f["winner"], "{y}年是{v}"), ("winner",)))
    if "visitors" in f:
        out.append((_listing(e.name, "观众", f["visitors"], "{y}年有{v}人"), ("visitors",)))
    return out


_PAGES = {"person": _person, "town": _town, "work": _work, "company": _company, "event": _event}
