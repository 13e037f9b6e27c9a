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


def test_an_agents_answer_is_markdown_without_html(served: Served, open_page: Open) -> None:
    """The agent's input is a form, its progress is text, its answer is rendered, markup is text."""
    pytest.importorskip("retrai_research")
    folder = served.project("asked")
    doc = (
        f"The tax of a basket. {MARKUP} [press](javascript:window.hit=1) [there](http://x.invalid)"
    )
    (folder / "basket.py").write_text(f"def tax(price):\n    {doc!r}\n    return price / 5\n")
    (folder / "test_basket.py").write_text("def test_it(): assert True\n")
    project = served.http.post("/api/projects", json={"path": str(folder)}).json()["id"]
    page = open_page(f"/new?project={project}")
    expect(page.get_by_text("detected:").first).to_be_visible()
    page.get_by_label("Agent").select_option("research")
    expect(page.get_by_label("No goal")).to_be_checked()
    expect(page.get_by_label("Ask me after each iteration")).to_have_count(0)
    page.get_by_label("question").fill("Where is the tax of a basket?")
    page.get_by_label("Model", exact=True).fill("extractive")
    page.get_by_role("button", name="Start the run").click()
    expect(page.locator(".run-head .badge")).to_have_text("answered")
    answer = page.locator(".markdown")
    expect(answer.locator("code", has_text="basket.py:1-3").first).to_be_visible()
    expect(answer.locator("h4").first).to_have_text("tax")
    expect(answer).to_contain_text(MARKUP)
    assert_harmless(page)
    addresses = [link.get_attribute("href") for link in answer.locator("a").all()]
    assert set(addresses) <= {"http://x.invalid"}
    expect(page.locator(".asked")).to_contain_text("Where is the tax of a basket?")
    expect(page.locator(".graph [data-node=synthesizer].visited")).to_have_count(1)
    expect(page.get_by_role("tab", name="Check")).to_have_count(0)
    page.get_by_role("tab", name="Timeline").click()
    expect(page.locator(".row-step", has_text="planner")).to_have_count(1)
    expect(page.locator(".row-note", has_text="plan").first).to_contain_text("○ ")
    assert_harmless(page)
