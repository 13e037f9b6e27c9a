"""The index follows the files: one at a time, with processes that are killed, and damaged files."""

from __future__ import annotations

import os
import select
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retrai_codeindex import Index, IndexUnavailableError
from retrai_codeindex.store import index_path

CHILD = """
import sys
from pathlib import Path
from retrai_codeindex import Index

def show(done, total):
    print(done, flush=True)

if __name__ == "__main__":
    with Index.open(Path(sys.argv[1]), progress=show, jobs=int(sys.argv[2])) as index:
        print("indexed", index.stats().files, flush=True)
"""


def contents(index: Index) -> object:
    """All that an index answers, in a form to compare."""
    index.update(jobs=1)
    files = index.files()
    queries = ("alpha", "beta gamma", "run of the delta", "text words")
    return (
        files,
        [index.module_summary(path) for path in files],
        index.graph(),
        [index.search(query, 50) for query in queries],
        [index.callers(name) for name in ("alpha", "beta", "gamma")],
    )


NAMES = st.sampled_from(["alpha", "beta", "gamma", "delta"])
BODIES = st.lists(st.tuples(NAMES, NAMES), max_size=3).map(
    lambda pairs: "".join(f"def {a}(x):\n    x()\n    return {b}(x)\n\n" for a, b in pairs)
)
IMPORTS = st.lists(NAMES, max_size=2).map(
    lambda names: "".join(
        f"from {name} import *\nimport {name}\n{name}.beta({name})\n" for name in names
    )
)
SOURCES = st.one_of(
    st.builds(lambda a, b: a + b, IMPORTS, BODIES),
    st.just("def broken(:\n  alpha("),
    st.just("\0\1"),
    st.just("class Gamma(Gamma): alpha = 1\n"),
    st.just("text words of a run\n" * 70),
)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["alpha.py", "beta.py", "gamma/__init__.py", "notes.md", "delta.c"]),
        st.one_of(st.none(), SOURCES),
    ),
    min_size=1,
    max_size=6,
)


