"""Which episodes are shown for reading: by a rule that leaves nobody a choice.

Held-out samples fall into four groups by what base and trained policy came to on them. Each group gives as many as the
others, in the order of the SHA-256 of their ids: a lot that was drawn before any policy spoke. So failures are there,
and so is what training made worse. How many samples each group has stands beside it, since the groups are not equal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256

from ...core.episode import Episode
from ...core.errors import BadInput
from ...core.types import Sample
from ...reward.reward import achieved
from .contents import Pair, Reading

SHOWN = 20
GROUPS = ("gained", "lost", "both_right", "both_wrong")
_GROUP = {(False, True): "gained", (True, False): "lost", (True, True): "both_right", (False, False): "both_wrong"}
RULE = (
    "The held-out samples fall into four groups by what base and trained policy came to: gained, lost, both right, "
    "both wrong. Each group gives the same number, the first ones by the SHA-256 of the sample's id; where a group has "
    "too few, the next ones in that order make up for it. Right means right, and asked first where something was "
    "missing."
)
RULE_ZH = (
    "留出样本按底模与训练后的结果分为四组：变对、变错、都对、都错。每组按样本编号的 SHA-256 顺序取同样多条；"
    "某组不足时按同一顺序用其余样本补足。“对”指答对，且在有缺失时先问清了缺失的内容。"
)


def choose(
    base: Sequence[Episode], trained: Sequence[Episode], samples: Mapping[str, Sample], seed: int, shown: int = SHOWN
) -> Reading:
    after = {one.sample_id: one for one in trained}
    grouped: dict[str, list[tuple[Episode, Episode]]] = {name: [] for name in GROUPS}
    for one in sorted({one.sample_id: one for one in base}.values(), key=_lot):
        other = after.get(one.sample_id)
        if other is None or one.sample_id not in samples:
            raise BadInput(
                f"{one.sample_id!r} is not in all of base, trained policy and shadow set",
                where="held-out episodes",
                remedy="run `askgate evaluate` again",
            )
        grouped[_GROUP[achieved(one), achieved(other)]].append((one, other))
    each = {name: found[: shown // len(GROUPS)] for name, found in grouped.items()}
    taken = {one.sample_id for found in each.values() for one, _ in found}
    rest = [(name, pair) for name, found in grouped.items() for pair in found if pair[0].sample_id not in taken]
    rest.sort(key=lambda item: _lot(item[1][0]))
    for name, pair in rest[: shown - len(taken)]:
        each[name] = [*each[name], pair]
    pairs = [_pair(name, one, other, samples[one.sample_id]) for name in GROUPS for one, other in each[name]]
    return Reading(RULE, RULE_ZH, seed, {name: len(found) for name, found in grouped.items()}, pairs)


def _lot(episode: Episode) -> str:
    return sha256(episode.sample_id.encode()).hexdigest()


def _pair(group: str, base: Episode, trained: Episode, sample: Sample) -> Pair:
    return Pair(
        sample_id=sample.id,
        task=sample.task,
        lang=sample.lang,
        level=trained.level,
        group=group,
        gold=sample.answer,
        missing=sample.hidden.missing if sample.hidden else "",
        base=base,
        trained=trained,
    )
