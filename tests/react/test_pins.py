"""Pinned items over HTTP."""

from __future__ import annotations

import stat
import uuid
from pathlib import Path
from typing import Any

import pytest

from retrai_react.pins import PinStore

from .wire import Service


@pytest.fixture
def pins(react: Service) -> str:
    """The route of a project without pins."""
    route = f"/api/projects/{react.project}/pins"
    react.http.delete(route)
    return route


def test_pins_are_kept_listed_and_removed(react: Service, pins: str) -> None:
    text = react.http.post(pins, json={"type": "text", "text": "in cents", "title": "units"})
    file = react.http.post(pins, json={"type": "file", "path": "./shop.py", "start_line": 2})
    assert (text.status_code, file.status_code) == (201, 201)
    assert file.json() == {
        "id": file.json()["id"],
        "type": "file",
        "path": "shop.py",
        "start_line": 2,
        "end_line": None,
        "title": "",
    }
    assert react.http.get(pins).json() == [text.json(), file.json()]
    alias = f"/api/project/{react.project}/pinned_context"
    assert react.http.get(alias).json() == [text.json(), file.json()]
    removed = react.http.delete(f"{alias}/{text.json()['id']}")
    assert removed.json() == {"removed": 1}
    assert react.http.get(pins).json() == [file.json()]
    assert react.http.delete(f"{pins}/{text.json()['id']}").status_code == 404
    assert react.http.delete(pins).json() == {"removed": 1}
    assert react.http.get(pins).json() == []
    kept = react.served.state / "react" / "pins.sqlite"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


@pytest.mark.parametrize("project", [str(uuid.UUID(int=1)), "nothing"])
def test_an_unknown_project_is_404(react: Service, project: str) -> None:
    for route in (f"/api/projects/{project}/pins", f"/api/project/{project}/pinned_context"):
        assert react.http.get(route).status_code == 404
        assert react.http.delete(route).status_code == 404
        assert react.http.post(route, json={"type": "text", "text": "x"}).status_code == 404


@pytest.mark.parametrize(
    ("item", "field"),
    [
        ({"type": "picture"}, "type"),
        ({"type": "text"}, "text"),
        ({"type": "file"}, "path"),
        ({"type": "file", "path": "../x"}, "path"),
        ({"type": "file", "path": "/etc/passwd"}, "path"),
        ({"type": "file", "path": "gone.py"}, "path"),
        ({"type": "file", "path": "."}, "path"),
        ({"type": "file", "path": "shop.py", "start_line": 3, "end_line": 2}, "end_line"),
        ({"type": "file", "path": "shop.py", "start_line": 0}, "start_line"),
    ],
)
def test_a_wrong_item_is_refused(
    react: Service, pins: str, item: dict[str, Any], field: str
) -> None:
    answer = react.http.post(pins, json=item)
    assert answer.status_code == 400, answer.text
    assert list(answer.json()["details"]["fieldErrors"]) == [field]
    assert react.http.get(pins).json() == []


def test_a_project_has_room_for_200(react: Service, pins: str) -> None:
    store = PinStore(react.served.state / "react" / "pins.sqlite")
    for number in range(200):
        item = {"type": "text", "text": str(number), "title": ""}
        store.add(uuid.UUID(react.project), item)
    full = react.http.post(pins, json={"type": "text", "text": "one more"})
    assert full.status_code == 400
    assert full.json()["details"]["formErrors"] == ["a project has 200 pins"]
    react.http.delete(pins)


def test_a_file_that_is_gone_later_is_left_out(react: Service, pins: str) -> None:
    file = Path(react.folder, "soon.py")
    file.write_text("gone = 1\n")
    pin = react.http.post(pins, json={"type": "file", "path": "soon.py"}).json()["id"]
    file.unlink()
    step = react.step(pinned_item_ids_to_include=[pin])
    assert any(pin in line and "does not exist" in line for line in step["warnings"])
