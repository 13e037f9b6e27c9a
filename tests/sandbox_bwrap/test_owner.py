"""As root, in a project of another user's: commands are that user, behind the same walls."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

pytest.importorskip("retrai_sandbox_bwrap")

from retrai_core import View
from retrai_goal_support import temporary_prefix
from retrai_sandbox_bwrap.options import BwrapOptions
from retrai_sandbox_bwrap.sandbox import BwrapSandbox

from .conftest import SECRET, TIMEOUT_S, attempt

USER, GROUP, STRANGER = 1234, 2345, 4321
DAC_OVERRIDE = 1 << 1

pytestmark = [
    pytest.mark.skipif(os.getuid() != 0, reason="needs root, who may make another user's files"),
    pytest.mark.skipif(shutil.which("setpriv") is None, reason="needs setpriv"),
]


@pytest.fixture
async def make(context):
    """Builds the sandbox, which has to work wherever bubblewrap does."""
    trial = ["bwrap", "--unshare-user", "--unshare-pid", "--ro-bind", "/", "/", "true"]
    if shutil.which("bwrap") is None or subprocess.run(trial, check=False).returncode:  # noqa: ASYNC221
        pytest.skip("bwrap does not work here")
    async with AsyncExitStack() as stack:

        async def build(**options):
            sandbox = BwrapSandbox(BwrapOptions(grace_s=0.2, **options), context)
            stack.push_async_callback(sandbox.aclose)
            assert await sandbox.probe() is None
            return sandbox

        yield build


def own(path: Path, uid: int, gid: int | None = None, mode: int | None = None) -> Path:
    """Give `path` to a user."""
    os.chown(path, uid, uid if gid is None else gid)
    if mode is not None:
        path.chmod(mode)
    return path


def write(path: Path, uid: int, mode: int = 0o644) -> Path:
    """A file of a user's."""
    path.parent.mkdir(exist_ok=True)
    path.write_text("as it was\n")
    return own(path, uid, mode=mode)


@pytest.fixture
def theirs(context):
    """The project, all of it another user's."""
    write(context.project / "a.txt", USER, 0o600)
    return own(context.project, USER, mode=0o700)


@pytest.fixture
def mixed(theirs):
    """One in which root has worked too, and somebody else."""
    write(theirs / "root.txt", 0, 0o600)
    write(theirs / "stranger" / "s.txt", STRANGER, 0o600)
    own(theirs / "stranger", STRANGER, mode=0o700)
    return theirs


async def capabilities(sandbox) -> set[int]:
    line = "grep -E '^Cap(Inh|Prm|Eff|Bnd|Amb)' /proc/self/status"
    done = await attempt(sandbox, line)
    return {int(line.split()[1], 16) for line in done.stdout.splitlines()}


async def test_commands_are_the_owner_without_a_capability(make, theirs):
    walled = await make()
    done = await attempt(walled, "id -u; id -g; id -G; echo more >> a.txt; mkdir b; echo x > b/c")
    assert done.stdout.split() == [str(USER)] * 3
    assert done.stderr == ""
    made = [theirs / "a.txt", theirs / "b", theirs / "b" / "c"]
    assert {(path.stat().st_uid, path.stat().st_gid) for path in made} == {(USER, USER)}
    assert await capabilities(walled) == {0}


@pytest.mark.parametrize("kind", ["theirs", "mixed"])
async def test_it_gets_no_further_than_others(make, request, kind, home, other):
    request.getfixturevalue(kind)
    walled = await make()
    for line in (
        "cat /etc/shadow",
        f"cat {home}/.ssh/id_ed25519",
        "unshare --user true",
        "mount -t tmpfs none /mnt",
        "chown 0 a.txt",
        "setpriv --reuid 0 true",
        "echo x > /etc/retrai-was-here",
        "echo 1 > /proc/sys/user/max_user_namespaces",
        "echo x > /proc/sys/kernel/core_pattern",
        f"kill {other.pid}",
        "chmod u+s root.txt" if kind == "mixed" else "chmod u+s /bin/true",
    ):
        done = await attempt(walled, line)
        assert done.exit_code != 0, line
        assert SECRET not in done.stdout


