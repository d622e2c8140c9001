"""The server reads nothing outside the project folder, and nothing in a dialogue is executed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from src.board.run_files import OutsideRunFolder, inside
from src.pages.render import render_page
from tests.board.small_run import TRAINING, Served, episode, served, small_run, write_episodes

SECRET = "the key to everything"
SCRIPT = "<script>window.ran = 1</script><img src=x onerror='window.ran = 1'>"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project folder, with a secret beside it and links that lead to it."""
    made = small_run(tmp_path / "run")
    (tmp_path / "secret.json").write_text(SECRET)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "secret.json").write_text(SECRET)
    (made / "reports").mkdir()
    (made / "reports" / "link.json").symlink_to(tmp_path / "secret.json")
    (made / "reports" / "folder").symlink_to(tmp_path / "elsewhere")
    (made / "reports" / "own.json").write_text('{"fine": true}')
    (made / "reports" / "again.json").symlink_to("own.json")
    (made / ".env.json").write_text(SECRET)
    monkeypatch.chdir(made)
    return made


@pytest.fixture
def site(root: Path) -> Iterator[Served]:
    with served(root) as found:
        found.update_indexes()
        yield found


OUTSIDE = (
    "../secret.json",
    "reports/../../secret.json",
    "reports/link.json",
    "reports/folder/secret.json",
    "/etc/passwd",
    "..%2fsecret.json",
    "reports\\..\\..\\secret.json",
    ".env.json",
    "reports",
    "",
    "reports/own.json\0.json",
    "~/secret.json",
)


@pytest.mark.parametrize("name", OUTSIDE)
def test_no_path_leads_out_of_the_project_folder(root: Path, name: str) -> None:
    with pytest.raises(OutsideRunFolder):
        inside(root, name)


def test_links_inside_the_run_folder_are_followed(root: Path) -> None:
    assert inside(root, "reports/own.json") == inside(root, "reports/again.json") == root / "reports" / "own.json"


def test_no_request_reads_outside_the_run_folder(site: Served, root: Path) -> None:
    absolute = str(root.parent / "secret.json")
    for name in (*OUTSIDE, absolute):
        for ask in (f"/file?path={quote(name)}", f"/report?path={quote(name)}", f"/episode?line=1&file={quote(name)}"):
            status, _, text = site.get(ask)
            assert status == 404
            assert SECRET not in text
    for raw in (
        "/../secret.json",
        "/%2e%2e/secret.json",
        "/board.js/../../../secret.json",
        "/static/../../secret.json",
    ):
        assert site.get(raw)[0] == 404
    assert "fine" in site.get("/file?path=reports/own.json")[2]


def test_episodes_linked_from_outside_are_not_indexed(root: Path, tmp_path: Path) -> None:
    write_episodes(tmp_path, "elsewhere/step_00009.jsonl", [episode(1, success=True, text=SECRET)])
    (root / TRAINING / "step_00009.jsonl").symlink_to(tmp_path / "elsewhere" / "step_00009.jsonl")
    (root / "data").mkdir()
    (root / "data" / "episodes").symlink_to(tmp_path / "elsewhere")
    (root / TRAINING / "step_00010.jsonl").symlink_to("step_00001.jsonl")
    with served(root) as site:
        site.update_indexes()
        assert SECRET not in site.get("/episodes?q=key")[2]
        sets = site.get("/episodes")[2]
        assert "data/episodes" not in sets
        assert 'data-n="8"' in site.get("/episodes?step=10")[2]


def test_only_local_host_names_are_answered(site: Served) -> None:
    assert site.get("/", host=f"localhost:{site.port}")[0] == 200
    for host in ("evil.example", f"evil.example:{site.port}", "127.0.0.1", f"127.0.0.1:{site.port}.evil.example", ""):
        status, _, text = site.get("/episodes", host=host)
        assert status in (400, 421)
        assert "Yarra" not in text


def test_every_response_forbids_foreign_scripts(site: Served) -> None:
    for path in ("/", "/episodes", "/compare", "/file?path=reports/own.json", "/nothing", "/board.js"):
        _, headers, _ = site.get(path)
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
    assert site.get("/nothing", host="evil.example")[1]["content-security-policy"]


def test_only_get_requests_are_allowed(site: Served) -> None:
    for method in ("POST", "PUT", "DELETE"):
        assert site.get("/episodes", method=method)[0] == 405


def test_messages_are_shown_as_text(site: Served, root: Path) -> None:
    spoken = episode(1, success=True, text=SCRIPT)
    write_episodes(root, f"{TRAINING}/step_00005.jsonl", [spoken])
    site.update_indexes()
    file = quote(f"{TRAINING}/step_00005.jsonl")
    typed = quote(SCRIPT)
    for path in (
        "/episodes?step=5", f"/episodes?q={typed}", f"/episode?file={file}&line=1",
        f"/episode?file={file}&line=1&q={typed}",
        f"/episodes?set={typed}&task={typed}&variance={typed}&sample={typed}&page={typed}&run={typed}",
        f"/compare?a={typed}&b={typed}&kind={typed}", f"/light?round={typed}&of={typed}", f"/stage?name={typed}",
        f"/file?path={file}", f"/pair?a=run:{file}&b=run:{file}&sample={spoken.sample_id}",
    ):  # fmt: skip
        status, _, text = site.get(path)
        assert status in (200, 404)
        assert "<script>window" not in text
        assert "<img" not in text
    assert "&lt;script&gt;window.ran" in site.get(f"/episode?file={file}&line=1")[2]


def test_a_report_opens_in_the_language_of_its_reader(site: Served, root: Path) -> None:
    (root / "reports" / "page.html").write_bytes(render_page("base.html"))
    english, chinese = (site.get(f"/report?path=reports/page.html&askgate_lang={lang}")[2] for lang in ("en", "zh"))
    assert 'id="lang-en" checked/>' in english
    assert 'id="lang-en"/>' in chinese
    assert 'id="lang-zh" checked/>' in chinese


def test_report_pages_are_sandboxed(site: Served, root: Path) -> None:
    (root / "reports" / "page.html").write_text(f"<h1>report</h1>{SCRIPT}")
    status, headers, text = site.get("/report?path=reports/page.html")
    assert status == 200
    assert "<h1>report</h1>" in text
    assert "sandbox" in headers["content-security-policy"]
    assert "script-src" not in headers["content-security-policy"]
    assert "default-src 'none'" in headers["content-security-policy"]


def test_secrets_of_the_environment_are_masked(site: Served, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCORER_API_KEY", "sk-0123456789")
    (root / "logs" / "train.log").write_text("wrong key sk-0123456789\n")
    text = site.get("/file?path=logs/train.log")[2]
    assert "wrong key ***" in text
