"""Template packs: strict when read, plain when rendered, varied when drawn."""

from __future__ import annotations

import json
import pickle
import re
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askgate_env.tokenize import tokens
from askgate_env.types import LANGS, TASKS, Lang, Task
from src.core.errors import BadInput
from src.data.pool.templates import (
    OFFERED,
    ClarifyTemplate,
    Pack,
    TaskTemplate,
    load_pack,
    pack_fingerprints,
    render,
)

ROOT = Path(__file__).resolve().parents[2] / "templates"
V1, V2 = load_pack(ROOT / "pack_v1"), load_pack(ROOT / "pack_v2")
Change = Callable[[list[dict[str, Any]]], object]


def templates(pack: Pack) -> Iterator[TaskTemplate | ClarifyTemplate]:
    for task in TASKS:
        for lang in LANGS:
            yield from pack.tasks[task][lang]
            yield from pack.clarify[task][lang]


def alternatives(pack: Pack) -> Iterator[tuple[TaskTemplate | ClarifyTemplate, str, str]]:
    for template in templates(pack):
        for field in template.__struct_fields__:
            if field in OFFERED:
                for alternative in getattr(template, field):
                    yield template, field, alternative


def changed(tmp_path: Path, change: Change, file: str = "hotpotqa.json") -> Path:
    """A copy of the plain pack with one file changed."""
    folder = tmp_path / "pack"
    shutil.copytree(ROOT / "pack_v1", folder)
    found = json.loads((folder / file).read_text(encoding="utf-8"))
    change(found)
    (folder / file).write_text(json.dumps(found), encoding="utf-8")
    return folder


def refusal(folder: Path) -> str:
    with pytest.raises(BadInput) as caught:
        load_pack(folder)
    assert caught.value.remedy
    return str(caught.value)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda found: found[0].update(mood="sad"), "mood"),
        (lambda found: found[0].pop("topic"), "topic"),
        (lambda found: found[0].update(user="{{ question }}"), "user"),
        (lambda found: found[0].update(clue=[3]), "clue"),
        (lambda found: found[0].update(clue=[]), "clue"),
        (lambda found: found[0].update(role=""), "role"),
        (lambda found: found[0].update(lang="fr"), "lang"),
        (lambda found: found[0].update(user=["{{ question "]), "field user, alternative 1"),
        (lambda found: found[0].update(user=["{{ question }}", "{% if %}{{ question }}"]), "field user, alternative 2"),
        (lambda found: found[0].update(user=["Hello."]), "field user"),
        (lambda found: found[0].update(user=["{{ question }} {{ question }}"]), "field user"),
        (lambda found: found[0].update(user=["{{ question }} {{ answer }}"]), "field user"),
        (lambda found: found[0].update(user=["{{{ question }}}"]), "field user"),
        (lambda found: found[0].update(clue=["A clue."]), "field clue"),
        (lambda found: found[0].update(topic=["{{ topic }}, {{ topic }}"]), "field topic"),
        (lambda found: found[0].update(clue=["{{ nmae }}"]), "field clue"),
        (lambda found: found[0].update(clue=["{{ name|random }}"]), "field clue"),
        (lambda found: found[0].update(clue=["{{ lipsum() }}"]), "field clue"),
        (lambda found: found[0].update(clue=["{{ 1 / 0 }}"]), "field clue"),
        (lambda found: found[0].update(clue=["{{ expression.__class__.__mro__ }}"]), "field clue"),
        (lambda found: found[0].update(clue=["{% include 'secrets' %}"]), "field clue"),
    ],
)
def test_a_bad_template_is_named_with_file_and_field(tmp_path: Path, change: Change, named: str) -> None:
    said = refusal(changed(tmp_path, change))
    assert "hotpotqa.json, template hotpotqa-en-user-plain-1" in said
    assert named in said


@pytest.mark.parametrize(
    ("field", "text"), [("reply", "This."), ("reply", "{{ span }} {{ span }}"), ("reply", "{{ missing }}")]
)
def test_clarify_files_are_read_as_strictly(tmp_path: Path, field: str, text: str) -> None:
    said = refusal(changed(tmp_path, lambda found: found[1].update({field: [text]}), "clarify_gsm8k.json"))
    assert f"clarify_gsm8k.json, template clarify-gsm8k-zh-user-plain-1, field {field}, alternative 1" in said


def test_an_id_is_used_once_in_the_whole_pack(tmp_path: Path) -> None:
    taken = "gsm8k-en-user-plain-1"
    said = refusal(changed(tmp_path, lambda found: found[0].update(id=taken), "clarify_gsm8k.json"))
    assert f"clarify_gsm8k.json, template {taken}, field id" in said
    assert "first in gsm8k.json" in said


