"""Run as a program: HTML on standard input, its readable text as Markdown on standard output."""

from __future__ import annotations

import codecs
import re
import sys
from importlib import import_module
from typing import Any

_BLANK_LINES = re.compile(r"\n\s*\n\s*\n+")


def main() -> int:
    """The arguments are the charset that the server names, or `-`, and the page's address."""
    charset, url = sys.argv[1:3]
    body = sys.stdin.buffer.read()
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]  # it is a real file
    sys.stdout.write(text_of(body, charset, url))
    return 0


def text_of(body: bytes, charset: str, url: str) -> str:
    """The page's title and its text; everything that it says where no main part can be told."""
    # Neither has types.
    trafilatura: Any = import_module("trafilatura")
    html: Any = import_module("lxml.html")
    page: bytes | str = body
    try:
        codecs.lookup(charset)
        page = body.decode(charset, "replace")
    except LookupError:
        pass  # trafilatura looks into the page for it
    tree = trafilatura.load_html(page)
    if tree is None:
        return ""
    title = " ".join((tree.findtext(".//title") or "").split())
    text = trafilatura.extract(
        tree,
        url=url,
        output_format="markdown",
        favor_recall=True,
        include_comments=False,
        include_formatting=True,
        include_links=True,
        include_tables=True,
    )
    if not text:
        tree = html.fromstring(page) if isinstance(page, str) else html.fromstring(body)
        for gone in tree.xpath("//script|//style|//noscript|//template"):
            gone.drop_tree()
        text = _BLANK_LINES.sub("\n\n", tree.text_content()).strip()
    return f"# {title}\n\n{text}" if title and title not in text[: len(title) + 10] else text


if __name__ == "__main__":
    sys.exit(main())
