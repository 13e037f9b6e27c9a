"""A configuration that would take for ever to read is refused, with the place."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

LETTERS = "abcdefghi"
Command = Callable[..., tuple[int, str, str]]


def laughs(first: str, item: str) -> str:
    """Each line holds the one before nine times."""
    lines = [f"a: &a {first}"]
    for before, name in pairwise(LETTERS):
        lines.append(f"{name}: &{name} " + item.format(",".join([f"*{before}"] * 9)))
    return "\n".join(lines) + "\n"


BOMBS = {
    "lists": (laughs("[lol,lol,lol,lol,lol,lol,lol,lol,lol]", "[{}]"), 5),
    "merge keys": (laughs("{x: 1, y: 2}", "{{<<: [{}]}}"), 6),
    "a long text": ("a: &a " + "x" * 50_000 + "\nb: [*a, *a, *a, *a]\n", 2),
    "itself": ("goal: pytest\na: &a [*a]\n", 2),
    "itself as a key's value": ("a: &a {b: {c: *a}}\n", 1),
    "deep lists": ("goal: pytest\na: " + "[" * 5_000 + "]" * 5_000, 2),
    "deep blocks": ("".join(" " * level + "k:\n" for level in range(400)), 51),
    "deep by aliases": (
        "a0: &a0 [x]\n" + "".join(f"a{n + 1}: &a{n + 1} [*a{n}]\n" for n in range(2_000)),
        51,
    ),
}


@pytest.mark.parametrize("name", BOMBS)
@pytest.mark.parametrize("command", [("config", "show"), ("run",)])
def test_a_bomb_in_the_projects_file_is_refused(
    retrai: Command, project: Path, name: str, command: tuple[str, ...]
) -> None:
    text, line = BOMBS[name]
    path = project / ".retrai.yml"
    path.write_text(text)
    code, out, err = retrai(*command, "-C", project)
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {path} line {line}: ")
    assert len(err) < 500


def test_so_it_is_in_the_users_own(retrai: Command, project: Path, own_folders: Path) -> None:
    path = own_folders / "config" / "retrai" / "config.yml"
    path.parent.mkdir(parents=True)
    path.write_text("disabled_plugins: []\n" + BOMBS["lists"][0])
    for command in (("config", "show", "-C", project), ("plugins", "list")):
        code, _, err = retrai(*command)
        assert code == 2
        assert f"{path} line 6: aliases repeat" in err


def test_and_on_the_command_line(retrai: Command, project: Path) -> None:
    code, _, err = retrai("run", "-C", project, "--option", "args=" + "[" * 5_000)
    assert code == 2
    assert "--option args" in err


def test_honest_aliases_and_merge_keys_work(retrai: Command, project: Path) -> None:
    (project / ".retrai.yml").write_text(
        "goal: pytest\n"
        "plugins:\n"
        "  bash_exec: &limits {timeout_s: 30, limit_s: &long 60}\n"
        "  python_exec: *limits\n"
        "  run_pytest: {<<: *limits, timeout_s: *long}\n"
        "allow_edit: &globs ['tests/**', docs]\n"
        "no_tools: *globs\n"
    )
    code, out, err = retrai("config", "show", "-C", project, "--json")
    assert code == 0, err
    assert '"timeout_s": 60' in out


def test_a_file_that_is_far_too_long_is_refused(retrai: Command, project: Path) -> None:
    (project / ".retrai.yml").write_text("task: " + "x" * 1_000_000)
    code, _, err = retrai("config", "show", "-C", project)
    assert code == 2
    assert "larger than" in err


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_a_file_without_an_end_is_not_read(retrai: Command, project: Path, kind: str) -> None:
    path = project / ".retrai.yml"
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    code, _, err = retrai("config", "show", "-C", project)
    assert code == 2
    assert f"{path} cannot be read" in err
