"""What a run changed and no snapshot shows: ignored files that its sources load, packages."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrai_core.runs import unseen
from retrai_core.runs.unseen import changed_files, leads_to_unwalked, unseen_changes

DIFF = "--- a/a.js\n+++ b/a.js\n@@ -1 +1,2 @@\n a\n+const tune = require('./dist/tune');\n"


def _write(project: Path, *names: str) -> None:
    for name in names:
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(f"text of {name}\n", encoding="utf-8")


def _shown(project: Path, since_s: float = 0, seen: set[str] | None = None) -> list[str]:
    found = unseen_changes(project, changed_files(project, since_s), seen or set(), DIFF)
    return [line[6:] for line in found.diff.split("\n") if line.startswith("+++ ")]


def test_only_what_the_run_loads_is_shown_and_packages_always_are(tmp_path: Path) -> None:
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
    found = unseen_changes(tmp_path, changed_files(tmp_path, 0), {"a.js"}, DIFF)
    shown = [line[6:] for line in found.diff.split("\n") if line.startswith("+++ ")]
    assert shown == ["dist/inner/index.js", "dist/tune.js", "node_modules/left-pad/index.js"]
    assert "+require('./inner')\n" in found.diff
    assert found.unread == []


def test_what_was_left_alone_is_not(tmp_path: Path) -> None:
    _write(tmp_path, "dist/tune.js")
    later = (tmp_path / "dist" / "tune.js").lstat().st_ctime + 1
    assert _shown(tmp_path, later) == []


@pytest.mark.parametrize(
    "hidden",
    [
        "node_modules/pad/.cache/more.js",
        "node_modules/pad/__pycache__/more.js",
        "node_modules/pad/.git/more.js",
    ],
)
def test_a_package_hides_nothing_in_a_folder_of_its_own(hidden: str, tmp_path: Path) -> None:
    _write(tmp_path, hidden)
    assert _shown(tmp_path) == [hidden]


def test_a_cache_counts_where_a_line_names_it(tmp_path: Path) -> None:
    _write(tmp_path, ".cache/tune.js", ".vite/tune.js", "node_modules/.cache/tune.js")
    assert _shown(tmp_path) == []
    diff = DIFF.replace("./dist/tune", "./.cache/tune")
    found = unseen_changes(tmp_path, changed_files(tmp_path, 0), set(), diff)
    shown = [line[6:] for line in found.diff.split("\n") if line.startswith("+++ ")]
    assert shown == [".cache/tune.js", "node_modules/.cache/tune.js"]


def test_a_package_is_no_environment_by_its_mark(tmp_path: Path) -> None:
    _write(tmp_path, "node_modules/pad/index.js", "node_modules/pad/pyvenv.cfg")
    assert "node_modules/pad/index.js" in _shown(tmp_path)


def test_what_a_link_among_the_packages_leads_to_counts_too(tmp_path: Path) -> None:
    _write(tmp_path, "out/padding/index.js")
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "pad").symlink_to("../out/padding")
    assert _shown(tmp_path) == ["out/padding/index.js"]


def test_a_folder_that_is_linked_as_a_package_counts_with_all_its_files(tmp_path: Path) -> None:
    _write(tmp_path, "out/padding/package.json", "out/padding/lib/main-file.js", "out/other.js")
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "pad").symlink_to("../out/padding")
    assert _shown(tmp_path) == ["out/padding/lib/main-file.js", "out/padding/package.json"]


@pytest.mark.parametrize(
    ("target", "leads"),
    [
        ("../../outside/pad", True),
        ("../.git/pad", True),
        ("../env/lib/pad", True),
        ("../env/lib/pad/index.js", True),
        ("../out/pad", False),
        ("../out/pad/index.js", False),
        ("other", False),
        ("../../nowhere", False),
    ],
)
def test_a_link_to_what_was_changed_where_nobody_looks_is_known(
    target: str, leads: bool, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    _write(tmp_path, "outside/pad/index.js")
    _write(project, ".git/pad/index.js", "env/lib/pad/index.js", "out/pad/index.js")
    _write(project, "env/pyvenv.cfg", "node_modules/other/index.js")
    link = "node_modules/pad"
    (project / link).symlink_to(target)
    assert leads_to_unwalked(project, link, 0) == leads
    later = (project / link).lstat().st_ctime + 1
    assert not leads_to_unwalked(project, link, later)


def test_more_behind_a_link_than_is_looked_at_counts_as_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unseen, "MAX_LED_TO", 2)
    _write(tmp_path, "outside/a.js", "outside/b.js", "project/node_modules/x/x.js")
    (tmp_path / "project" / "node_modules" / "pad").symlink_to(tmp_path / "outside")
    later = (tmp_path / "outside").lstat().st_ctime + 1
    assert leads_to_unwalked(tmp_path / "project", "node_modules/pad", later)


def test_a_link_in_the_place_of_the_packages_is_known(tmp_path: Path) -> None:
    _write(tmp_path, "out/pad/index.js")
    (tmp_path / "node_modules").symlink_to("out")
    (tmp_path / "other").symlink_to("out")
    found = [file.path for file in changed_files(tmp_path, 0) if file.leads_elsewhere]
    assert found == ["node_modules"]


def test_a_program_passes_for_no_data_by_a_byte_in_a_comment(tmp_path: Path) -> None:
    (tmp_path / "node_modules" / "pad").mkdir(parents=True)
    for name, data in {
        "program.png": b"run(); // \0",
        "program.js": b"\xef\xbb\xbf'\0'; run();",
        "library.node": b"\x7fELF\0\0",
        "picture.png": b"\x89PNG\r\n\x1a\n\0",
        "data.db": b"SQLite format 3\0",
        "code.rlib": b"!<arch>\n/  0",
    }.items():
        (tmp_path / "node_modules" / "pad" / name).write_bytes(data)
    assert _shown(tmp_path) == [f"node_modules/pad/program.{end}" for end in ("js", "png")]


def test_what_is_too_much_to_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unseen, "MAX_FILES", 2)
    monkeypatch.setattr(unseen, "MAX_BYTES", 1_000)
    _write(tmp_path, *(f"node_modules/pad/{name}.js" for name in "abcd"))
    (tmp_path / "node_modules" / "pad" / "a.js").write_text("x" * 2_000, encoding="utf-8")
    found = unseen_changes(tmp_path, changed_files(tmp_path, 0), set(), DIFF)
    assert found.unread == ["node_modules/pad/a.js", "node_modules/pad/d.js"]
