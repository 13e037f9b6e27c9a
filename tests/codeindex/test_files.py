"""Which files are indexed, and what hard ones become."""

from __future__ import annotations

import os
from pathlib import Path

from retrai_codeindex import Index


def test_an_empty_project_has_an_empty_index(project) -> None:
    assert project.index.search("anything") == []
    assert project.index.graph() == {}
    assert project.index.stats().files == 0


def test_ignore_files_version_control_and_vendored_folders_are_left_out(project) -> None:
    project.write(".gitignore", "build/\n*.log\n!keep.log\n")
    project.write("sub/.gitignore", "/secret.py\n")
    project.write(".ignore", "big.txt\n")
    for path in (
        *("a.py", "keep.log", "sub/b.py"),
        *("build/x.py", "x.log", "sub/secret.py", "big.txt", ".git/config", "node_modules/m/i.js"),
        *("env/pyvenv.cfg", "env/lib/site.py", "__pycache__/a.py"),
    ):
        project.write(path, "word = 1\n")

    index = project.index
    names = {name for name in index.files() if not name.endswith("ignore")}
    assert names == {"a.py", "keep.log", "sub/b.py"}
    assert sorted(index.update().vendored) == ["env", "node_modules"]


def test_binary_minified_and_huge_files_are_counted(project) -> None:
    project.write("a.bin", b"\x7fELF\0\0\0\0")
    project.write("lib.min.js", "var a=1;" * 2000)
    project.write("huge.txt", b"x" * 20_000_001)
    project.write("a.py", "def alpha(): pass\n")

    stats = project.index.stats()
    assert stats.skipped == {"binary": 1, "minified": 1, "too large": 1}
    assert stats.files == 1


def test_a_file_over_a_megabyte_is_indexed_by_blocks_only(project) -> None:
    project.write("big.py", "def alpha(): pass\n" + "# a comment line\n" * 70_000)

    assert project.index.definition("alpha") == []
    assert project.index.search("alpha")[0].path == "big.py"


def test_ten_megabytes_on_one_line_are_no_problem(project) -> None:
    project.write("line.txt", "zebra " + "word " * 2_000_000)

    (hit,) = project.index.search("zebra")
    assert (hit.path, hit.start_line, hit.end_line) == ("line.txt", 1, 1)


def test_symlinks_are_not_followed(project, tmp_path: Path) -> None:
    outside = tmp_path / "outside.py"
    outside.write_text("def hidden(): pass\n")
    project.write("a.py", "def alpha(): pass\n")
    (project.folder / "loop").symlink_to(project.folder)
    (project.folder / "out.py").symlink_to(outside)

    assert list(project.index.files()) == ["a.py"]


def test_encodings_that_lie_are_read_as_far_as_they_go(project) -> None:
    project.write("latin.py", "# -*- coding: utf-8 -*-\ndef caf\xe9(): pass\n".encode("latin-1"))
    project.write("wide.py", "def wide(): pass\n".encode("utf-16"))
    project.write("mark.py", b"\xef\xbb\xbfdef mark(): pass\r\n")
    project.write("half.py", 'def half():\n    return "\\ud800"\n')

    symbols = {
        symbol for name in ("café", "wide", "mark", "half") for symbol in project.symbols(name)
    }
    assert {"café", "wide", "mark", "half"} <= symbols


def test_syntax_errors_leave_what_parses(project) -> None:
    project.write(
        "a.py",
        "def good():\n    return 1\n\ndef broken(:\n    pass\n\nclass C:\n    def m(self): pass\n",
    )

    index = project.index
    assert [d.start_line for d in index.definition("C.m")] == [8]
    assert index.stats().partly == 1


def test_code_that_is_nested_too_deep_for_the_parser_is_read(project) -> None:
    deep = "(\n" * 5000 + "1" + ")\n" * 5000
    project.write("deep.py", f"x = {deep}\ndef alpha(): pass\n")
    project.write("sum.py", "x = (" + " +\n".join(["1"] * 5000) + ")\ndef beta(): pass\n")
    project.write("deep.c", f"int f(void) {{ return {deep}; }}\n")

    assert project.symbols("beta")[:1] != []
    assert set(project.index.files()) == {"deep.py", "sum.py", "deep.c"}


def test_names_that_are_no_text_do_no_harm(project) -> None:
    name = os.fsencode(project.folder) + b"/caf\xe9.py"
    with open(name, "wb") as file:
        file.write(b"def alpha(): pass\n")

    assert project.index.update() is not None


def test_files_that_vanish_while_they_are_read(project) -> None:
    project.write("a.py", "def alpha(): pass\n")
    fifo = project.folder / "pipe.py"
    os.mkfifo(fifo)
    unreadable = project.write("b.py", "def beta(): pass\n")
    unreadable.chmod(0)

    assert "a.py" in project.index.files()
    assert "pipe.py" not in project.index.files()


def test_two_paths_of_a_project_have_one_index(project, tmp_path: Path) -> None:
    project.write("a.py", "def alpha(): pass\n")
    (tmp_path / "link").symlink_to(project.folder)

    with Index(tmp_path / "link") as index:
        assert index.path == project.index.path
