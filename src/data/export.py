"""Exports pools and recorded episodes as training data for other programs (`askgate export`).

    messages   {"messages": [{"role": "user", "content": "..."}, ...]}        SFT with TRL, Axolotl, the OpenAI API
    sharegpt   {"conversations": [{"from": "human", "value": "..."}, ...]}    SFT with LLaMA-Factory, Unsloth
    dpo        {"prompt": [...], "chosen": [...], "rejected": [...]}          preference training, TRL's DPOTrainer

Every row also has `id`, `source` and `split` of its sample. A policy turn is its thought and one action with its tags.
Results of tools are user messages, as they are for every model behind a server: not all chat templates have another
role for them.

SFT rows are the demonstrations of a pool or, with episodes, those that earned the outcome (`achieved`).

A DPO pair is of one sample. The better episode has the highest reward of those that earned the outcome; where none did,
it is the sample's demonstration (`chosen_reward` is null then). The worse episode has the lowest reward; of several,
the one that shares most turns with the better. Both act alike up to a turn: the dialogue before that turn is the
prompt, the turn of the better episode is chosen, that of the worse is rejected. So a completion is one turn of the
policy and no word of user or tool, and both completions were given after the same replies.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from askgate_env.actions import TAGS, TOOLS, say, system
from askgate_env.env import MAX_TURNS, play
from askgate_env.reward import TrainingReward, achieved
from askgate_env.types import Episode, Lang, Record, Sample, Turn

from .. import __version__
from ..core.errors import BadInput
from ..core.files import atomic_files, json_bytes, sha256_file, sidecar, written
from ..core.jsonl import decode, read_lines, read_unique, write_records
from .pool.meta import read_meta

Form = Literal["messages", "sharegpt", "dpo"]
Row = dict[str, Any]
PARQUET = ".parquet"
SPEAKERS = {"system": "system", "user": "human", "assistant": "gpt"}
MIN_REWARD_GAP = 1e-6
"""Rewards that are closer make no pair."""


class ExportFacts(Record, frozen=True):
    """`FILE.json` beside an exported file: what it was made from."""

    format: Form
    sha256: str
    rows: int
    pool: str
    pool_sha256: str
    episodes: dict[str, str]
    """SHA-256 of the files of episodes."""
    sources: dict[str, int]
    splits: dict[str, int]
    langs: dict[str, int]
    left_out: dict[str, int]
    """Samples and episodes that gave no row, by the reason."""
    version: str


def facts_path(out: Path) -> Path:
    """The facts of an exported file: `pairs.jsonl.json`."""
    return out.with_name(f"{out.name}.json")


def export(pool: Path, form: Form, out: Path, episodes: Path | None = None) -> ExportFacts:
    """Writes the rows and their facts: both or neither."""
    if out.suffix not in (".jsonl", PARQUET):
        raise BadInput(f"{out} ends neither in .jsonl nor in .parquet", where="--out", remedy="name such a file")
    files = episode_files(episodes) if episodes else []
    if any(out.resolve() == one.resolve() for one in (pool, *files)):
        raise BadInput(f"{out} would overwrite its input", where="--out", remedy="name another file")
    if form == "dpo" and not files:
        remedy = "name recorded episodes: logs/episodes of a run, or data/episodes/*.jsonl"
        raise BadInput("pairs need recorded episodes", where="--episodes", remedy=remedy)
    samples = {sample.id: sample for sample in read_unique(pool, Sample)}
    tools = read_meta(pool).tools if sidecar(pool).exists() else TOOLS
    recorded = [episode for file in files for episode in read_episodes(file)]
    left_out: Counter[str] = Counter()
    grouped = _by_sample(recorded, samples, left_out)
    if form == "dpo":
        rows = [row for sample, group in grouped if (row := dpo_row(sample, group, tools, left_out))]
    elif files:
        rows = [sft_row(form, sample, one.turns, tools) for sample, group in grouped for one in group if achieved(one)]
        left_out["episodes that did not earn the outcome"] = sum(len(group) for _, group in grouped) - len(rows)
    else:
        rows = [sft_row(form, sample, sample.dialogue, tools) for sample in samples.values()]
    if not rows:
        why = "; ".join(f"{count} {reason}" for reason, count in left_out.items() if count) or "there are no samples"
        what = f"no row can be made: {why}"
        raise BadInput(what, where=str(episodes or pool), remedy="name other episodes or a pool")
    used = [samples[row["id"]] for row in rows]
    with atomic_files() as start:
        handle, facts_file = start(out), start(facts_path(out))
        if out.suffix == PARQUET:
            handle.write(_parquet(rows))
        else:
            write_records(handle, rows)
        facts = ExportFacts(
            format=form,
            sha256=sha256_file(written(handle)),
            rows=len(rows),
            pool=pool.as_posix(),
            pool_sha256=sha256_file(pool),
            episodes={file.as_posix(): sha256_file(file) for file in files},
            sources=_counts(map(source_name, used)),
            splits=_counts(one.provenance.split for one in used),
            langs=_counts(one.lang for one in used),
            left_out={reason: count for reason, count in sorted(left_out.items()) if count},
            version=__version__,
        )
        facts_file.write(json_bytes(facts))
    return facts


class _Line(msgspec.Struct):
    """A line of `data/episodes/*.jsonl`; a line of `logs/episodes/` is the episode itself."""

    episode: msgspec.Raw = msgspec.Raw()


def episode_files(path: Path) -> list[Path]:
    """The file, or all JSONL files of a folder."""
    files = sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]
    if not files:
        raise BadInput("has no .jsonl files", where=str(path), remedy="name logs/episodes of a run, or one file")
    return files


def read_episodes(path: Path) -> Iterable[Episode]:
    """Episodes of a run's log, or as `shadow-run` and `weight-calib` record them."""
    line_decoder, decoder = msgspec.json.Decoder(_Line), msgspec.json.Decoder(Episode)
    for number, line in read_lines(path):
        where = f"{path}:{number}"
        yield decode(decoder, bytes(decode(line_decoder, line, where).episode) or line, where)


