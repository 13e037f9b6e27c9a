"""By keyboard alone, with a screen reader's rules (axe), and on small and large screens."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from ..served import Served, put
from .conftest import Open, writes

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytest.importorskip("playwright.sync_api")
from playwright.sync_api import expect

WRONG = 'def total(prices):\n    return sum(prices) * 1.2  # "with tax"\n'


@pytest.fixture(scope="module")
def waiting_run(served: Served) -> str:
    """A run with text, calls, changes, a failed check and an open question."""
    turn = writes("I write the total first.", {"shop.py": WRONG, "a.txt": "no"})
    run_id = served.start(served.project("shown"), turn, put("right"), hitl_enabled=True)
    served.wait(run_id, "waiting")
    return run_id


def pages(run_id: str) -> dict[str, str]:
    """An address and what is there once the page is whole."""
    run = f"/runs/{run_id}"
    return {
        "/": "table.runs",
        "/new": ".choice, .hints .chips",
        run: ".timeline .row-end, .timeline .row-question",
        f"{run}?tab=changes": "[role=tabpanel] .diff-table",
        f"{run}?tab=check": ".row-check.big",
        f"{run}?tab=review": "[role=tabpanel] > *",
        f"{run}?tab=details": ".pairs",
        "/plugins": ".plugin",
        "/memory": ".card-list, main > .empty",
        "/configuration": ".settings",
        "/nowhere": "h1",
    }


def open_whole(page: Page, served: Served, path: str, sign: str) -> None:
    page.goto(f"{served.base}{path}")
    expect(page.locator(sign).first).to_be_visible()
    expect(page.get_by_text("Loading …")).to_have_count(0)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(served: Served, open_page: Open, waiting_run: str, theme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = open_page("/", color_scheme=theme)
    found: dict[str, str] = {}

    def check(name: str) -> None:
        result = axe.run(page)
        if result.violations_count:
            found[name] = result.generate_report()

    for path, sign in pages(waiting_run).items():
        open_whole(page, served, path, sign)
        check(path)
    page.goto(f"{served.base}/runs/{waiting_run}")
    page.locator(".row-call").first.click()
    expect(page.locator(".code.result")).to_be_visible()
    check("drawer")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Limits").click()
    expect(page.locator(".chips")).to_be_visible()
    check("limits")
    assert found == {}


@pytest.mark.parametrize(("width", "height"), [(360, 740), (3840, 2160)])
def test_no_page_is_wider_than_the_screen(
    served: Served, open_page: Open, waiting_run: str, width: int, height: int
) -> None:
    page = open_page("/", viewport={"width": width, "height": height})
    wide: dict[str, int] = {}
    for path, sign in pages(waiting_run).items():
        open_whole(page, served, path, sign)
        needed = page.evaluate("document.documentElement.scrollWidth")
        if needed > width:
            wide[path] = needed
    assert wide == {}


def focus_by_tab(page: Page, pattern: str, key: str = "Tab") -> None:
    """Press Tab until an element of that name has the focus, and see that one can tell."""
    for _ in range(80):
        page.keyboard.press(key)
        focus = page.locator(":focus")
        if not focus.count():
            continue
        name = focus.evaluate("e => e.getAttribute('aria-label') || e.innerText || e.id")
        if re.search(pattern, name):
            style = focus.evaluate(
                "e => [null, '::after'].map((p) => getComputedStyle(e, p).outlineStyle).join()"
            )
            assert "solid" in style, f"{pattern}: the focus cannot be seen"
            return
    raise AssertionError(f"{pattern}: Tab does not get there")


def test_everything_works_by_keyboard(served: Served, open_page: Open) -> None:
    folder = served.project("keyboard")
    run_id = served.start(folder, put("no"), put("right"), hitl_enabled=True)
    served.wait(run_id, "waiting")
    page = open_page(f"/?text={run_id}")
    expect(page.locator("tr[data-run]")).to_have_count(1)
    focus_by_tab(page, "Skip to the content")
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    focus_by_tab(page, run_id)
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    expect(page.locator(".row-call")).to_have_count(1)
    focus_by_tab(page, "Timeline$")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name=re.compile("Changes"))).to_be_focused()
    expect(page.locator("[role=tabpanel] .diff-table")).to_be_visible()
    page.keyboard.press("Home")
    focus_by_tab(page, "put_file")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".row-call")).to_be_focused()
    focus_by_tab(page, "Approve", "Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".run-head .badge")).to_have_text("achieved")
    focus_by_tab(page, "Use the dark theme", "Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