def test_a_template_without_an_id_is_named_by_position(tmp_path: Path) -> None:
    assert "hotpotqa.json, template #2" in refusal(changed(tmp_path, lambda found: found[1].pop("id")))


def test_both_languages_must_be_there(tmp_path: Path) -> None:
    said = refusal(changed(tmp_path, lambda found: found.pop(1), "strategyqa.json"))
    assert "strategyqa.json" in said
    assert "'zh'" in said


def test_missing_unknown_and_broken_files_are_named(tmp_path: Path) -> None:
    assert "nowhere" in refusal(tmp_path / "nowhere")
    folder = changed(tmp_path, lambda found: None)
    (folder / "hotpot.json").write_text("[]", encoding="utf-8")
    assert "hotpot.json" in refusal(folder)
    (folder / "hotpot.json").unlink()
    (folder / "clarify_gsm8k.json").write_text("{}", encoding="utf-8")
    assert "clarify_gsm8k.json" in refusal(folder)
    (folder / "clarify_gsm8k.json").write_bytes(b'[{"id": "\xff"}]')
    assert "clarify_gsm8k.json" in refusal(folder)
    (folder / "clarify_gsm8k.json").unlink()
    assert "clarify_gsm8k.json" in refusal(folder)


@given(st.text())
def test_data_is_never_evaluated(value: str) -> None:
    assert render("So: {{ question }} Well?", question=value) == f"So: {value} Well?"
    assert render("{{ question }}", question="{{ 7 * 7 }}{% raw %}{# #}") == "{{ 7 * 7 }}{% raw %}{# #}"


@pytest.mark.parametrize("pack", [V1, V2], ids=["v1", "v2"])
def test_required_values_appear_whole_and_once(pack: Pack) -> None:
    value = "Ann {{ 7 * 7 }} <b>\n林若川"
    for template, field, alternative in alternatives(pack):
        shown = render(alternative, **{OFFERED[field]: value})
        assert shown.count(value) == 1, f"{template.id}: {field}"


@pytest.mark.parametrize(
    "text",
    [
        "{{ question | reverse }}",
        "{{ question | truncate(40) }}",
        "{{ question|upper }}",
        "{{ question if question|length < 10 else '' }}",
        "{{ question[:9] }}",
        "{{ question.upper() }}",
        "{{- question -}}",
        "{{ '' }}{{ question }}",
        "{% if true %}{{ question }}{% endif %}",
        "{# hello #}{{ question }}",
        "{{ question }} }}",
    ],
)
def test_only_plain_variables_are_allowed_in_braces(tmp_path: Path, text: str) -> None:
    """Each of these could drop or change the question for some values."""
    said = refusal(changed(tmp_path, lambda found: found[0].update(user=[text])))
    assert "hotpotqa.json, template hotpotqa-en-user-plain-1, field user, alternative 1" in said
    assert "{{ question }}" in said


def test_single_braces_are_text(tmp_path: Path) -> None:
    folder = changed(tmp_path, lambda found: found[0].update(user=["{so} 100% {{question}} #1 }"]))
    [template] = load_pack(folder).tasks["hotpotqa"]["en"]
    assert render(template.user[0], question="Why?") == "{so} 100% Why? #1 }"


def test_a_missing_value_is_an_error() -> None:
    with pytest.raises(KeyError):
        render("{{ question }}", clue="x")


def test_a_worker_process_gets_or_loads_the_same_pack() -> None:
    assert pickle.loads(pickle.dumps(V2)) == V2
    with ProcessPoolExecutor(1) as workers:
        assert workers.submit(load_pack, ROOT / "pack_v2").result() == V2


def test_the_same_seed_draws_the_same_templates_and_role() -> None:
    def drawn(seed: int) -> list[str]:
        rng = Random(seed)
        ids = []
        for _ in range(30):
            task: Task = rng.choice(TASKS)
            lang: Lang = rng.choice(LANGS)
            chosen = V2.choose(rng, task, lang)
            clarify = V2.choose_clarify(rng, task, lang, chosen.role)
            assert (chosen.lang, clarify.lang, clarify.role) == (lang, lang, chosen.role)
            ids += [chosen.id, clarify.id]
        return ids

    assert drawn(1) == drawn(1) != drawn(2)
    assert V2.choose_clarify(Random(0), "gsm8k", "zh", "astronaut").lang == "zh"