@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(steps=STEPS)
def test_an_updated_index_answers_as_a_fresh_one(steps: list[tuple[str, str | None]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "project"
        project.mkdir()
        with Index(project, Path(folder) / "kept.sqlite") as kept:
            for name, text in steps:
                file = project / name
                if text is None:
                    file.unlink(missing_ok=True)
                else:
                    file.parent.mkdir(exist_ok=True)
                    file.write_text(text)
                kept.update(jobs=1)
            with Index(project, Path(folder) / "fresh.sqlite") as fresh:
                assert contents(kept) == contents(fresh)


def test_many_changes_are_merged_and_nothing_is_lost(project, monkeypatch) -> None:
    from retrai_codeindex import postings

    monkeypatch.setattr(postings, "MIN_MERGED", 1)
    for number in range(20):
        project.write(f"m{number}.py", f"def alpha_{number}():\n    beta()\n")
    assert len(project.index.search("alpha", 50)) == 20
    for number in range(10):
        project.write(f"m{number}.py", f"def changed_{number}():\n    alpha_15()\n")
    (project.folder / "m19.py").unlink()

    with Index(project.folder, project.cache / "fresh.sqlite") as fresh:
        assert contents(project.index) == contents(fresh)
    db = sqlite3.connect(project.index.path)
    assert db.execute("SELECT count(*) FROM delta").fetchone() == (0,)
    db.close()


def test_only_changed_files_are_read_again(project) -> None:
    project.write("a.py", "def alpha(): pass\n")
    kept = project.write("b.py", "def beta(): pass\n")
    assert project.index.update().is_empty

    os.utime(kept, ns=(10**18, 10**18))  # the same content
    assert project.index.update().is_empty
    project.write("a.py", "def alphas(): pass\n")
    (project.folder / "b.py").unlink()
    update = Index(project.folder).update()
    assert (update.added, update.changed, update.removed) == (0, 1, 1)


def test_edges_of_unchanged_files_follow_what_they_call(project) -> None:
    project.write("a.py", "from b import beta\n\ndef alpha():\n    beta()\n")
    project.write("b.py", "def beta():\n    pass\n")
    assert [c.caller.name for c in project.index.callers("beta")] == ["a.alpha"]

    project.write("b.py", "# moved\n\n\ndef beta():\n    pass\n")
    (call,) = project.index.callers("beta")
    assert (call.caller.name, call.callee.start_line) == ("a.alpha", 4)

    (project.folder / "b.py").unlink()
    (call,) = project.index.callees("alpha")
    assert (call.callee.name, call.callee.path) == ("b.beta", "")


def many_files(project, count: int) -> None:
    for number in range(count):
        lines = (f"def alpha_{number}_{n}(x):\n    return alpha_0_{n}(x)\n" for n in range(20))
        file = project.write(f"m{number}.py", "".join(lines))
        os.utime(file, ns=(10**18, 10**18))  # what has just been written is read twice


def start(project, jobs: int) -> subprocess.Popen[str]:
    script = project.cache / "child.py"
    script.parent.mkdir(exist_ok=True)
    script.write_text(CHILD)
    words = [sys.executable, str(script), str(project.folder), str(jobs)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_killed_process_leaves_an_index_that_the_next_one_completes(project, jobs: int) -> None:
    many_files(project, 200)
    child = start(project, jobs)
    assert child.stdout is not None
    assert child.stdout.readline()  # in the middle of it
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()

    assert len(project.index.files()) == 200
    assert project.index.take_warnings() == []
    assert project.index.graph()["m7.alpha_7_3"] == []


def test_a_script_whose_work_is_not_guarded_is_told_so(project, tmp_path: Path) -> None:
    many_files(project, 200)
    script = tmp_path / "script.py"
    script.write_text(
        f"from retrai_codeindex import Index\nIndex.open({str(project.folder)!r}, jobs=2).close()\n"
    )
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 1
    last_line = done.stderr.splitlines()[-1]
    assert "UsageError: the processes that read files cannot start (in a script, write" in last_line


def test_two_processes_make_one_index(project) -> None:
    many_files(project, 160)
    children = [start(project, 1), start(project, 1)]
    outputs = [child.communicate()[0].splitlines() for child in children]

    assert [lines[-1] for lines in outputs] == ["indexed 160", "indexed 160"]
    assert sum(len(lines) > 1 for lines in outputs) == 1  # only one of them has read the files


def test_a_damaged_file_is_set_aside_and_made_anew(project) -> None:
    project.write("a.py", "def alpha(): pass\n")
    path = project.index.path
    project.close()
    path.write_bytes(b"no database at all" * 1000)

    assert project.symbols("alpha")[:1] == ["alpha"]
    (warning,) = project.index.take_warnings()
    assert "damaged" in warning
    assert [file for file in path.parent.iterdir() if ".damaged-" in file.name]


def test_pages_that_rot_are_found_when_they_are_read(project) -> None:
    for number in range(30):
        project.write(f"m{number}.py", f"def alpha_{number}():\n    pass\n" * 20)
    path = project.index.path
    project.close()
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    data = bytearray(path.read_bytes())
    data[8192:-4096] = b"\xff" * (len(data) - 12288)
    path.write_bytes(data)

    assert project.symbols("alpha_7")[:1] == ["alpha_7"]
    assert project.index.take_warnings()


def test_an_index_of_another_version_is_made_anew(project) -> None:
    project.write("a.py", "def alpha(): pass\n")
    path = project.index.path
    project.close()
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 99")
    db.close()

    assert project.symbols("alpha")[:1] == ["alpha"]
    (warning,) = project.index.take_warnings()
    assert "another version" in warning


def test_a_cache_folder_that_cannot_be_written_is_a_clear_error(project, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(IndexUnavailableError, match="RETRAI_CACHE_DIR"):
        Index.open(project.folder, path=tmp_path / "file" / "index.sqlite")


def test_a_full_disk_is_a_clear_error_and_nothing_is_lost(project) -> None:
    project.write("a.py", "def alpha(): pass\n")
    index = project.index
    index._file.db.execute("PRAGMA max_page_count = 1")
    for number in range(50):
        project.write(f"m{number}.py", f"def beta_{number}(): pass\n" * 50)
    with pytest.raises(IndexUnavailableError, match="full"):
        index.update()

    assert [hit.symbol for hit in index.search("alpha")] == ["alpha"]
    project.close()
    assert len(project.index.files()) == 51


def test_the_index_is_readable_for_its_owner_only(project) -> None:
    project.write("a.py", "def alpha(): pass\n")
    path = project.index.path
    assert path == index_path(project.folder)
    assert path.stat().st_mode & 0o077 == 0
    assert not list(project.folder.glob("**/*.sqlite*"))


def test_watching_ends_at_ctrl_c_without_a_word(project) -> None:
    project.write("a.py", "def alpha(): pass\n")
    command = [sys.executable, "-m", "retrai_core", "index", "-C", str(project.folder), "--watch"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as watching:
        assert watching.stdout is not None
        watching.stdout.readline()
        seen: list[object] = []
        while not seen:  # it does not say when it has begun to watch
            assert watching.poll() is None
            project.write("b.py", f"beta = {time.monotonic()}\n")
            seen, _, _ = select.select([watching.stdout], [], [], 0.5)
        watching.send_signal(signal.SIGINT)
        _, err = watching.communicate(timeout=60)
    assert (watching.returncode, err) == (0, "")
