"""Runs as a person starts, follows and steers them in the page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from retrai_core.workspace.lock import WorkspaceLock
from retrai_testkit import say

from ..served import Served, put
from .conftest import Open

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytest.importorskip("playwright.sync_api")
from playwright.sync_api import expect

DEMO_LIMIT_MS = 400_000


def status(page: Page) -> Locator:
    return page.locator(".run-head .badge")


def start_waiting(served: Served, name: str) -> str:
    """A run that asks after its first iteration and would then succeed."""
    folder = served.project(name)
    run_id = served.start(folder, put("still wrong"), put("right"), hitl_enabled=True)
    served.wait(run_id, "waiting")
    return run_id


def test_a_new_run_needs_trust_and_is_watched_to_its_end(served: Served, open_page: Open) -> None:
    folder = served.project("formed/inside", "right")
    (folder / ".retrai.yml").write_text("goal: shell-goal\ncheck_command: grep right a.txt\n")
    page = open_page("/")
    page.get_by_role("link", name="New run").click()
    page.get_by_role("button", name="Another folder").click()
    page.get_by_role("button", name="formed", exact=True).click()
    page.get_by_role("button", name="inside", exact=True).click()
    page.get_by_role("button", name="Use inside").click()
    expect(page.get_by_label("Another goal")).to_have_value("shell-goal")
    # What the project's file says, although nobody has agreed to it yet.
    expect(page.get_by_label("check command")).to_have_value("grep right a.txt")
    page.get_by_role("button", name="offline", exact=True).click()
    page.get_by_label("Maximum iterations").fill("3")
    page.get_by_role("button", name="Start the run").click()
    dialog = page.get_by_role("dialog", name="Do you trust this project?")
    expect(dialog).to_contain_text("grep right a.txt")
    dialog.get_by_role("button", name="Trust it and start").click()
    expect(status(page)).to_have_text("achieved")
    expect(page.locator(".facts")).to_contain_text("/ 3")
    page.get_by_role("link", name="retrai, all runs").click()
    expect(page.locator("tr", has_text="shell-goal").first).to_contain_text("achieved")


def test_a_person_approves_and_tabs_stay_in_step(served: Served, open_page: Open) -> None:
    run_id = start_waiting(served, "two-tabs")
    first, second, runs = open_page(f"/runs/{run_id}"), open_page(f"/runs/{run_id}"), open_page()
    row = runs.locator(f"tr[data-run='{run_id}']")
    expect(row).to_contain_text("waiting")
    for page in (first, second):
        question = page.locator(".question")
        expect(question).to_contain_text("Changes since the last answer")
        expect(question.locator(".diff-table .add")).to_contain_text("still wrong")
    first.get_by_role("button", name="Approve").click()
    for page in (first, second):
        expect(status(page)).to_have_text("achieved")
        expect(page.locator(".question")).to_have_count(0)
        expect(page.locator(".row-question")).to_contain_text("Answered: approve")
    expect(row).to_contain_text("achieved")
    second.get_by_role("tab", name=re.compile("Changes")).click()
    expect(second.locator(".diff-table .add")).to_contain_text("right")
    second.get_by_role("button", name="Undo").click()
    dialog = second.get_by_role("dialog")
    expect(dialog).to_contain_text("a.txt")
    dialog.get_by_role("button", name="Undo").click()
    expect(second.get_by_text("Undone: 1 file.")).to_be_visible()
    assert (served.root / "two-tabs" / "a.txt").read_text() == "wrong"


def test_a_person_aborts_at_a_question(served: Served, open_page: Open) -> None:
    page = open_page(f"/runs/{start_waiting(served, 'ended')}")
    page.get_by_role("button", name="End the run").click()
    expect(status(page)).to_have_text("aborted")
    expect(page.get_by_role("button", name="Limits")).to_have_count(0)


def test_a_reload_in_the_middle_misses_and_repeats_nothing(served: Served, open_page: Open) -> None:
    page = open_page(f"/runs/{start_waiting(served, 'reloaded')}")
    expect(page.locator(".live")).to_have_text("live")
    expect(page.locator(".row-question")).to_have_count(1)
    before = page.locator(".timeline li").all_inner_texts()
    page.reload()
    expect(page.locator(".row-question")).to_have_count(1)
    assert page.locator(".timeline li").all_inner_texts() == before
    page.get_by_role("button", name="Approve").click()
    expect(status(page)).to_have_text("achieved")
    expect(page.get_by_role("heading", name=re.compile("Iteration"))).to_have_count(2)


def test_new_limits_and_a_resumed_run(served: Served, open_page: Open) -> None:
    folder = served.project("limited")
    run_id = served.start(folder, put("no"), put("nor this"), put("right"), max_iterations=2)
    served.wait(run_id)
    page = open_page(f"/runs/{run_id}")
    page.get_by_role("button", name="Resume").click()
    dialog = page.get_by_role("dialog", name="Resume the run")
    dialog.get_by_label("Maximum iterations").fill("5")
    dialog.get_by_role("button", name="Resume").click()
    expect(status(page)).to_have_text("achieved")
    expect(page.get_by_role("heading", name="Iteration 3")).to_have_count(1)


def test_a_call_is_shown_whole_in_a_drawer(served: Served, open_page: Open) -> None:
    folder = served.project("drawer")
    text = "".join(f"line {number} of the file\n" for number in range(200)) + "right"
    run_id = served.start(folder, put(text), say("done"), max_iterations=1)
    served.wait(run_id)
    page = open_page(f"/runs/{run_id}")
    page.locator(".row-call").first.click()
    drawer = page.get_by_role("dialog", name="put_file")
    expect(drawer).to_contain_text("line 199 of the file")
    expect(drawer.locator(".code.result")).to_be_visible()
    page.keyboard.press("Escape")
    expect(drawer).to_have_count(0)
    expect(page.locator(".row-call").first).to_be_focused()


def test_the_browser_notifies_when_a_run_waits(served: Served, open_page: Open) -> None:
    page = open_page("/", permissions=["notifications"])
    page.add_init_script(
        "window.Notification = class { static permission = 'granted';"
        " constructor(title, more) { console.info(`${title}: ${more.body}`) } };"
        "document.hasFocus = () => false;"
    )
    run_id = served.start(
        served.project("notified"), put("no"), put("no"), put("right"), hitl_enabled=True
    )
    page.goto(f"{served.base}/runs/{run_id}")
    question = page.locator(".question")
    first = question.get_attribute("aria-labelledby")
    with page.expect_console_message(lambda message: "retrai waits for" in message.text):
        page.get_by_role("button", name="Approve").click()
        expect(question).not_to_have_attribute("aria-labelledby", str(first))
    page.get_by_role("button", name="End the run").click()
    expect(status(page)).to_have_text("aborted")


def test_the_demo_is_one_click_and_needs_no_key(served: Served, open_page: Open) -> None:
    """The first page of a server without runs leads to it."""
    page = open_page("/?text=nothing-matches-this")
    expect(page.get_by_text("No run matches the filters.")).to_be_visible()
    page.route("**/api/runs?*", lambda route: route.fulfill(json=[]))
    page.goto(f"{served.base}/")
    page.get_by_role("button", name="Run the demo").click()
    expect(page.get_by_role("heading", name="pytest")).to_be_visible()
    expect(page.locator(".graph .active")).to_have_count(1)
    expect(page.locator(".row-check").first).to_contain_text("10 of 43 tests fail")
    expect(status(page)).to_have_text("achieved", timeout=DEMO_LIMIT_MS)
    expect(page.get_by_role("img", name=re.compile("Cases by check"))).to_have_attribute(
        "aria-label", re.compile("43 passed and 0 failed in the last check")
    )
    expect(page.get_by_role("link", name="Receipt")).to_be_visible()
    page.get_by_role("tab", name=re.compile("Changes")).click()
    expect(page.locator(".diff-file")).to_have_count(3)
    expect(page.locator(".hljs-keyword").first).to_be_visible()


def test_a_run_that_could_not_begin_says_why(served: Served, open_page: Open) -> None:
    folder = served.project("taken")
    with WorkspaceLock(folder, served.state, "elsewhere"):
        run_id = served.start(folder, put("right"))
        served.wait(run_id)
    page = open_page(f"/runs/{run_id}")
    expect(page.locator("h1")).to_contain_text(f"run {run_id} could not begin")
    expect(page.locator("h1")).to_contain_text("elsewhere")
