"""Writes what was seen between the markers of a page."""

from __future__ import annotations

from pathlib import Path

_BEGIN, _END = "<!-- seen: begin -->", "<!-- seen: end -->"


def write_page(path: Path, text: str) -> None:
    """Put `text` between the page's markers."""
    page = path.read_text(encoding="utf-8")
    before, _, rest = page.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    path.write_text(f"{before}{_BEGIN}\n\n{text}\n{_END}{after}", encoding="utf-8")