def test_fingerprints_are_those_of_the_files(tmp_path: Path) -> None:
    found = pack_fingerprints(ROOT / "pack_v2")
    assert sorted(found) == sorted([f"{task}.json" for task in TASKS] + [f"clarify_{task}.json" for task in TASKS])
    assert found["gsm8k.json"] == sha256((ROOT / "pack_v2" / "gsm8k.json").read_bytes()).hexdigest()
    before = pack_fingerprints(ROOT / "pack_v1")
    after = pack_fingerprints(changed(tmp_path, lambda found: found[0].update(clue=["So: {{ clue }}"])))
    assert [name for name in before if before[name] != after[name]] == ["hotpotqa.json"]


def test_v2_is_complete_and_v1_is_not() -> None:
    """A complete pack has 6 templates, 4 roles and 3 registers in every file and language."""

    def complete(pack: Pack) -> list[bool]:
        groups = [kind[task][lang] for kind in (pack.tasks, pack.clarify) for task in TASKS for lang in LANGS]
        return [
            len(one) >= 6 and len({each.role for each in one}) >= 4 and len({each.register for each in one}) >= 3
            for one in groups
        ]

    assert all(complete(V2))
    assert not any(complete(V1))


def test_v2_has_eight_roles_and_five_registers_everywhere() -> None:
    for kind in (V2.tasks, V2.clarify):
        for task in TASKS:
            for lang in LANGS:
                found = kind[task][lang]
                assert len(found) >= 8
                assert len({one.role for one in found}) >= 8
                assert len({one.register for one in found}) >= 5


def test_v2_offers_many_alternatives() -> None:
    for template in templates(V2):
        for field in template.__struct_fields__:
            if field in OFFERED:
                found = getattr(template, field)
                assert len(set(found)) == len(found), f"{template.id}: {field} says the same twice"
                if field == "clue" and template.id.startswith("gsm8k"):
                    assert found == ("{{ clue }}",), "nothing interrupts a story"
                else:
                    assert 6 <= len(found) <= 10, f"{template.id}: {field}"
                assert "" not in found, f"{template.id}: {field}"


def test_no_alternative_occurs_twice_in_a_language_of_v2() -> None:
    """Every template may have the bare variable; any other wording belongs to one template."""
    owner: dict[tuple[str, str, str], str] = {}
    for template, field, alternative in alternatives(V2):
        if alternative and alternative != f"{{{{ {OFFERED[field]} }}}}":
            key = (template.lang, field, alternative)
            assert owner.setdefault(key, template.id) == template.id, f"{template.id}: {field}: {alternative}"


@pytest.mark.parametrize(("file", "field"), [("gsm8k.json", "open"), ("clarify_gsm8k.json", "ask")])
def test_the_assistants_side_is_refused_in_a_pack(tmp_path: Path, file: str, field: str) -> None:
    """Packs with thoughts and asks of their own would bring personas back into the demonstrations."""
    with pytest.raises(BadInput) as caught:
        load_pack(changed(tmp_path, lambda found: found[0].update({field: ["Ahoy!"]}), file))
    assert file in str(caught.value)
    assert f"unknown field `{field}`" in str(caught.value)


@pytest.mark.parametrize("pack", [V1, V2], ids=["v1", "v2"])
def test_languages_do_not_mix(pack: Pack) -> None:
    for template, field, alternative in alternatives(pack):
        text = _without_braces(alternative)
        strange = re.search(r"[^\x00-\x7f]" if template.lang == "en" else r"[A-Za-z,.?!:;\"' ]", text)
        assert strange is None, f"{template.id}: {field}: {alternative}"
        assert alternative == alternative.strip()
        assert "  " not in alternative


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("task", TASKS)
def test_fifty_samples_of_v2_hardly_repeat_a_wording(task: Task, lang: Lang) -> None:
    """Wording without values; fifty samples are about one window of the distinct-2 gate."""
    assert _distinct2(V2, task, lang) > 0.60
    assert _distinct2(V1, task, lang) < 0.10


def _distinct2(pack: Pack, task: Task, lang: Lang) -> float:
    rng = Random(11)
    said: list[str] = []
    for number in range(50):
        template = pack.choose(rng, task, lang)
        drawn = [rng.choice(template.user)]
        if number % 2 == 0:
            drawn.append(rng.choice(template.clue))
        if number % 3 == 0:
            drawn.append(rng.choice(pack.choose_clarify(rng, task, lang, template.role).reply))
        said += [token for text in drawn for token in tokens(_without_braces(text))]
    pairs = list(pairwise(said))
    return len(set(pairs)) / len(pairs)


def _without_braces(alternative: str) -> str:
    return re.sub(r"\{\{ \w+ \}\}", "", alternative)
