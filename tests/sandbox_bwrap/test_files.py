"""Nothing outside the project can be written, and nothing of the user's read."""

from __future__ import annotations

import os
import pwd
import re
from pathlib import Path

import pytest

from retrai_core import View

from .conftest import SECRET, attempt, attempt_python

WRITES = {
    "a shell": 'echo changed > "$1"',
    "removing": 'rm -f "$1"',
    "moving": 'echo changed > mine; mv -f mine "$1"',
    "a symlink": 'ln -s "$1" link; echo changed > link',
    "a symlinked folder": 'ln -s "$(dirname "$1")" there; echo changed > there/notes.txt',
    "going up": 'echo changed > "../outside/notes.txt"',
    "a hard link": 'ln "$1" hard && echo changed > hard',
    "the parent's root": 'echo changed > "/proc/$PPID/root$1"',
    "python": "python3 -c \"import sys; open(sys.argv[1], 'w').write('changed')\" \"$1\"",
}


@pytest.mark.parametrize("how", WRITES)
async def test_a_file_outside_the_project_stays_as_it_is(walled, local, outside, how):
    notes = outside / "notes.txt"
    await attempt(walled, WRITES[how], notes)
    assert notes.read_text() == "as it was"
    for name in ("link", "there", "hard", "mine"):
        (walled.context.project / name).unlink(missing_ok=True)
    await attempt(local, WRITES[how], notes)
    assert not notes.exists() or notes.read_text() != "as it was", "the attack is none"


async def test_the_system_cannot_be_written(walled):
    done = await attempt(walled, "for f in /etc /usr /usr/bin /var /opt; do touch $f/x; done")
    assert done.stderr.count("Read-only file system") == 5
    assert not Path("/etc/x").exists()


SECRETS = [
    ".ssh/id_ed25519",
    ".aws/credentials",
    ".netrc",
    ".npmrc",
    ".config/gh/hosts.yml",
    ".cargo/credentials.toml",
    "letters/private.txt",
]


@pytest.mark.parametrize("name", SECRETS)
async def test_what_is_in_the_home_cannot_be_read(walled, local, home, name):
    line = 'cat "$1"; ln -s "$1" link; cat link; rm link'
    assert SECRET not in (await attempt(walled, line, home / name)).stdout
    assert SECRET in (await attempt(local, line, home / name)).stdout


async def test_no_secret_is_found_by_looking_everywhere(walled, local, tmp_path):
    line = 'grep -rIl "$1" "$2" 2>/dev/null | wc -l'
    assert (await attempt(walled, line, SECRET, tmp_path)).stdout == "0\n"
    assert int((await attempt(local, line, SECRET, tmp_path)).stdout) > len(SECRETS)


async def test_the_real_home_is_hidden_too(walled):
    real = pwd.getpwuid(0).pw_dir
    done = await attempt(walled, 'ls -A "$1"', real)
    hidden = {".ssh", ".bash_history", ".bashrc", ".profile", ".config", ".local"}
    assert not (hidden - {".config", ".local"}) & set(done.stdout.split())


async def test_the_baseline_and_the_key_cannot_be_reached(walled, local, context):
    line = 'cat "$1"'
    baseline = context.run_dir / "baseline.json"
    assert (await attempt(walled, line, baseline)).stdout == ""
    assert (await attempt(local, line, baseline)).stdout == SECRET


async def test_tool_chains_of_the_home_run_and_cannot_be_changed(walled, home):
    tool = home / ".cargo" / "bin" / "a-tool"
    done = await attempt(walled, '"$1"; echo changed > "$1"', tool)
    assert done.stdout == "the tool runs\n"
    assert "Read-only file system" in done.stderr
    assert "the tool runs" in tool.read_text()


async def test_harmless_settings_of_the_home_are_there(walled):
    assert (await attempt(walled, "cat ~/.gitconfig")).stdout == "[user]\n\tname = Jo\n"


async def test_settings_that_hold_a_token_are_not(make, home):
    with (home / ".gitconfig").open("a") as file:
        file.write(f"[url 'https://jo:{SECRET}@example.org']\n")
    sandbox = await make()
    assert (await attempt(sandbox, "cat ~/.gitconfig")).stdout == ""


async def test_a_program_finds_a_home_that_it_can_write(walled, home):
    line = "mkdir -p ~/.cache/a ~/.config/b && echo hello > ~/.config/b/c && cat ~/.config/b/c"
    assert (await attempt(walled, line)).stdout == "hello\n"
    assert not (home / ".config" / "b").exists()
    assert not (home / ".cache").exists()


async def test_an_environment_in_the_home_works(make, make_environment, context, home):
    environment = home / "environments" / "one"
    context.python = make_environment(environment)
    code = "import sys; print(sys.prefix)"
    assert (await attempt_python(await make(), code)).stdout.strip() == str(environment)


