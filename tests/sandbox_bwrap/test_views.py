"""What the guard wants kept from change, and shown in another's place, is."""

from __future__ import annotations

import shutil
import tempfile

import pytest

from retrai_core import View

from .conftest import attempt

CHANGES = {
    "a shell": "echo changed > tests/test_a.py",
    "appending": "echo changed >> tests/test_a.py",
    "sed": "sed -i s/as/is/ tests/test_a.py",
    "removing": "rm -f tests/test_a.py",
    "moving over it": "echo changed > new; mv -f new tests/test_a.py",
    "moving it away": "mv tests/test_a.py elsewhere",
    "copying": "echo changed > new; cp new tests/test_a.py",
    "its mode": "chmod 777 tests/test_a.py && echo changed > tests/test_a.py",
    "removing its folder": "rm -rf tests",
    "python": "python3 -c \"open('tests/test_a.py', 'w').write('changed')\"",
    "os.replace": "touch n; python3 -c \"import os; os.replace('n', 'tests/test_a.py')\"",
    "truncating": "truncate -s 0 tests/test_a.py",
    "a hard link": "ln tests/test_a.py hard && echo changed > hard",
    "unmounting": "umount tests/test_a.py; echo changed > tests/test_a.py",
}


@pytest.fixture
def test_file(context):
    path = context.project / "tests" / "test_a.py"
    path.parent.mkdir()
    path.write_text("as it was")
    return path


@pytest.mark.parametrize("how", CHANGES)
async def test_a_protected_file_stays(walled, local, test_file, how):
    view = View(read_only=frozenset({test_file}))
    done = await attempt(walled, CHANGES[how], view=view)
    assert test_file.read_text() == "as it was", done
    done = await attempt(local, CHANGES[how])
    assert not test_file.exists() or test_file.read_text() != "as it was" or "umount" in how


async def test_others_beside_it_can_be_written(walled, test_file):
    view = View(read_only=frozenset({test_file}))
    done = await attempt(
        walled, "echo new > tests/test_b.py; cat tests/test_a.py tests/test_b.py", view=view
    )
    assert done.stdout == "as it wasnew\n"


async def test_names_that_do_not_exist_leave_nothing_behind(walled, context):
    missing = {context.project / "conftest.py", context.project / "no" / "pytest.ini"}
    view = View(read_only=frozenset(missing))
    assert (await attempt(walled, "ls -A", view=view)).stdout == ""
    assert not list(context.project.iterdir())


async def test_a_symlink_in_its_place_shows_nothing_of_the_user(walled, context, home):
    (context.project / ".aws").symlink_to(home / ".aws")
    (context.project / "link").symlink_to(home / ".netrc")
    asked = {context.project / ".aws" / "credentials", context.project / "link"}
    view = View(read_only=frozenset(asked))
    done = await attempt(walled, "cat .aws/credentials link", view=view)
    assert done.stdout == ""


async def test_hundreds_of_protected_files_cost_no_command(walled, context):
    paths = {context.project / f"test_{number}.py" for number in range(600)}
    for path in paths:
        path.write_text("as it was")
    view = View(read_only=frozenset(paths))
    line = "for f in *.py; do echo changed > $f; done 2>/dev/null; ls | wc -l"
    done = await attempt(walled, line, view=view)
    assert done.stdout == "600\n"
    assert sum(path.read_text() == "as it was" for path in paths) >= 40


async def test_a_copy_is_shown_in_the_project_s_place(walled, context, tmp_path):
    (context.project / "which").write_text("the original")
    copy = tmp_path / "room" / "copy"
    copy.mkdir(parents=True)
    (copy / "which").write_text("the copy")
    (tmp_path / "room" / "above").write_text("above it")
    view = View(shown={context.project: copy, tmp_path / "room": tmp_path / "room"})
    line = 'cat "$1/which" which ../above; echo written > "$1/new"'
    done = await attempt(walled, line, context.project, cwd=copy, view=view)
    assert done.stdout == "the copythe copyabove it"
    assert (copy / "new").read_text() == "written\n"
    assert not (context.project / "new").exists()


