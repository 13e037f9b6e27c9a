"""The README's picture is what the terminal shows of the recording beside it."""

from __future__ import annotations

import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def texts(svg: str) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg)


@pytest.fixture
def rendered() -> str:
    spec = spec_from_file_location("render_picture", DOCS / "render_picture.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.render()


def test_the_picture_is_up_to_date(rendered: str) -> None:
    drawn = (DOCS / "run.svg").read_text(encoding="utf-8")
    assert texts(drawn) == texts(rendered), "draw it again: python docs/render_picture.py"


def test_the_picture_asks_no_server_for_anything(rendered: str) -> None:
    assert "@font-face" not in rendered
    assert "url(http" not in rendered


def test_the_recording_tells_nothing_of_the_machine_it_was_made_on() -> None:
    for path in (DOCS / "recording").iterdir():
        assert not re.search(r"/(root|tmp|work)/", path.read_text(encoding="utf-8")), path.name
