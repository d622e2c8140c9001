"""What kind of thing an article is about: a table of type nouns and the rule that finds one in a definition.

`American retired professional basketball player and coach` -> `player`, which is a `person`. Two kinds are surely
different things only when their classes differ: an actor may sing, but a lake never does.
"""

from __future__ import annotations

import re

from msgspec import Struct

from ...core.tokenize import words
from .listed import listed

_TABLE = {
    "person": """
        actor actress singer musician writer novelist author poet player footballer screenwriter producer politician
        journalist executive coach composer businessman businesswoman boxer vocalist pianist artist scholar nobleman
        designer comedian virologist songwriter singer-songwriter filmmaker mathematician king queen earl consultant
        satirist playwright statesman aviator legislator animator philosopher trombonist astronomer economist engineer
        wrestler barrister governor logician goalkeeper reporter cyclist conductor socialite runner activist
        commissioner attorney quarterback preacher sportscaster architect educator priest physician linguist
        translator historian essayist colonel manager curator physicist scientist entrepreneur rapper emperor
        president painter teacher explorer inventor chemist biologist cricketer senator judge pope prince princess
        magician monarch officer general lawyer surgeon psychologist sculptor photographer dancer choreographer
        drummer guitarist bassist critic theologian biographer columnist golfer swimmer skater gymnast sprinter
        athlete pilot astronaut diplomat soldier bishop saint empress businessperson magnate mogul host presenter
        personality model director creator whistleblower criminal outlaw gangster spy chef naturalist geologist
        botanist zoologist anthropologist archaeologist sociologist psychiatrist nurse lyricist cartoonist illustrator
        cinematographer editor dramatist humorist librettist soprano tenor violinist cellist jockey umpire referee
        pitcher outfielder infielder catcher linebacker investor banker financier industrialist philanthropist
        polymath ethologist apostle duke duchess baron count martyr prophet missionary abolitionist revolutionary
        anchorwoman dj bodybuilder televangelist evangelist pundit strategist socialist superstar entertainer
        performer chairman minister chancellor legend warlord sultan pharaoh shah walker kickboxer professor healer
        lieutenant murderer captain admiral drug-dealer hurdler racer driver representative secretary lord aide
        assassin scout settler pioneer midwife martial-artist rower skier fighter sailor surfer librarian mayor
        trumpeter saxophonist flautist organist aristocrat youtuber comedienne cofounder co-founder founder
    """,
    "work": """
        film album song novel book magazine opera series documentary sitcom episode soundtrack play game musical
        newspaper poem novella miniseries manga comic single symphony concerto sonata painting sculpture ballet
        tragedy comedy drama anime show journal franchise podcast cartoon anthology memoir trilogy telenovela video
        artwork special performance track dvd prelude chaconne waltz march hymn anthem ballad sketch periodical
        tabloid mixtape tale text fable epic publication movie puzzle webcomic compilation spoof
    """,
    "place": """
        city town village county district country state province island lake river mountain valley desert ocean sea
        gulf canal suburb neighborhood municipality region territory peninsula volcano park forest glacier strait bay
        continent kingdom commune comune site pass creek stream trail area line spring hill plain capital settlement
        community borough harbor reef constituency range peak waterfall lagoon tributary nation empire republic resort
    """,
    "building": """
        airport skyscraper mosque church cathedral stadium arena museum hotel bridge station highway mall tower castle
        palace prison lighthouse temple theatre theater library hospital building monument mausoleum pyramid house zoo
        venue railway railroad road street tunnel dam fortress abbey monastery cemetery gymnasium restaurant pizzeria
        courthouse observatory basilica statue fountain hall academy distillery residence square mansion racecourse
        speedway velodrome
    """,
    "group": """
        band company university college chain airline group duo supergroup league team club party organization
        organisation agency corporation brand manufacturer retailer label network publisher trio quartet orchestra
        choir school squadron institute institution tribe dynasty bank subsidiary ministry court army charity charter
        firm studio website cryptocurrency legislature union federation association society service system brigade
        regiment battalion foundation gang mafia conglomerate distributor channel department supermarket
    """,
    "living": """
        plant tree shrub herb animal bird fish insect dog cat breed mammal reptile spider snake shark squid whale
        dinosaur flower fruit vegetable grain fungus mushroom grass orchid vine genus species bacterium virus parasite
        rodent primate bat butterfly moth beetle bear crop legume cereal palm fern conifer crustacean mollusc
        amphibian ungulate marsupial tuber seal predator retrovirus terrier hound
    """,
    "thing": """
        device instrument vehicle car aircraft helicopter ship vessel train locomotive tugboat spacecraft satellite
        weapon rifle missile console computer telescope dish food drink beverage dessert sauce cheese pastry cocktail
        beer wine mineral element compound metal gas acid drug hormone molecule medication vitamin planet moon star
        asteroid comet constellation galaxy currency coin garment fabric tool toy machine engine rover probe
        smartphone software cuisine condiment bread soup meal coating alloy gemstone spice biplane tank cannon warship
        submarine motorcycle truck sweet snack
    """,
    "event": """
        war battle festival tournament championship competition election revolution invasion holiday ceremony mission
        hurricane earthquake flood disaster conflict treaty event race crisis pandemic epidemic massacre siege
        uprising rebellion expedition concert parade celebration match season scandal trial offensive operation
        campaign stampede fellowship pageant assassination
    """,
    "idea": """
        sport disease disorder condition syndrome language dialect religion philosophy theory genre emotion phobia law
        color colour letter technique procedure illness infection allergy cancer science therapy diet custom tradition
        month calendar doctrine movement sin virtue crime injury symptom ritual dance style programme program award
        prize
    """,
    "being": """
        character superhero villain god goddess deity monster creature demon spirit hero mascot figure robot wizard
        giant dragon
    """,
}
CLASSES: dict[str, str] = {noun: name for name, nouns in _TABLE.items() for noun in nouns.split()}

