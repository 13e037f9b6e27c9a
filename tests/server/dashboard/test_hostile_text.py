"""A project, a model and commands that write markup and terminal escapes: all of it is text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from retrai_testkit import say

from ..served import Served, put
from .conftest import Open, writes

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytest.importorskip("playwright.sync_api")
from playwright.sync_api import expect

MARKUP = "<img src=x onerror=\"window.hit=1\"><script>window.hit=1</script>{{ 7*7 }}<b id='evil'>"
ESCAPES = "\x1b[31mred\x1b]0;title\x07\x01 and \u202ebackwards"
SHOWN_ESCAPES = "␛[31mred␛]0;title␇␁ and <U+202E>backwards"
FOLDER = '<img src=x onerror="window.hit=1">'
FILE = "<svg onload=window.hit=1> && 'quotes\".py"


def assert_harmless(page: Page) -> None:
    assert page.evaluate("window.hit") is None
    assert page.locator("main img, main script, main svg[onload], #evil").count() == 0
    assert "\x1b" not in page.locator("main").inner_text()


def test_markup_and_escapes_are_text_everywhere(served: Served, open_page: Open) -> None:
    folder = served.project(FOLDER)
    hostile = MARKUP + ESCAPES
    files = {FILE: f'"""{hostile}"""\n', "a.txt": hostile}
    wrong = writes(f"I say {hostile}", files)
    run_id = served.start(folder, wrong, put("right"), hitl_enabled=True, task=hostile)
    served.wait(run_id, "waiting")

    page = open_page(f"/runs/{run_id}")
    expect(page.locator(".row-model").first).to_contain_text(f"I say {MARKUP}{SHOWN_ESCAPES}")
    expect(page.locator("h1")).to_contain_text(FOLDER)
    expect(page.locator(".question .diff-table")).to_contain_text([MARKUP] * 2)
    assert_harmless(page)
    page.locator(".row-call").first.click()
    drawer = page.get_by_role("dialog")
    expect(drawer).to_contain_text(SHOWN_ESCAPES)
    expect(drawer.locator(".code.result")).to_be_visible()
    assert_harmless(page)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Approve").click()
    expect(page.locator(".run-head .badge")).to_have_text("achieved")
    for tab in ("Changes", "Check", "Review", "Details"):
        page.get_by_role("tab", name=re.compile(tab)).click()
        expect(page.get_by_role("tabpanel")).not_to_contain_text("Loading")
        assert_harmless(page)
    expect(page.get_by_role("tabpanel")).to_contain_text(MARKUP)

    page.goto(f"{served.base}/?text={run_id}")
    expect(page.locator(".cell-project")).to_contain_text(FOLDER)
    assert_harmless(page)
    page.goto(f"{served.base}/new?project={served.show(run_id)['project']}")
    expect(page.get_by_label("Folder")).to_have_value(served.show(run_id)["project"])
    assert_harmless(page)


def test_what_a_failing_check_prints_is_text(served: Served, open_page: Open) -> None:
    folder = served.project("printing")
    (folder / "out.txt").write_text(f"FAILED {MARKUP}\n{ESCAPES[:-10]}\n")
    run_id = served.start(
        folder,
        say("nothing"),
        goal="shell-goal",
        options={"check_command": "cat out.txt; exit 1"},
        max_iterations=1,
    )
    served.wait(run_id)
    page = open_page(f"/runs/{run_id}?tab=check")
    expect(page.get_by_role("tabpanel")).to_contain_text(MARKUP)
    assert_harmless(page)
