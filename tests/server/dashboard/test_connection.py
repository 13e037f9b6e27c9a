"""The page over restarts of the server, and with a very long run."""

from __future__ import annotations

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ..served import Served, put, serving
from ..test_load import made_run
from .conftest import Open

pytest.importorskip("playwright.sync_api")
from playwright.sync_api import WebSocketRoute, expect


def test_a_page_survives_a_killed_server(tmp_path: Path, open_page: Open) -> None:
    """It says that it is not live, wants the new token, and goes on behind its last event."""
    root, state = tmp_path / "root", tmp_path / "state"
    with serving(root, state) as first:
        folder = first.project("shop")
        run_id = first.start(folder, put("no"), put("right"), hitl_enabled=True)
        first.wait(run_id, "waiting")
        page = open_page(f"/runs/{run_id}", at=first, base_url=first.base)
        expect(page.locator(".live")).to_have_text("live")
        expect(page.locator(".row-question")).to_have_count(1)
        rows = page.locator(".timeline li").all_inner_texts()
        first.process.kill()
        first.process.wait()
        expect(page.locator(".live")).to_have_text("not live")
        expect(page.locator(".banner")).to_contain_text("The server does not answer")
    with serving(root, state, "-p", str(first.port)) as second:
        expect(page.locator(".banner")).to_contain_text("has a new token")
        assert page.locator(".timeline li").all_inner_texts() == rows
        page.get_by_label("Token").fill(second.token)
        page.get_by_role("button", name="Sign in").click()
        expect(page).to_have_url(f"{second.base}/runs/{run_id}")
        expect(page.locator(".live")).to_have_text("live")
        expect(page.locator(".row-question")).to_have_count(1)
        page.get_by_role("button", name="Approve").click()
        expect(page.locator(".run-head .badge")).to_have_text("achieved")
        expect(page.get_by_role("heading", name=re.compile("Iteration"))).to_have_count(2)


def test_a_page_goes_on_by_itself_once_another_tab_has_signed_in(
    tmp_path: Path, open_page: Open
) -> None:
    root, state = tmp_path / "root", tmp_path / "state"
    with serving(root, state) as first:
        run_id = first.start(first.project("shop"), put("no"), put("right"), hitl_enabled=True)
        first.wait(run_id, "waiting")
        page = open_page(f"/runs/{run_id}", at=first, base_url=first.base)
        expect(page.locator(".live")).to_have_text("live")
        first.process.kill()
        first.process.wait()
    with serving(root, state, "-p", str(first.port)) as second:
        expect(page.locator(".banner")).to_contain_text("has a new token")
        page.context.new_page().goto(f"{second.base}/?token={second.token}")
        expect(page.locator(".live")).to_have_text("live")
        expect(page.locator(".banner")).to_have_count(0)
        page.get_by_role("button", name="Approve").click()
        expect(page.locator(".run-head .badge")).to_have_text("achieved")


BREAKS_OFF = """
const fetched = window.fetch;
window.brokenOff = 0;
window.fetch = (path, init) => {
  if (!String(path).startsWith('/api/plugins')) return fetched(path, init);
  window.brokenOff += 1;
  const body = new ReadableStream({ pull: (out) => out.error(new TypeError('Failed to fetch')) });
  return Promise.resolve(new Response(body));
};
"""


def test_an_answer_that_breaks_off_is_told_as_any_lost_connection(
    served: Served, open_page: Open
) -> None:
    """By the banner for it, once the socket notices; there is no other message."""
    page = open_page("/")
    page.add_init_script(BREAKS_OFF)
    page.goto(f"{served.base}/plugins")
    while not page.evaluate("window.brokenOff"):
        page.wait_for_timeout(50)
    page.wait_for_timeout(300)
    expect(page.locator(".banner")).to_have_count(0)


def test_news_that_comes_after_the_end_is_shown(served: Served, open_page: Open) -> None:
    """Where the record says first that the run has ended, the events behind it are shown too."""
    run_id = served.start(served.project("shop"), put("right"))
    served.wait(run_id)
    page = open_page("/")
    sockets: list[WebSocketRoute] = []
    held: list[str | bytes] = []

    def hold(socket: WebSocketRoute) -> None:
        sockets.append(socket)

        def keep(message: str | bytes) -> None:
            held.append(message)

        server = socket.connect_to_server()
        server.on_message(keep)
        server.on_close(lambda code, reason: None)

    page.route_web_socket(re.compile(rf"/api/ws/{run_id}\b"), hold)
    page.goto(f"{served.base}/runs/{run_id}?tab=details")
    expect(page.locator(".run-head .badge")).to_have_text("achieved")
    expect(page.locator(".graph [data-node=evaluate]")).to_have_count(1)
    expect(page.locator(".graph .visited")).to_have_count(0)
    while not any("run_end" in str(message) for message in held):
        page.wait_for_timeout(50)
    for message in held:
        sockets[0].send(message)
    expect(page.locator(".graph [data-node=evaluate].visited")).to_have_count(1)
    page.get_by_role("tab", name="Timeline").click()
    expect(page.locator(".row-end")).to_have_count(1)


def test_ten_thousand_events_are_a_short_page(tmp_path: Path, open_page: Open) -> None:
    with serving(tmp_path / "root", tmp_path / "state") as served:
        with ThreadPoolExecutor(1) as thread:  # Playwright has a loop in this one
            run_id = thread.submit(asyncio.run, made_run(served, 10_000)).result()
        page = open_page(f"/runs/{run_id}", at=served, base_url=served.base)
        timeline = page.get_by_role("region", name="Timeline, 10,001 entries")
        expect(timeline).to_be_visible()
        timeline.press("End")
        expect(page.locator(".row-end")).to_be_in_viewport()
        assert page.locator(".timeline li").count() < 200
        timeline.press("Home")
        expect(page.locator(".timeline li[data-index='0']")).to_be_in_viewport()
