"""The dashboard in Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from retrai_testkit import Turn

from ..served import Served

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

Open = Callable[..., "Page"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser without a window."""
    sync_api = pytest.importorskip("playwright.sync_api")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is not installed")
    with sync_api.sync_playwright() as playwright:
        # In a container Chromium has no sandbox of its own; it loads our pages alone.
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser: Browser, served: Served) -> Iterator[Open]:
    """Opens an address of the server in a new tab of one browser window.

    The test fails if a page has thrown, or the content security policy had to stop something.
    """
    sync_api = pytest.importorskip("playwright.sync_api")
    sync_api.expect.set_options(timeout=90_000)
    problems: list[str] = []
    contexts: list[Any] = []
    with ExitStack() as stack:

        def open_page(path: str = "/", at: Served = served, **settings: Any) -> Page:
            if settings or not contexts:
                context = browser.new_context(**settings)
                context.set_default_timeout(90_000)
                stack.callback(context.close)
                contexts.append(context)
                context.new_page().goto(f"{at.base}/?token={at.token}")
            page = contexts[-1].new_page()
            page.on("pageerror", lambda error: problems.append(str(error)))
            page.on(
                "console",
                lambda message: (
                    problems.append(message.text) if "Content Security" in message.text else None
                ),
            )
            page.goto(f"{at.base}{path}")
            return page

        yield open_page
    assert problems == []


def writes(text: str, files: dict[str, str]) -> Turn:
    """A turn that says something and writes files."""
    calls = [{"name": "put_file", "args": {"path": k, "text": v}} for k, v in files.items()]
    return Turn.model_validate({"text": text, "calls": calls})