# A noun phrase ends before one of these.
_ENDS = listed(
    """
    of in on at by for from with to that which who whose and or as is was were are born known based located held used
    where when but into between near during since until made consisting comprising than native created directed
    written produced found founded formed published released set who's owned given featuring starring about under
    within also originally currently formerly best it its he she they described considered developed designed
    """
)
_CLASSIFIERS = listed("species genus family type kind form breed order variety group class brand piece name member")
# `film and television producer`: these say what somebody works on when more follows.
_MODIFIERS = listed("film television stage screen radio video theatre theater opera comic book magazine music")
_LIFE_DATES = re.compile(r"\((?:[^()]*\bborn\b|[^()]*\d{4}\s*[–-])")
_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*|[,;:/.()\"“”]")
_COPULA = re.compile(r"\b(?:is|was|are|were)\s+(?:also\s+)?(?:one of the|a|an|the)\s+(.+)", re.DOTALL)
_BRACKETS = re.compile(r"\([^()]*\)")


class Kind(Struct, frozen=True):
    noun: str
    of: str
    """The broad class; things of different classes cannot be taken for each other."""


def kind_from_definition(sentence: str) -> Kind | None:
    """`Titan is an American rock band from Ohio.` -> band. Somebody with life dates is a person or nothing."""
    match = _COPULA.search(_BRACKETS.sub("", sentence))
    kind = kind_from_phrase(match[1]) if match else None
    if match is None or not _LIFE_DATES.search(sentence) or (kind is not None and kind.of == "person"):
        return kind
    return next(
        (found for word in match[1].split() if (found := _kind(word.strip(",.;"))) and found.of == "person"), None
    )


def kind_from_title(title: str) -> Kind | None:
    """`Numb (Rihanna song)` -> song, `Elko Regional Airport` -> airport, `Battle of Uddevalla` -> battle."""
    match = re.search(r"\(([^()]*)\)$", title)
    for parts in (match[1].split() if match else [], title.split(" of ")[0].split(), title.split()):
        kind = _kind(parts[-1]) if parts else None
        if kind is not None and kind.of != "person":
            return kind
    return None