async def test_what_the_user_shows_and_hides_is_shown_and_hidden(make, home, outside):
    shown = await make(show=[str(home / "letters")])
    done = await attempt(shown, 'cat "$1"; echo x > "$1"', home / "letters" / "private.txt")
    assert SECRET in done.stdout
    assert "Read-only file system" in done.stderr
    hidden = await make(show=[str(outside)], hide=[str(outside / "notes.txt")])
    assert (await attempt(hidden, 'cat "$1"', outside / "notes.txt")).stdout == ""


async def test_no_environment_of_the_project_s_opens_the_home(
    make, make_environment, context, home, tmp_path
):
    context.python = make_environment(context.project / ".venv")
    letters = home / "letters"
    sandbox = await make()
    line = 'echo "home = $1" >> .venv/pyvenv.cfg; echo "$1" > .venv/lib/python*/site-packages/a.pth'
    await attempt(sandbox, line, letters)
    code = "import sys; print(open(sys.argv[1]).read())"
    for at_work in (sandbox, await make()):  # in this run, and in the next one
        assert SECRET not in (await attempt_python(at_work, code, letters / "private.txt")).stdout
    await attempt(sandbox, 'mv .venv elsewhere; ln -s "$1" .venv', letters)
    copy = tmp_path / "copy"
    copy.mkdir()
    view = View(shown={context.project: copy})
    done = await attempt(sandbox, 'cat "$1"', context.project / ".venv" / "private.txt", view=view)
    assert SECRET not in done.stdout


GIT = {
    "a hook": "echo evil > .git/hooks/pre-commit",
    "the configuration": "git config core.fsmonitor ./evil",
    "another .git": "mv .git old && git init -q . && git config core.fsmonitor ./evil",
    "another folder": "cp -r .git old && echo ../old > .git/commondir "
    "&& git config -f old/config core.fsmonitor ./evil",
    "hooks that were not there": "rmdir .git/hooks; mkdir -p .git/hooks; echo x > .git/hooks/a",
}
ASK_GIT = "git config --get core.fsmonitor; ls .git/hooks"


@pytest.mark.parametrize("how", GIT)
async def test_git_is_given_no_program_to_run_later(walled, local, context, how):
    await attempt(local, "git init -q --template= .")
    if how == "a hook":
        (context.project / ".git" / "hooks").mkdir()
    await attempt(walled, GIT[how])
    assert (await attempt(local, ASK_GIT)).stdout == ""
    await attempt(local, f"rm -rf old; {GIT[how]}")
    assert (await attempt(local, ASK_GIT)).stdout != "", "the attack is none"


async def test_a_worktree_stays_that_of_its_repository(walled, local, context):
    (context.project / ".git").write_text("gitdir: /somewhere\n")
    line = "rm -f .git; echo gitdir: evil > .git; cat .git"
    assert (await attempt(walled, line)).stdout == "gitdir: /somewhere\n"
    assert (await attempt(local, line)).stdout == "gitdir: evil\n"


async def test_git_works_within(walled):
    who = "git config user.name Jo && git config user.email jo@example.org"
    line = f"git init -q . && {who} && echo a > a && git add a && git commit -qm one"
    assert (await attempt(walled, line)).exit_code == 0
    line = "echo b >> a; git stash -q && git stash pop -q && git commit -qam two && git gc -q"
    done = await attempt(walled, f"{line} && git log --oneline")
    assert len(done.stdout.splitlines()) == 2, done.stderr


KERNEL = """
import os
for place, folders, names in os.walk("/proc"):
    if place == "/proc":
        folders[:] = [name for name in folders if not name.isdigit()]
    for name in names:
        path = os.path.join(place, name)
        try:
            if not os.path.islink(path):
                os.close(os.open(path, os.O_WRONLY))  # nothing is written
                print(path)
        except OSError:
            pass
"""


async def test_nothing_of_the_kernel_can_be_written(walled, local):
    found = (await attempt_python(walled, KERNEL)).stdout
    if os.getuid() != 0:  # what belongs to the command's own namespaces ends with them
        assert not {"core_pattern", "modprobe", "sysrq-trigger"} & set(re.split("[/\n]", found))
    else:
        assert found == ""
        assert "/proc/sys/kernel/core_pattern\n" in (await attempt_python(local, KERNEL)).stdout


async def test_folders_for_caches_are_those_that_the_caller_names(walled, outside, monkeypatch):
    show = 'echo "$GOCACHE,$XDG_CACHE_HOME"; echo x > "${GOCACHE:-/nowhere}/kept"'
    for name in ("GOCACHE", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, "/the/user/s")
    assert (await attempt(walled, show)).stdout == ",\n"
    given = {"GOCACHE": str(outside)}
    assert (await attempt(walled, show, env=given, writable=[outside])).stdout == f"{outside},\n"
    assert (outside / "kept").read_text() == "x\n"