def _by_sample(
    recorded: Sequence[Episode], samples: dict[str, Sample], left_out: Counter[str]
) -> list[tuple[Sample, list[Episode]]]:
    """Whole episodes by their sample, in the order of the pool."""
    groups: defaultdict[str, list[Episode]] = defaultdict(list)
    for episode in recorded:
        sample = samples.get(episode.sample_id)
        if sample is None:
            left_out["episodes of samples that are not in the pool"] += 1
        elif [turn.text for turn in episode.turns[:1]] != [sample.prompt]:
            what = f"the episodes of {sample.id} begin with another message than the sample"
            raise BadInput(what, where="--episodes", remedy="name the pool on which they were recorded")
        elif episode.end == "length":
            left_out["episodes whose last turn was cut off"] += 1
        else:
            groups[sample.id].append(episode)
    return [(samples[name], groups[name]) for name in samples if name in groups]


def messages(turns: Sequence[Turn], lang: Lang, tools: Sequence[str]) -> list[dict[str, str]]:
    """A dialogue as chat messages, with the system prompt."""
    made = [{"role": "system", "content": system(lang, tools)}]
    for turn in turns:
        is_action = (turn.tool or turn.act) in TAGS
        text = say(turn) if turn.by == "assistant" and is_action else turn.text
        made.append({"role": "assistant" if turn.by == "assistant" else "user", "content": text})
    return made


def sft_row(form: Form, sample: Sample, turns: Sequence[Turn], tools: Sequence[str]) -> Row:
    said = messages(turns, sample.lang, tools)
    if form == "sharegpt":
        said = [{"from": SPEAKERS[one["role"]], "value": one["content"]} for one in said]
    return {"conversations" if form == "sharegpt" else "messages": said, **_origin(sample)}


def dpo_row(sample: Sample, episodes: Sequence[Episode], tools: Sequence[str], left_out: Counter[str]) -> Row | None:
    """The pair of a sample; None where its episodes differ too little, or not even the demonstration is right."""
    rewards = episode_rewards(sample, episodes)
    right = [(one, reward) for one, reward in zip(episodes, rewards, strict=True) if achieved(one)]
    best = max((reward for _, reward in right), default=None)
    if best is None:
        better = [episode for episode in [demonstration(sample)] if achieved(episode)]
    else:
        better = [one for one, reward in right if reward > best - MIN_REWARD_GAP]
    lowest = min(rewards)
    is_worse = best is None or lowest < best - MIN_REWARD_GAP
    worse = [
        one for one, reward in zip(episodes, rewards, strict=True) if is_worse and reward < lowest + MIN_REWARD_GAP
    ]
    pairs = [
        (index, good, bad) for good in better for bad in worse if (index := first_difference(good, bad)) is not None
    ]
    if not pairs:
        reason = "samples whose episodes have equal rewards" if not worse else "samples without two different turns"
        left_out[reason] += 1
        return None
    index, chosen, rejected = max(pairs, key=lambda pair: pair[0])
    chosen_turn, rejected_turn = (messages([one.turns[index]], sample.lang, tools)[1:] for one in (chosen, rejected))
    return {
        "prompt": messages(chosen.turns[:index], sample.lang, tools),
        "chosen": chosen_turn,
        "rejected": rejected_turn,
        "chosen_reward": best,
        "rejected_reward": lowest,
        "chosen_from": "episode" if right else "demonstration",
        **_origin(sample),
    }


def episode_rewards(sample: Sample, episodes: Sequence[Episode]) -> list[float]:
    """Rewards as recorded, if every episode has one; otherwise outcome and over-clarification penalty."""
    recorded = all(episode.reward for episode in episodes)
    terms = (episode.reward if recorded else TrainingReward()(episode, sample) for episode in episodes)
    return [sum(one.values()) for one in terms]


def demonstration(sample: Sample) -> Episode:
    """The demonstration as the environment plays it, with the replies that a policy gets."""
    said = [say(turn) for turn in sample.dialogue if turn.by == "assistant"]
    return play(sample, said, max(MAX_TURNS, len(said)))


def first_difference(one: Episode, other: Episode) -> int | None:
    """Index of the first policy turn in which two episodes act differently. None if user or tool said something else
    before, or if one episode is the beginning of the other. Thoughts do not count: the reply is the same."""
    for index, (a, b) in enumerate(zip(one.turns, other.turns, strict=False)):
        if (a.by, a.act, a.tool, a.text) != (b.by, b.act, b.tool, b.text):
            return index if a.by == b.by == "assistant" else None
    return None


def source_name(sample: Sample) -> str:
    """The source of a sample; with its dataset where one source reads several: `hf/gsm8k`."""
    source = sample.provenance.source
    return f"{source}/{sample.task}" if source in ("dir", "hf") else source


def _origin(sample: Sample) -> Row:
    return {"id": sample.id, "source": sample.provenance.source, "split": sample.provenance.split}


def _counts(names: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(names).items()))


def _parquet(rows: Sequence[Row]) -> bytes:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        remedy = "pip install 'askgate[parquet]', or name a .jsonl file"
        raise BadInput("writing parquet needs pyarrow", where="--out", remedy=remedy) from None
    sink = pyarrow.BufferOutputStream()
    parquet.write_table(pyarrow.Table.from_pylist(list(rows)), sink, compression="zstd")
    made: bytes = sink.getvalue().to_pybytes()
    return made