async def test_a_copy_comes_with_the_environment_that_it_lacks(
    make, make_environment, context, tmp_path
):
    context.python = make_environment(context.project / ".venv")
    sandbox = await make()
    copy = tmp_path / "copy"
    copy.mkdir()
    view = View(shown={context.project: copy})
    done = await sandbox.run(
        [context.python, "-c", "print('runs')"], timeout_s=30, cwd=copy, view=view
    )
    assert done.stdout == "runs\n", done.stderr
    for place in (copy, context.project):
        line = ".venv/bin/python -c \"print('runs')\"; touch .venv/new 2>&1 || echo kept"
        done = await sandbox.run(line, timeout_s=30, cwd=place, view=view)
        assert done.stdout.startswith("runs\n"), done.stderr
        assert done.stdout.endswith("kept\n")
    assert not (context.project / ".venv" / "new").exists()


async def test_uv_runs_a_copy_without_installing_it(make, make_environment, context, tmp_path):
    if (uv := shutil.which("uv")) is None:
        pytest.skip("uv is not installed")
    context.python = make_environment(context.project / ".venv")
    sandbox, copy = await make(), tmp_path / "copy"
    copy.mkdir()
    (copy / "pyproject.toml").write_text(
        '[project]\nname = "shop"\nversion = "1"\nrequires-python = ">=3.9"\n'
        '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n'
    )
    line = f"{uv} run python -c 'import sys; print(sys.prefix)'"
    view = View(shown={context.project: copy})
    done = await sandbox.run(line, timeout_s=30, cwd=copy, view=view)
    assert done.stdout == f"{copy / '.venv'}\n", done.stderr


HUNTS = {
    "reading it": "cat tests/held/test_b.py",
    "searching": "grep -r found . ; find . -name test_b.py -exec cat {} +",
    "moving what is above it": "mv tests elsewhere; cat elsewhere/held/test_b.py",
    "linking": "ln -s tests/held link; ln tests/held/test_b.py hard; cat link/test_b.py hard",
    "removing": "rm -rf tests/held; cat tests/held/test_b.py",
    "unmounting": "umount tests/held; umount tests; cat tests/held/test_b.py",
}


@pytest.mark.parametrize("how", HUNTS)
async def test_a_folder_that_another_is_shown_for_stays_hidden(walled, context, tmp_path, how):
    held, empty = context.project / "tests" / "held", tmp_path / "empty"
    held.mkdir(parents=True)
    empty.mkdir()
    (held / "test_b.py").write_text("found")
    above = held.parent
    view = View(shown={held: empty, above: above})
    for line in (HUNTS[how], "cat */test_b.py */*/test_b.py"):
        assert "found" not in (await attempt(walled, line, view=view)).stdout
    assert (held / "test_b.py").read_text() == "found"
    done = await attempt(walled, "echo mine > tests/held/new; cat tests/held/new", view=view)
    assert (done.stdout, list(held.iterdir())) == ("mine\n", [held / "test_b.py"])


async def test_commands_of_one_kind_share_their_temporary_files(walled):
    view = View(scratch="agent")
    await attempt(walled, "echo kept > /tmp/a; echo kept > ~/.cache/b", view=view)
    assert (await attempt(walled, "cat /tmp/a ~/.cache/b", view=view)).stdout == "kept\nkept\n"
    for other in (View(scratch="check"), View(), View()):
        assert (await attempt(walled, "cat /tmp/a ~/.cache/b", view=other)).stdout == ""


async def test_a_symlink_left_in_tmp_leads_no_mount_astray(walled, tmp_path):
    if not tmp_path.is_relative_to("/tmp"):
        pytest.skip("the folders of tests lie elsewhere: no command can make a symlink there")
    view = View(scratch="agent")
    victim, report = tmp_path / "victim", tmp_path / "reports" / "one"
    victim.mkdir()
    report.mkdir(parents=True)
    # As if an earlier command had left it where the folder will be mounted.
    line = 'mkdir -p "$(dirname "$2")" && ln -s "$1" "$2" && echo planted'
    assert (await attempt(walled, line, victim, report.parent, view=view)).stdout == "planted\n"
    done = await attempt(walled, 'echo written > "$1/x"', report, writable=[report], view=view)
    assert (report / "x").read_text() == "written\n", done.stderr
    assert not list(victim.iterdir())


async def test_nothing_is_left_in_the_temporary_folder(make, tmp_path, monkeypatch):
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    sandbox = await make()
    view = View(scratch="agent")
    await attempt(
        sandbox, "mkdir -p /tmp/deep/er; touch /tmp/deep/er/x; chmod 000 /tmp/deep", view=view
    )
    await sandbox.aclose()
    assert not list(folder.iterdir())
