"""A frontend with a parent is a subcommand of that command, imported only when it is run."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click
import pytest

from retrai_core.cli.lazy_group import LazyCommand
from retrai_core.cli.main import COMMANDS, make_group
from retrai_core.plugins.own_commands import OWN_COMMANDS

CODE = """
import click
from retrai_core import Frontend

class Plugin(Frontend):
    name = "NAME"
    summary = "does what it says"
    parent = "PARENT"

    def command(self):
        @click.command("NAME")
        @click.option("--loud", is_flag=True, help="Say it loud.")
        def do(loud):
            "Do what it says."
            click.echo("NAME was run" + "!" * loud)
        return do
"""
GROUP = """
import click
from retrai_core import Frontend

class Plugin(Frontend):
    name = "gallery"
    summary = "a gallery"

    def command(self):
        @click.group("gallery")
        def gallery():
            "A gallery."
        @gallery.command("open")
        def open_it():
            "Open it."
            click.echo("open")
        return gallery
"""
MANIFEST = """\
# Written by `retrai plugins manifest` from the classes; `--check` compares.
schema = 1

[frontends.NAME]
summary = "does what it says"
needs = []
"""


@pytest.fixture
def frontend(site: Any, project: Path) -> Callable[..., None]:
    def install(
        name: str,
        parent: str,
        code: str = CODE,
        *,
        dist: str = "",
        manifest: str | None = MANIFEST + 'parent = "PARENT"\n',
    ) -> None:
        dist = dist or f"acme-{name}"
        points = f"[retrai.frontends]\n{name} = {dist.replace('-', '_')}.plugin:Plugin\n"
        texts = [
            None if text is None else text.replace("NAME", name).replace("PARENT", parent)
            for text in (code, manifest)
        ]
        site.install(dist, entry_points=points, code=texts[0], manifest=texts[1])

    return install


def status(retrai: Any, name: str, *more: str) -> tuple[str, str]:
    """What `plugins list` says of a frontend: its status, and its note."""
    code, out, _ = retrai("plugins", "list", "--kind", "frontend", *more)
    assert code == 0
    row = next(line for line in out.splitlines() if line.startswith(name))
    notes = [line for line in out.splitlines() if line.startswith(f"{name}@")]
    return row.split()[5], notes[0] if notes else ""


def test_it_is_run_below_its_parent_and_nowhere_else(
    frontend: Callable[..., None], retrai: Any
) -> None:
    frontend("export", "runs")
    assert retrai("runs", "export", "--loud")[:2] == (0, "export was run!\n")
    assert status(retrai, "export") == ("unloaded", "")
    code, out, _ = retrai("runs", "--help")
    assert code == 0
    assert "Commands of plugins:\n  export  does what it says" in out
    assert "resume" in out
    assert "export" not in retrai("--help")[1]
    code, _, err = retrai("export")
    assert code == 2
    assert "no such command: export" in err
    assert "Usage: retrai runs export" in retrai("runs", "export", "--help")[1]
    assert retrai("runs", "list")[0] == 0


def test_the_help_pages_import_nothing_of_it(
    frontend: Callable[..., None], child_environment: Mapping[str, str]
) -> None:
    frontend("export", "runs", "raise SystemExit('imported')")
    for args in (["--help"], ["runs", "--help"], ["plugins", "list"]):
        done = subprocess.run(
            [sys.executable, "-m", "retrai_core", *args],
            env=child_environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert "imported" not in done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        assert ("export" in done.stdout) == (args != ["--help"])


def test_tab_completes_it_without_importing_it(frontend: Callable[..., None]) -> None:
    from click.shell_completion import ShellComplete

    frontend("export", "runs", "raise SystemExit('imported')")
    shell = ShellComplete(make_group(), {}, "retrai", "_RETRAI_COMPLETE")
    found = {item.value: item.help for item in shell.get_completions(["runs"], "")}
    assert found["export"] == "does what it says"
    assert "resume" in found
    assert [item.value for item in shell.get_completions(["runs"], "ex")] == ["export"]


@pytest.mark.parametrize(
    ("name", "parent", "told"),
    [
        ("list", "runs", "`retrai runs list` is a command of retrai's own"),
        ("again", "run", "`retrai run` has no subcommands"),
        ("again", "no-such", "there is no command `retrai no-such`"),
        ("config", "", "`retrai config` is a command of retrai's own"),
    ],
)
def test_one_that_nobody_could_run_says_why_and_retrai_s_own_goes_on(
    frontend: Callable[..., None], retrai: Any, name: str, parent: str, told: str
) -> None:
    frontend(name, parent)
    assert status(retrai, name)[0] == "broken"
    assert told in status(retrai, name)[1]
    assert told in retrai("plugins", "show", f"{name}@acme-{name}")[1]
    assert retrai("runs", "list")[0] == 0
    assert "was run" not in retrai("runs", "list")[1]
    assert retrai("config", "show")[0] == 0


def test_a_frontend_s_own_group_can_be_a_parent(frontend: Callable[..., None], retrai: Any) -> None:
    frontend("gallery", "", GROUP, manifest=MANIFEST)
    frontend("hang", "gallery")
    assert retrai("gallery", "open")[:2] == (0, "open\n")
    assert retrai("gallery", "hang")[:2] == (0, "hang was run\n")
    help_page = retrai("gallery", "--help")[1]
    assert "  hang  does what it says" in help_page
    assert "open" in help_page
    assert status(retrai, "hang", "--load") == ("ok", "")


def test_one_name_below_two_commands_is_no_conflict(
    frontend: Callable[..., None], retrai: Any
) -> None:
    frontend("export", "runs", dist="acme-a")
    frontend("export", "memory", dist="acme-b")
    frontend("export", "", manifest=MANIFEST, dist="acme-c")
    for args in (["runs", "export"], ["memory", "export"], ["export"]):
        assert retrai(*args)[:2] == (0, "export was run\n"), args
    frontend("export", "runs", dist="acme-d")
    code, _, err = retrai("runs", "export")
    assert code == 2
    assert "acme-a and acme-d" in err
    assert retrai("memory", "export")[0] == 0


def test_without_a_word_in_its_manifest_it_is_broken_with_the_command_that_mends_it(
    frontend: Callable[..., None], retrai: Any
) -> None:
    frontend("export", "runs", manifest=None)
    code, _, err = retrai("export")
    assert code == 2
    assert "`retrai plugins manifest acme-export` writes it" in err
    assert "which only a manifest can say" in status(retrai, "export", "--load")[1]


def test_an_unknown_subcommand_is_told_with_the_distribution_that_would_bring_it(
    site: Any, retrai: Any, project: Path
) -> None:
    hint = "[retrai.hints.frontends]\nruns export = acme-export\n[retrai.hints.sinks]\nx = acme-x\n"
    site.install("acme-hints", entry_points=hint, code=None)
    code, _, err = retrai("runs", "export")
    assert code == 2
    assert "`pip install acme-export` brings it" in err
    assert "no such command: runs sohw (did you mean show?)" in retrai("runs", "sohw")[2]


def test_the_table_of_retrai_s_own_commands_is_what_they_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RETRAI_PLUGINS", "--no-plugins")
    group, found = make_group(), {}
    for name in COMMANDS:
        with click.Context(group) as ctx:
            lazy = group.get_command(ctx, name)
            assert isinstance(lazy, LazyCommand)
            command = lazy.load()
            is_group = isinstance(command, click.Group)
            own = command.list_commands(ctx) if isinstance(command, click.Group) else []
            found[name] = frozenset(own) if is_group else None
    assert dict(OWN_COMMANDS) == found, "write them into plugins/own_commands.py"
