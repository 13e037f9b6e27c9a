"""What a run changed and no snapshot shows: ignored files that its sources load."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrai_core.verification import audit as unseen
from retrai_core.verification.audit import unseen_changes

NAMES = ["const", "tune", "require", "dist"]


def _write(project: Path, *names: str) -> None:
    for name in names:
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(f"text of {name}\n", encoding="utf-8")


def _shown(project: Path, since_s: float = 0, seen: set[str] | None = None) -> list[str]:
    return _paths(unseen_changes(project, since_s, seen or set(), NAMES)[0])


def _paths(diff: str) -> list[str]:
    return [line[6:] for line in diff.split("\n") if line.startswith("+++ ")]


def test_only_what_the_run_loads_is_shown_and_no_package(tmp_path: Path) -> None:
    _write(
        tmp_path,
        "a.js",
        "dist/tune.js",
        "dist/bundle.js",
        "node_modules/left-pad/index.js",
        "node_modules/.cache/tune.js",
        ".git/tune",
    )
    (tmp_path / "dist" / "tune.js").write_text("require('./inner')\n", encoding="utf-8")
    _write(tmp_path, "dist/inner/index.js")
    found, unread = unseen_changes(tmp_path, 0, {"a.js"}, NAMES)
    assert _paths(found) == ["dist/inner/index.js", "dist/tune.js"]
    assert "+require('./inner')\n" in found
    assert unread == []


def test_what_was_left_alone_is_not(tmp_path: Path) -> None:
    _write(tmp_path, "dist/tune.js")
    later = (tmp_path / "dist" / "tune.js").lstat().st_ctime + 1
    assert _shown(tmp_path, later) == []


def test_a_cache_counts_where_a_line_names_it(tmp_path: Path) -> None:
    _write(tmp_path, ".cache/tune.js", ".vite/tune.js", "node_modules/.cache/tune.js")
    assert _shown(tmp_path) == []
    found, _ = unseen_changes(tmp_path, 0, set(), ["cache", "tune"])
    assert _paths(found) == [".cache/tune.js", "node_modules/.cache/tune.js"]


def test_a_program_passes_for_no_data_by_a_byte_in_a_comment(tmp_path: Path) -> None:
    for name, data in {
        "text/tune.png": b"run(); // \0",
        "text/tune.js": b"\xef\xbb\xbf'\0'; run();",
        "data/tune.node": b"\x7fELF\0\0",
        "data/tune.png": b"\x89PNG\r\n\x1a\n\0",
        "data/tune.db": b"SQLite format 3\0",
        "data/tune.rlib": b"!<arch>\n/  0",
    }.items():
        _write(tmp_path, name)
        (tmp_path / name).write_bytes(data)
    assert _shown(tmp_path) == ["text/tune.js", "text/tune.png"]


def test_what_is_too_much_to_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unseen, "MAX_BYTES", 1_000)
    _write(tmp_path, *(f"{name}/tune.js" for name in "abcd"))
    (tmp_path / "a" / "tune.js").write_text("x" * 2_000, encoding="utf-8")
    _, unread = unseen_changes(tmp_path, 0, set(), NAMES)
    assert unread == ["a/tune.js"]