def kind_from_phrase(phrase: str) -> Kind | None:
    """The head of the first noun phrase, when the table knows it; `species of bird` counts as bird.

    A head that the table does not know may be half of one that it does: `screen and stage actor`.
    """
    head, joined = "", 0
    for word in _WORD.findall(_BRACKETS.sub("", phrase)):
        known = _kind(head) is not None and head.lower() not in _MODIFIERS
        if word == "of" and head.lower() in _CLASSIFIERS:
            head = ""
        elif word in ("and", ",", "or") and not known and joined < 2:
            joined += 1
        elif word in _ENDS or not word[0].isalnum() or (_kind(head) is not None and re.search("(?:ed|ing)$", word)):
            break
        else:
            head = word
    return _kind(head)


def _kind(word: str) -> Kind | None:
    noun = word.lower()
    if noun not in CLASSES and noun.endswith("s"):
        noun = noun.removesuffix("s")
    return Kind(noun, CLASSES[noun]) if noun in CLASSES else None


# Turning a named mention into a vague phrase: `Which cousin of Ada Wong ...` -> `Which cousin of the player ...`.
#
# Only where it reads well. A mention that is part of a longer name, a compound (`Casio products`) or a list of
# modifiers is left alone: better fewer vague questions than clumsy ones that show.


_BRACKETED_END = re.compile(r"\s*\([^()]*\)$")
_ARTICLES = frozenset({"the", "a", "an"})
_AUXILIARIES = listed("is are was were did does do would could can will should has have had may might must")
_BEFORE_VERBS = listed("did does do would could can will should may might must")
# Words after which `the film` can stand.
_BEFORE = _AUXILIARIES | listed(
    """
    of in on at by for from with to than that which who whom where when while before after during about against over
    under into through without within between among and or both if like near inside around behind as besides because
    including use see find eat read enjoy buy watch visit support recommend celebrate experience know get need cause
    influence worship defeat violate believe prevent admire understand avoid produce wear fit attend marry founded
    first longer older earlier later sang acquired build dedicated hosted hired beat stars drove produced co-produced
    cast operates wrote directed joined featured represented killed using eating watching having named considered
    discovered played starred
    """
)
# Words that can follow a complete noun phrase; after an auxiliary the verb follows, whatever it is.
_AFTER = _AUXILIARIES | listed(
    """
    and or in on at by for from with to of that which who whose whom where when while before after during than as but
    if because also ever both been be being located born known played plays play starred used named published released
    written directed found based part associated considered a an the related made popular likely involved more still
    near about without featured won took wrote lived began opened occurred served attended contain contained includes
    included appeared appear hypothetically first not never between under over into through inside against among like
    required needed safe able close important older younger taller larger worth now today originally always often
    along came come share met does held sold serves provides follows explores features covers writes teaches stars
    contains taught lost following working
    """
)
_VERB_OR_ADVERB = re.compile(r"[a-z]{2,}(?:[^e]ed|ly)")
_NOT_A_MODIFIER = re.compile(r"[a-z]+(?:s|ing)$")


class Mention(Struct, frozen=True):
    """Where a question names a thing that an article is about, and what the vague phrase for it is."""

    span: str
    blurred: str
    """The question with the vague phrase in the mention's place."""
    kind: Kind
    title: str


def bare_title(title: str) -> str:
    """`The Prestige (film)` -> `The Prestige`."""
    return _BRACKETED_END.sub("", title)


def names_of(title: str) -> tuple[str, ...]:
    """How a question may name the article: the title without brackets, also without `, Montana` or a leading `The`."""
    name = bare_title(title)
    return tuple(dict.fromkeys((name, name.split(",")[0], name.removeprefix("The "))))


