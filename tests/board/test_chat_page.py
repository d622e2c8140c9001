"""The chat page: a person or the simulator talks with a policy of the run; no other page can start it."""

from __future__ import annotations

import http.client
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from askgate_env.env import Env, Watch
from askgate_env.types import Episode
from askgate_env.users import User
from src.agents.trajectory import Job
from src.board.chat import policy_folders
from src.board.server import HOST
from src.chat.policies import Finished, Policy, Progress
from src.scoring.chat_server import Message
from tests.board.small_run import Served, pool_sample, served, small_run, write_episodes

SCRIPT = "<script>window.ran=1</script>"
ASK = f"<ask>Which year do you mean? {SCRIPT}</ask>"
ANSWER = "<answer>in the bay</answer>"


class AskingPolicy(Policy):
    """Asks once and answers."""

    def _rollout(
        self, jobs: Sequence[Job], max_turns: int, user: User, watch: Watch, progress: Progress
    ) -> list[Episode]:
        made = []
        for job in jobs:
            env = Env(job.sample, max_turns, user=user, watch=watch)
            env.step(ASK)
            env.step(ANSWER)
            made.append(env.episode(job.seed, job.level))
        return made

    def complete(self, prompts: Sequence[Sequence[Message]], finished: Finished) -> None:
        raise NotImplementedError

    def fingerprint(self) -> str:
        raise NotImplementedError

    reply_tokens = 0


@contextmanager
def open_asking(folder: str) -> Iterator[Policy]:
    yield AskingPolicy()


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    root = small_run(tmp_path / "run")
    write_episodes(root, "data/shadow.jsonl", [pool_sample(number) for number in range(100, 112)])
    final = root / "runs/20260102T030405678Z-0a1b/checkpoints/local/final_model"
    final.mkdir(parents=True)
    (final / "config.json").write_text("{}")
    monkeypatch.chdir(root)
    with served(root) as found:
        found.update_indexes()
        yield found


def post(site: Served, path: str, origin: str | None, **form: str) -> tuple[int, str]:
    wire = http.client.HTTPConnection(HOST, site.port, timeout=60)
    headers = {"Content-Type": "application/x-www-form-urlencoded"} | ({"Origin": origin} if origin else {})
    wire.request("POST", path, urlencode(form), headers)
    answer = wire.getresponse()
    answer.read()
    wire.close()
    return answer.status, answer.getheader("location") or ""


def token(site: Served) -> str:
    found = re.search('name="token" value="([^"]+)"', site.get("/chat")[2])
    assert found is not None
    return found[1]


def test_only_the_boards_own_page_starts_a_chat(site: Served) -> None:
    own, mine = site.url, token(site)
    task = {"policy": "models/tiny", "task": "typed", "text": "How many?"}
    for origin, sent in (
        (None, mine),
        ("null", mine),
        ("http://evil.example", mine),
        (own, "x"),
        (own, ""),
        (own, "é"),
    ):
        assert post(site, "/chat/start", origin, token=sent, **task)[0] == 403
        assert post(site, "/chat/say", origin, token=sent, text="hello")[0] == 403
    assert post(site, "/chat/start", own, token=mine, **task, more="x" * 100_000)[0] == 403
    assert "Answering" not in site.get("/chat")[2]
    assert site.get("/chat/start")[0] == 405


def test_only_listed_policies_can_be_opened(site: Served, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "config.json").write_text("{}")
    Path("models").mkdir()
    Path("models/linked").symlink_to(tmp_path / "elsewhere")
    names = list(policy_folders(site.board))
    assert names[0] == "runs/20260102T030405678Z-0a1b/checkpoints/local/final_model"
    assert "models/tiny" in names
    assert "models/linked" not in names
    for policy in (
        "../elsewhere",
        str(tmp_path / "elsewhere"),
        "models/linked",
        "http://127.0.0.1:1/v1",
        "a/hub-model",
    ):
        sent = post(site, "/chat/start", site.url, token=token(site), policy=policy, task="typed", text="x")
        assert sent == (303, "/chat?wrong=policy")


def test_a_person_talks_with_a_policy_and_text_is_escaped(
    page: Any, site: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("src.board.chat.open_policy", open_asking)
    page.goto(f"{site.url}/chat")
    page.fill("#start input[name=text]", f"Where does it end? {SCRIPT}")
    page.click("#start button")
    page.wait_for_selector('#state[data-state="waiting"]')
    assert "final_model" in page.locator("#policy").inner_text()
    assert SCRIPT in page.locator(".turn.ask").inner_text()
    page.fill("#say input[name=text]", f"1941 {SCRIPT}")
    page.click("#say button")
    page.wait_for_selector('#state[data-state="ended"]')
    assert page.locator(".turn").count() == 4
    assert page.locator(".turn.user").nth(1).inner_text().endswith(f"1941 {SCRIPT}")
    assert page.evaluate("window.ran") is None
    page.fill("#say input[name=text]", "And another task?")
    page.click("#say button")
    page.wait_for_selector('#state[data-state="waiting"]')
    assert page.locator(".turn.user").first.inner_text().endswith("And another task?")


def test_a_new_chat_ends_the_one_before(page: Any, site: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("src.board.chat.open_policy", open_asking)
    page.goto(f"{site.url}/chat?sample={pool_sample(102).id}")
    page.select_option("#start select[name=user]", "me")
    page.click("#start button")
    page.wait_for_selector('#state[data-state="waiting"]')
    assert "in 1941" in page.locator("#known").inner_text()
    page.goto(f"{site.url}/chat?sample={pool_sample(102).id}")
    page.click("#start button")
    page.wait_for_selector('#state[data-state="ended"]')
    assert "the simulator plays the user" in page.locator("#policy").inner_text()
    assert "asked, as it must" in page.locator(".words").inner_text()


def test_a_sample_of_another_run_folder_is_offered(site: Served, tmp_path: Path) -> None:
    other = small_run(tmp_path / "other")
    write_episodes(other, "data/pool.jsonl", [pool_sample(500)])
    with served(Path.cwd(), other) as both:
        both.update_indexes()
        assert f'value="{pool_sample(500).id}" selected' in both.get(f"/chat?sample={pool_sample(500).id}")[2]


def test_the_shipped_model_answers(page: Any, site: Served) -> None:
    page.goto(f"{site.url}/chat?policy=models/tiny&sample={pool_sample(101).id}")
    page.click("#start button")
    page.wait_for_selector('#state[data-state="ended"], #state[data-state="failed"]')
    assert page.locator("#state").get_attribute("data-state") == "ended", page.locator("#state").inner_text()
    assert "models/tiny" in page.locator("#policy").inner_text()
    assert page.locator(".turn.assistant").count() >= 1
    assert "Port Phillip <b>bay</b>" in page.locator(".words").inner_text()
