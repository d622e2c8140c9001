"""A static page shows one language at a time, without a script."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from src.config.profile import load_profile
from src.pages.rc1_report import RC1_PAGE, rc1_page, write_rc1
from src.pages.render import opened_in
from tests.board.conftest import browser, page  # noqa: F401
from tests.eval.test_trial import CONTROL, one, reported
from tests.pages.test_rc1_report import reading, report

CHINESE = re.compile("[\u4e00-\u9fff]")


def test_only_an_unpacked_page_opens_in_the_terminals_language(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("src.pages.rc1_report.gather_run", lambda profile, evaluation: report())
    pages = {}
    for lang in ("zh", "en"):
        monkeypatch.setenv("ASKGATE_LANG", lang)
        write_rc1(load_profile("quickstart"))
        pages[lang] = RC1_PAGE.read_bytes()
        assert re.findall(rb'id="lang-(..)" checked', pages[lang]) == [lang.encode()]
        assert re.findall(rb'id="lang-(..)" checked', rc1_page(report())) == [b"en"]
    assert opened_in(pages["zh"], "en") == pages["en"] == opened_in(pages["zh"])


def test_the_reader_chooses_the_language_of_a_static_page(browser: Any, tmp_path: Path) -> None:  # noqa: F811
    path = tmp_path / "RC1.html"
    path.write_bytes(rc1_page(report(evaluation=reported(one(control=CONTROL)), reading=reading())))
    shown = browser.new_page()
    shown.goto(path.as_uri())
    english, chinese = (shown.locator(f'svg g[lang="{lang}"]').first for lang in ("en", "zh"))
    assert (english.is_visible(), chinese.is_visible()) == (True, False)
    shown.click("[for=lang-zh]")
    assert (english.is_visible(), chinese.is_visible()) == (False, True)
    shown.click("[for=lang-en]")
    shown.evaluate("document.querySelectorAll('svg').forEach((one) => one.remove())")  # `inner_text` has all of it
    main = shown.locator("main")
    assert "Need-ask success" in main.inner_text()
    assert not CHINESE.search(main.inner_text())
    shown.click("[for=lang-zh]")
    assert "需问成功率" in main.inner_text()
    assert "Need-ask success" not in main.inner_text()
    for heading in shown.locator("main h2, main h3").all():
        if heading.is_visible():
            assert CHINESE.search(heading.inner_text()), heading.inner_text()
    shown.close()