async def test_each_file_of_a_mixed_tree_can_be_written(make, mixed):
    walled = await make()
    for name in ("a.txt", "root.txt", "stranger/s.txt"):
        done = await attempt(walled, '[ -w "$1" ] && echo more >> "$1" && cat "$1"', name)
        assert done.stdout == "as it was\nmore\n", done.stderr
    assert (await attempt(walled, "echo x > new.txt; mv root.txt moved.txt")).exit_code == 0
    assert (mixed / "new.txt").stat().st_uid == USER
    assert (mixed / "moved.txt").stat().st_uid == 0
    assert await capabilities(walled) == {DAC_OVERRIDE}


async def test_that_right_is_over_files_of_the_project_s_users_alone(make, mixed, outside):
    closed = write(outside / "closed.txt", 7777, 0o600)
    walled = await make(show=[str(outside)])
    assert (await attempt(walled, 'cat "$1"', closed)).stdout == ""


async def test_byte_code_of_root_s_makes_no_tree_a_mixed_one(make, theirs):
    (theirs / "__pycache__").mkdir()
    write(theirs / "__pycache__" / "a.cpython-311.pyc", 0)
    (theirs / ".retrai").mkdir()
    write(theirs / ".retrai" / "memory.json", 0)
    assert await capabilities(await make()) == {0}


async def test_files_that_a_group_shares_need_no_right(make, theirs):
    own(theirs, USER, GROUP, 0o2775)
    own(write(theirs / "b.txt", STRANGER), STRANGER, GROUP, 0o660)
    walled = await make()
    assert (await attempt(walled, "echo more >> b.txt; echo x > c.txt")).stderr == ""
    assert (theirs / "c.txt").stat().st_gid == GROUP
    assert await capabilities(walled) == {0}


async def test_in_a_folder_of_root_s_the_owner_of_most_files_counts(make, context):
    for name in "abc":
        write(context.project / f"{name}.txt", USER)
    walled = await make()
    assert (await attempt(walled, "id -u; echo x >> a.txt; echo y > d.txt")).stdout == f"{USER}\n"
    assert (context.project / "d.txt").stat().st_uid == USER


async def test_a_repository_that_root_made_says_nothing_of_the_owner(make, context):
    """Of an archive that was unpacked in a folder of root's, say."""
    write(context.project / "a.txt", USER)
    subprocess.run(["git", "init", "-q", str(context.project)], check=True)  # noqa: ASYNC221
    done = await attempt(await make(), "id -u; echo x >> a.txt; git add a.txt; git status --short")
    assert (done.stdout, done.stderr) == (f"{USER}\nA  a.txt\n", "")


async def test_folders_above_that_the_owner_cannot_enter_are_no_obstacle(make, context, theirs):
    if not os.access("/srv", os.W_OK):
        pytest.skip("no folder to use outside of those that are hidden")
    with tempfile.TemporaryDirectory(dir="/srv") as above:
        (Path(above) / "private.txt").write_text(SECRET)
        context.project = Path(shutil.copytree(theirs, Path(above) / "project"))
        own(context.project, USER)
        own(context.project / "a.txt", USER)
        walled = await make()
        done = await attempt(walled, "cat ../private.txt; echo more >> a.txt; cat a.txt")
        assert done.stdout == "as it was\nmore\n"


@pytest.mark.parametrize("shut", ["", "lib/python3.0/site-packages/package"])
@pytest.mark.parametrize("place", ["/srv", ""])
async def test_an_interpreter_that_only_root_can_read_can_be_started(
    make, context, theirs, place, shut
):
    """Made with a umask of 077, or with `mktemp -d`; in a folder that is hidden, or not."""
    if place and not os.access(place, os.W_OK):
        pytest.skip("no folder to use outside of those that are hidden")
    with tempfile.TemporaryDirectory(dir=place or None) as above:
        environment = Path(above) / "environment"
        package = environment / "lib" / "python3.0" / "site-packages" / "package"
        package.mkdir(parents=True)
        (environment / "bin").mkdir()
        (environment / "pyvenv.cfg").write_text("")
        (package / "__init__.py").write_text("it is read\n")
        python = environment / "bin" / "python"
        python.write_text('#!/bin/sh\nexec /bin/cat "$0" < /dev/null\n')
        for path in (environment, environment / "bin", python, Path(above)):
            path.chmod(0o755)
        (environment / shut).chmod(0o700)
        context.python = str(python)
        walled = await make()
        done = await attempt(walled, 'cat "$1"; "$2"', package / "__init__.py", python)
        assert done.stdout.startswith("it is read\n#!"), done.stderr
        assert (await attempt(walled, 'echo x > "$1"', python)).exit_code != 0
        assert (await attempt(walled, "cat /etc/shadow")).exit_code != 0
        assert await capabilities(walled) == {DAC_OVERRIDE}


