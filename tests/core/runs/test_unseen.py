"""What a run changed and no snapshot shows: ignored files that its sources load, packages."""

from __future__ import annotations

from pathlib import Path

from retrai_core.runs.unseen import unseen_changes

DIFF = "--- a/a.js\n+++ b/a.js\n@@ -1 +1,2 @@\n a\n+const tune = require('./dist/tune');\n"


def _write(project: Path, *names: str) -> None:
    for name in names:
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(f"text of {name}\n", encoding="utf-8")


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
    found = unseen_changes(tmp_path, 0, {"a.js"}, DIFF)
    shown = [line[6:] for line in found.split("\n") if line.startswith("+++ ")]
    assert shown == ["dist/inner/index.js", "dist/tune.js", "node_modules/left-pad/index.js"]
    assert "+require('./inner')\n" in found


def test_what_was_left_alone_is_not(tmp_path: Path) -> None:
    _write(tmp_path, "dist/tune.js")
    later = (tmp_path / "dist" / "tune.js").lstat().st_ctime + 1
    assert unseen_changes(tmp_path, later, set(), DIFF) == ""
