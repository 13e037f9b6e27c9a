"""The built dashboard: current, small, without code in the page."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from pathlib import Path

import pytest

from ..served import Served

SERVER = Path(__file__).parents[3] / "plugins" / "retrai_server"
WEB = SERVER / "web"
STATIC = SERVER / "src" / "retrai_server" / "static"
BESIDE = (
    "public/icon.svg",
    "index.html",
    "package-lock.json",
    "package.json",
    "tsconfig.json",
    "vite.config.ts",
)
STAMP = "build.sha256"
MAX_FIRST_LOAD_BYTES = 300_000


def test_the_build_is_that_of_the_sources() -> None:
    """Otherwise: `make dashboard`. vite.config.ts makes the stamp in the same way."""
    inside = [path for path in (WEB / "src").rglob("*") if path.is_file()]
    sources = [*BESIDE, *(path.relative_to(WEB).as_posix() for path in inside)]
    built = [
        path.relative_to(STATIC).as_posix()
        for path in STATIC.rglob("*")
        if path.is_file() and path.name != STAMP
    ]
    lines = (STATIC / STAMP).read_text().splitlines()
    assert lines == [f"sources {_hash(WEB, sources)}", f"built {_hash(STATIC, built)}"]


def _hash(folder: Path, names: list[str]) -> str:
    found = hashlib.sha256()
    for name in sorted(names):
        found.update(f"{name}\0".encode() + (folder / name).read_bytes())
    return found.hexdigest()


def test_the_first_page_is_small() -> None:
    waiting = re.findall(r'(?:src|href)="/([^"]+)"', (STATIC / "index.html").read_text())
    loaded = {"index.html"}
    while waiting:
        name = waiting.pop()
        if name not in loaded:
            loaded.add(name)
            text = (STATIC / name).read_text()
            imported = re.findall(r'(?:from|import)\s*["`\']\./([^"`\']+)["`\']', text)
            waiting += [f"assets/{each}" for each in imported]
    assert "assets/index.js" in loaded
    size = sum(len(gzip.compress((STATIC / name).read_bytes())) for name in loaded)
    assert size <= MAX_FIRST_LOAD_BYTES
    assert not {name for name in loaded if "Diff" in name or "Chart" in name}


def test_the_page_holds_no_code_and_its_code_makes_none() -> None:
    page = (STATIC / "index.html").read_text()
    assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)", page)
    for path in STATIC.glob("assets/*.js"):
        assert not re.search(r"\beval\(|new Function\b|document\.write", path.read_text()), path
    sources = [path.read_text() for path in (WEB / "src").rglob("*") if path.is_file()]
    assert not any("v-html" in text or "innerHTML" in text for text in sources)


def test_the_lock_file_names_no_registry() -> None:
    lock = json.loads((WEB / "package-lock.json").read_text())
    assert not [name for name, entry in lock["packages"].items() if "resolved" in entry]


def test_the_pages_are_served_and_other_paths_are_views(served: Served) -> None:
    page = served.http.get("/")
    assert 'id="app"' in page.text
    assert page.headers["cache-control"] == "no-cache"
    assert served.http.get("/runs/abc").text == page.text
    assert served.http.get("/assets/index.js").headers["content-type"].startswith("text/javascript")
    assert served.http.get("/assets/nothing.js").status_code == 404
    assert served.http.get("/api/nothing").json()["error"] == "NotFound"


@pytest.mark.parametrize("path", ["/", "/runs/abc", "/assets/index.js", "/build.sha256"])
def test_the_pages_need_the_token(served: Served, path: str) -> None:
    answer = served.http.get(path, headers={"Authorization": "Bearer wrong"})
    assert answer.status_code == 401
    assert 'id="app"' not in answer.text