async def test_a_home_below_what_only_root_can_enter_can_be_written(
    make, theirs, home, monkeypatch
):
    if not os.access("/srv", os.W_OK):
        pytest.skip("no folder to use outside of those that are hidden")
    with tempfile.TemporaryDirectory(dir="/srv") as above:
        own_home = Path(above) / "closed" / "home"
        own_home.mkdir(parents=True)
        own_home.parent.chmod(0o700)
        monkeypatch.setenv("HOME", str(own_home))
        done = await attempt(await make(), "touch ~/.new ~/.cache/new")
        assert done.exit_code == 0, done.stderr


async def test_copies_and_temporary_folders_are_theirs(make, context, theirs):
    copy = context.run_dir / "final" / "copy"
    write(copy.parent / "marker", 0)
    shutil.copytree(theirs, copy)
    report = Path(tempfile.mkdtemp(prefix=temporary_prefix("retrai-report")))
    keep = write(theirs.parent / "kept" / "a.txt", 0)
    walled = await make()
    view = View(shown={theirs: copy})
    try:
        line = 'echo more >> a.txt; echo x > b.txt; echo y > "$1/report"; echo z > "$2/no"'
        done = await attempt(
            walled, line, report, keep.parent, writable=[report, keep.parent], view=view
        )
        assert "report" not in done.stderr
        assert (report / "report").read_text() == "y\n"
    finally:
        shutil.rmtree(report)
    assert (copy / "a.txt").read_text() == "as it was\nmore\n"
    assert (theirs / "a.txt").read_text() == "as it was\n"
    assert keep.stat().st_uid == 0, "a folder of the user's was given away"


async def test_a_home_a_cache_and_temporary_files_can_be_written(make, theirs, home):
    line = 'd=$(mktemp -d); touch "$d/a" ~/.new ~/.cache/new ~/.cargo/new /dev/shm/new'
    done = await attempt(await make(), line)
    assert done.stderr.count("cannot touch") == 1, done.stderr
    assert ".cargo/new" in done.stderr, "a tool chain is for reading"


async def test_output_can_be_opened_again(make, theirs):
    walled = await make()
    done = await walled.run(
        "cat /dev/stdin > /dev/stderr; echo out > /dev/stdout", timeout_s=TIMEOUT_S, stdin=b"in\n"
    )
    assert (done.stdout, done.stderr) == ("out\n", "in\n")


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
@pytest.mark.parametrize("of_root", [False, True])
async def test_git_takes_the_repository(make, theirs, of_root):
    subprocess.run(  # noqa: ASYNC221 (nothing else runs yet)
        ["git", "init", "-q", str(theirs)], check=True, timeout=TIMEOUT_S
    )
    for folder, names, files in os.walk(theirs):
        for name in (*names, *files):
            inside = ".git" in f"{folder}/{name}"
            own(Path(folder, name), 0 if of_root and inside else USER)
    line = "git -c user.name=a -c user.email=b commit -q --allow-empty -m one && git status --short"
    done = await attempt(await make(), f"git add a.txt && {line}")
    assert done.exit_code == 0, done.stderr


async def test_a_program_that_is_not_there_is_said_to_be(make, theirs):
    walled = await make()
    with pytest.raises(Exception, match="does not exist, is not on PATH"):
        await walled.run(["no-such-program"], timeout_s=TIMEOUT_S)


@pytest.mark.parametrize("uid", [0, USER])
async def test_libraries_in_the_project_are_not_loaded_outside(make, context, monkeypatch, uid):
    own(context.project, uid)
    libraries = context.project / "lib"
    monkeypatch.setenv("LD_LIBRARY_PATH", str(libraries))
    walled = await make()
    libraries.mkdir()
    for name in ("libcap.so.2", "libselinux.so.1", "libcap-ng.so.0"):
        (libraries / name).write_text("not a library, but what an agent has put there")
    done = await walled.run(["/bin/sh", "-c", "echo $LD_LIBRARY_PATH"], timeout_s=TIMEOUT_S)
    assert done.stdout == f"{libraries}\n"
