"""Searching: one engine after the other, until one has results."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("cryptography")
pytest.importorskip("retrai_tools_web")

from retrai_core import RunContext, ToolError, ToolResult
from retrai_core.workspace.safe_paths import SafeWorkspace
from retrai_tools_web.web_search import WebSearch

from .search_proxy import SearchProxy

DUCK, MOJEEK = "html.duckduckgo.com", "www.mojeek.com"
HIT = """<div class="links_main result__body"><h2><a href="{url}">{title}</a></h2>
<a href="{url}">{words}</a></div>"""

MOJEEK_PAGE = b"""<html><body><ul class="results"><li><h2><a href="https://spoons.example/hold">
Hold a spoon</a></h2><p class="s">With one hand.</p></li></ul></body></html>"""


def duck(*hits: tuple[str, str, str]) -> bytes:
    """A page of results as DuckDuckGo lays it out."""
    shown = "".join(HIT.format(url=url, title=title, words=words) for title, url, words in hits)
    return f"<html><body>{shown}</body></html>".encode()


@pytest.fixture
def engines(tmp_path: Path) -> Iterator[SearchProxy]:
    proxy = SearchProxy(tmp_path, [DUCK, MOJEEK])
    thread = threading.Thread(target=proxy.serve_forever, args=(0.05,))
    thread.start()
    yield proxy
    proxy.closing.set()
    proxy.shutdown()
    thread.join()
    proxy.server_close()


async def search(
    engines_at: SearchProxy, query: str = "hold a spoon", **options: Any
) -> ToolResult:
    folder = engines_at.ca_file.parent
    context = RunContext("r1", folder, SafeWorkspace(folder), sys.executable, folder)
    ways = {"proxy": engines_at.url, "ca_file": str(engines_at.ca_file)}
    wanted = {"engines": ["duckduckgo", "mojeek"], "timeout_s": 5, **ways, **options}
    tool = WebSearch(WebSearch.Options(**wanted), context)
    return await tool.run(tool.Args.model_validate({"query": "hold a spoon"}), context)


async def test_titles_addresses_and_snippets_come_back(engines: SearchProxy) -> None:
    engines.answers[DUCK] = lambda: duck(
        ("Hold a spoon", "https://spoons.example/hold", "How to hold a spoon with one hand."),
        ("Spoons", "https://spoons.example/", "All about the spoon."),
    )
    answer = await search(engines)
    assert "[2 results of duckduckgo]" in answer.content
    assert "https://spoons.example/hold" in answer.content
    assert "with one hand" in answer.content
    assert {hit["title"] for hit in answer.data["results"]} == {"Hold a spoon", "Spoons"}


GARBAGE = {
    "nothing": b"",
    "no-html": b"\x00\xff\xfe garbage",
    "a-captcha": b"<html><body>Are you a robot?</body></html>",
    "broken": b"<div class='body'><h2><a href='",
    "no-pages": duck(("Click me", "javascript:alert(1)", "x"), ("", "https://a.example", "x")),
}


@pytest.mark.parametrize("what", GARBAGE)
async def test_an_engine_that_answers_garbage_is_passed_over(
    engines: SearchProxy, what: str
) -> None:
    engines.answers[DUCK] = lambda: GARBAGE[what]
    engines.answers[MOJEEK] = lambda: MOJEEK_PAGE
    answer = await search(engines)
    assert engines.asked == [DUCK, MOJEEK]
    assert answer.data["engine"] == "mojeek"
    assert "https://spoons.example/hold" in answer.content
    assert answer.data["failed"][0].startswith("duckduckgo: ")


async def test_when_no_engine_has_an_answer_each_is_named(engines: SearchProxy) -> None:
    with pytest.raises(ToolError, match=r"no search engine has an answer: duckduckgo: .*mojeek: "):
        await search(engines)


async def test_an_engine_that_hangs_costs_only_its_time(engines: SearchProxy) -> None:
    def hang() -> bytes:
        engines.closing.wait(60)
        return b""

    engines.answers[DUCK] = hang
    with pytest.raises(ToolError, match="no search engine has an answer: duckduckgo: "):
        await search(engines, engines=["duckduckgo"], timeout_s=1)


async def test_a_proxy_that_is_not_there_is_said(engines: SearchProxy) -> None:
    with pytest.raises(ToolError, match="no search engine has an answer"):
        await search(engines, proxy="http://127.0.0.1:1", engines=["duckduckgo"])


async def test_an_engine_that_ddgs_does_not_know_is_said_with_those_it_knows(
    engines: SearchProxy,
) -> None:
    with pytest.raises(ToolError, match=r"ddgs has no engine ducks; it has .*duckduckgo"):
        await search(engines, engines=["ducks"])


async def test_long_answers_are_cut_between_results(engines: SearchProxy) -> None:
    hits = [(f"Spoon {n}", f"https://spoons.example/{n}", "spoon " * 60) for n in range(8)]
    engines.answers[DUCK] = lambda: duck(*hits)
    answer = await search(engines, max_chars=1500)
    assert len(answer.content) < 1700
    assert "more are left out]" in answer.content