def find_mention(question: str, title: str, kind: Kind, *, any_case: bool) -> Mention | None:
    """The one mention of `title` in `question`, blurred; `None` where it is not there or would not read well."""
    for name in names_of(title):
        pattern = re.compile(rf"(?<![\w'’-]){re.escape(name)}(?![\w-])", re.IGNORECASE if any_case else 0)
        found = list(pattern.finditer(question))
        if len(found) == 1 and len(name) > 2:
            break
    else:
        return None
    start, end = found[0].span()
    noun, blurred = kind.noun, _blur(question, start, end, kind.noun)
    if blurred is None and question[start].isupper():
        blurred, noun = _drop_after_noun(question, start, end)
    if blurred is None:
        return None
    span = question[start:end]
    if not set(words(span)) - {noun} or f"{noun}s" in words(span) or shares_name(span, blurred, besides=noun):
        return None
    return Mention(span, blurred, Kind(noun, kind.of), title)


def shares_name(span: str, text: str, besides: str = "") -> bool:
    """Whether a telling word of the span (one with a capital or digit, else any of them) is in the text."""
    seen = set(words(text)) - {besides}
    telling = [word for word in re.findall(r"\w+", span) if len(word) > 2 and (not word.islower() or span.islower())]
    return any(word.lower() in seen for word in telling if word.lower() not in _BEFORE | _ARTICLES)


def _blur(question: str, start: int, end: int, noun: str) -> str | None:
    """The vague phrase put in the name's place; an article before the name is swallowed."""
    left, right = _unquoted(question[:start], question[end:])
    words_before = left.split()
    last = words_before[-1] if words_before else ""
    if last.lower() in _ARTICLES:
        left = left[: left.rstrip().rindex(last)]
        before = _word_before(left) if last.lower() == "the" else ""
    elif not last or last.endswith((",", ":", ".", ";", "?", "!")) or last.lower() in _BEFORE:
        before = last.lower()
        if last.endswith(",") and last[:-1].lower() in CLASSES:
            return None
    else:
        return None
    if not _follows_well(right, before):
        return None
    # `Which lake is larger, the lake or Lake Ina?` would puzzle; `this lake` points back at what was being read.
    repeated = bool({noun, f"{noun}s"} & set(words(f"{left} {right}")))
    article = "this" if repeated else "the"
    opening = not left.strip() or left.rstrip().endswith((".", "?", "!"))
    return f"{left}{article.capitalize() if opening else article} {noun}{_possessive(right)}"


def _drop_after_noun(question: str, start: int, end: int) -> tuple[str | None, str]:
    """`of the rock band Titan was` -> `of the rock band was`: the noun is there already, the name just goes."""
    left, right = _unquoted(question[:start], question[end:])
    match = re.search(r"\b(the|a|an)((?: [\w-]+){0,3}?) ([\w-]+)\s+$", left, re.IGNORECASE)
    if match is None or match[3].lower() not in CLASSES:
        return None, ""
    before = _word_before(left[: match.start()])
    if not _follows_well(right, before):
        return None, ""
    article = "The" if match[1][0].isupper() else "the"
    return f"{left[: match.start()]}{article}{match[2]} {match[3]}{_possessive(right)}", match[3].lower()


def _unquoted(left: str, right: str) -> tuple[str, str]:
    if left.endswith(('"', "“", "'", "‘")) and right[:1] in ('"', "”", "'", "’"):
        return left[:-1], right[1:]
    return left, right


def _word_before(text: str) -> str:
    found = text.split()
    return found[-1].lower() if found else ""


def _follows_well(right: str, before: str) -> bool:
    match = re.match(r"\s*([\w-]+)?", right)
    word = match[1] if match else None
    if right[:1] in ("'", "’"):
        return bool(re.match(r"['’]s?\s", right))
    if not word or not right[:1].isspace():
        return right[:1] in ("", "?", ",", ".", ":", ";", "!")
    if word in _AFTER or _VERB_OR_ADVERB.fullmatch(word):
        return True
    if not word.islower():
        return False
    return before in _BEFORE_VERBS and not _NOT_A_MODIFIER.match(word) and len(word) > 2


def _possessive(right: str) -> str:
    """`Linus Torvalds' wife` names somebody in -s; the vague phrase does not end in one."""
    return re.sub(r"^['’]\s", "'s ", right)
