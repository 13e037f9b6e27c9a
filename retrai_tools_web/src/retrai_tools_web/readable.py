"""The readable text of a page: HTML without what surrounds it, other texts as they are.

HTML is taken apart in a process of its own, in the run's sandbox and without its network: the
parsers are C code that a stranger's page is fed to, and a bad page can keep them busy for hours.
"""

from __future__ import annotations

import codecs
import sys
from pathlib import Path

from retrai_core import Limits, Sandbox, ToolError

from .page import Page

_HTML = ("text/html", "application/xhtml+xml")
_TEXTS = (
    "application/json",
    "application/javascript",
    "application/x-javascript",
    "application/toml",
    "application/x-yaml",
    "application/yaml",
    "application/x-sh",
)
_MAX_TEXT_BYTES = 4_000_000
_LIMITS = Limits(cpu_s=30, memory_bytes=2 << 30, output_bytes=2 * _MAX_TEXT_BYTES)


async def readable_text(page: Page, sandbox: Sandbox, timeout_s: float) -> str:
    """The text of a page.

    Raises:
        ToolError: it is no text, or cannot be taken apart.
    """
    kind = page.kind or _guessed(page.body)
    if kind in _HTML:
        return await _of_html(page, sandbox, timeout_s)
    if kind.startswith("text/") or kind in _TEXTS or kind.endswith(("+json", "+xml", "/xml")):
        return decoded(page)
    raise ToolError(f"{page.url} is {kind}, which is no text")


def decoded(page: Page) -> str:
    """The body as text, by the charset that the server names, else UTF-8; never fails."""
    try:
        codecs.lookup(page.charset)
    except LookupError:
        return page.body.decode("utf-8", "replace")
    return page.body.decode(page.charset, "replace")


def _guessed(body: bytes) -> str:
    start = body[:1024]
    if b"\0" in start:
        return "application/octet-stream"
    return (
        "text/html" if b"<html" in start.lower() or b"<!doctype" in start.lower() else "text/plain"
    )


async def _of_html(page: Page, sandbox: Sandbox, timeout_s: float) -> str:
    package = Path(__file__).parents[1]
    done = await sandbox.run(
        [sys.executable, "-I", "-m", f"{__package__}.extract", page.charset or "-", page.url],
        timeout_s=timeout_s,
        stdin=page.body,
        limits=_LIMITS,
        readable=[package, Path(sys.prefix), Path(sys.base_prefix)],
    )
    if done.timed_out:
        raise ToolError(f"the text of {page.url} was not found within {timeout_s:g} s")
    if done.exit_code != 0:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.exit_code}"])[-1]
        raise ToolError(f"the text of {page.url} cannot be found: {last[:300]}")
    return done.stdout
