"""A web server on the loopback, with pages good and bad."""

from __future__ import annotations

import gzip
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("retrai_tools_web")

from retrai_core import ProcessOptions, RunContext, Tool, ToolResult
from retrai_core.workspace.safe_paths import SafeWorkspace
from retrai_sandbox_local.sandbox import LocalSandbox
from retrai_tools_web.web_fetch import WebFetch

ARTICLE = """<!doctype html><html><head><title>How to hold a spoon</title>
<style>body {{ color: red }}</style></head><body>
<nav><a href="/a">Home</a><a href="/b">Shop</a></nav>
<article><h1>How to hold a spoon</h1>
<p>Take the spoon with your right hand, between the thumb and the first finger, and keep it level
so that nothing of what is in it runs over. {more}</p>
<pre><code>spoon --hold --level</code></pre>
<p>Practise each day for an hour; after a week the hand knows by itself what to do.</p></article>
<script>alert("never shown")</script></body></html>"""


class Pages(BaseHTTPRequestHandler):
    """What the server answers, by path."""

    protocol_version = "HTTP/1.1"
    server: WebServer

    def do_GET(self) -> None:
        self.server.asked.append((self.path, self.headers.get("Host", "")))
        name = self.path.strip("/").partition("?")[0].replace("-", "_")
        getattr(self, f"page_{name}", self.page_missing)()

    def page_article(self) -> None:
        self.answer(ARTICLE.format(more="").encode(), "text/html; charset=utf-8")

    def page_latin(self) -> None:
        self.answer(ARTICLE.format(more="Voilà.").encode("latin-1"), "text/html; charset=latin-1")

    def page_short(self) -> None:
        self.answer(b"<html><body>ok <script>no()</script></body></html>", "text/html")

    def page_text(self) -> None:
        self.answer("".join(f"line {n}\n" for n in range(5000)).encode(), "text/plain")

    def page_json(self) -> None:
        self.answer(b'{"version": "1.2.3"}', "application/json")

    def page_picture(self) -> None:
        self.answer(b"\x89PNG\0\0", "image/png")

    def page_unnamed(self) -> None:
        self.answer(b"\0\1\2\3" * 100, "")

    def page_zipped(self) -> None:
        self.answer(gzip.compress(b"small inside"), "text/plain", encoding="gzip")

    def page_bomb(self) -> None:
        self.answer(gzip.compress(b"\0" * 300_000_000, 9), "text/plain", encoding="gzip")

    def page_damaged(self) -> None:
        self.answer(b"this is no gzip", "text/plain", encoding="gzip")

    def page_brotli(self) -> None:
        self.answer(b"??", "text/plain", encoding="br")

    def page_huge(self) -> None:
        """As long as anybody reads, up to 100 MB; how much went out is kept."""
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(100_000_000))
        self.end_headers()
        try:
            for _ in range(1000):
                self.wfile.write(b"x" * 100_000)
                self.server.sent += 100_000
        except OSError:
            self.close_connection = True

    def page_hangs(self) -> None:
        self.server.closing.wait(60)
        self.close_connection = True

    def page_drips(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.end_headers()
        self.close_connection = True
        try:
            while not self.server.closing.wait(0.05):
                self.wfile.write(b".")
        except OSError:
            pass

    def page_to_article(self) -> None:
        self.redirect("/article")

    def page_round(self) -> None:
        self.redirect("/round")

    def page_to_localhost(self) -> None:
        self.redirect(f"http://localhost:{self.server.server_port}/article")

    def page_to_file(self) -> None:
        self.redirect("file:///etc/passwd")

    def page_to_metadata(self) -> None:
        self.redirect("http://169.254.169.254/latest/meta-data/")

    def page_missing(self) -> None:
        self.answer(b"<html><body><p>There is no such page.</p></body></html>", "text/html", 404)

    def redirect(self, where: str) -> None:
        self.send_response(302)
        self.send_header("Location", where)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def answer(self, body: bytes, kind: str, status: int = 200, encoding: str = "") -> None:
        self.send_response(status)
        if kind:
            self.send_header("Content-Type", kind)
        if encoding:
            self.send_header("Content-Encoding", encoding)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:
            self.close_connection = True

    def log_message(self, *_: Any) -> None:
        """Silent."""


class WebServer(ThreadingHTTPServer):
    """The server, and what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Pages)
        self.asked: list[tuple[str, str]] = []
        self.sent = 0
        self.closing = threading.Event()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A reader that has enough is no error."""

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.server_port}/{path}"


@pytest.fixture
def web() -> Iterator[WebServer]:
    server = WebServer()
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield server
    server.closing.set()
    server.shutdown()
    thread.join()
    server.server_close()


class Fetching:
    """`web_fetch` as a run has it, allowed to read just the server's own address."""

    def __init__(self, tool: Tool, context: RunContext) -> None:
        self.tool = tool
        self.context = context

    async def __call__(self, url: str, **arguments: Any) -> ToolResult:
        args = self.tool.Args.model_validate({"url": url, **arguments})
        return await self.tool.run(args, self.context)


@pytest.fixture
def fetching(tmp_path: Path) -> Any:
    """Opens a `Fetching` with the given options."""

    @asynccontextmanager
    async def opened(**options: Any) -> AsyncIterator[Fetching]:
        context = RunContext("r1", tmp_path, SafeWorkspace(tmp_path), sys.executable, tmp_path)
        context.sandbox_part = LocalSandbox(ProcessOptions(), context)
        try:
            yield Fetching(WebFetch(WebFetch.Options(**options), context), context)
        finally:
            await context.sandbox.aclose()

    return opened
