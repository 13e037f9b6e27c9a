"""The web tools keep the contract of tools."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

pytest.importorskip("retrai_tools_web")
pytest.importorskip("cryptography")

from retrai_testkit import NotApplicable, ToolConformance, ToolExample
from retrai_tools_web.web_fetch import WebFetch
from retrai_tools_web.web_search import WebSearch

from .conftest import WebServer
from .search_proxy import SearchProxy
from .test_web_search import DUCK, HIT

NO_PATH = NotApplicable("it takes no path of the project")


class TestWebFetch(ToolConformance):
    plugin = WebFetch
    bad_options = ({"timeout_s": 0}, {"max_bytes": 0})
    path_argument = NO_PATH
    endless = NotApplicable("pages without an end are tried in test_web_fetch.py")

    @pytest.fixture(autouse=True)
    def pages(self, web: WebServer) -> None:
        self.examples = (
            ToolExample({"url": web.url("json")}, contains="1.2.3"),
            ToolExample({"url": web.url("article")}, contains="spoon"),
            ToolExample({"url": web.url("missing")}, ok=False, contains="404"),
        )
        self.bad_examples = ({"url": "file:///etc/passwd"}, {"url": web.url("picture")})
        self.long_example = {"url": web.url("text")}

    @pytest.fixture
    def plugin_options(self) -> Mapping[str, Any]:
        return {"allow_hosts": ["127.0.0.1"]}


class TestWebSearch(ToolConformance):
    plugin = WebSearch
    bad_options = ({"timeout_s": 0}, {"engines": []})
    examples = (ToolExample({"query": "spoon"}, contains="spoons.example"),)
    bad_examples = NotApplicable("every text can be searched for")
    path_argument = NO_PATH
    long_example = {"query": "spoon"}
    endless = NotApplicable("each engine's time-out is ddgs's own, tried in test_web_search.py")

    @pytest.fixture
    def plugin_options(
        self, tmp_path_factory: pytest.TempPathFactory
    ) -> Iterator[Mapping[str, Any]]:
        proxy = SearchProxy(tmp_path_factory.mktemp("proxy"), [DUCK])
        hits = [
            HIT.format(url=f"https://spoons.example/{n}", title=f"Spoon {n}", words="spoon " * 50)
            for n in range(8)
        ]
        proxy.answers[DUCK] = f"<html><body>{''.join(hits)}</body></html>".encode
        thread = threading.Thread(target=proxy.serve_forever, args=(0.05,))
        thread.start()
        yield {"engines": ["duckduckgo"], "proxy": proxy.url, "ca_file": str(proxy.ca_file)}
        proxy.closing.set()
        proxy.shutdown()
        thread.join()
        proxy.server_close()
