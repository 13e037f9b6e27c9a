"""The top command: what it lists, how it fails, and what it must not import."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from retrai_core import __version__
from retrai_core.cli.main import COMMANDS, main

HEAVY = (
    "asyncio",
    "importlib_metadata",
    "langchain_core",
    "langgraph",
    "litellm",
    "pluggy",
    "pydantic",
    "rich",
    "stevedore",
    "yaml",
)


def imported_by(*args: str) -> set[str]:
    """Top-level modules that a command has imported in a fresh interpreter."""
    code = (
        "import sys; from retrai_core.cli.main import main; main(sys.argv[1:]);"
        "print('|', *sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *args], capture_output=True, text=True, timeout=60, check=True
    )
    return set(done.stdout.rpartition("|")[2].split())


@pytest.mark.parametrize(
    "args", [["--help"], ["--version"], ["plugins", "--help"], ["run", "--help"]]
)
def test_light_commands_import_nothing_heavy_and_no_plugin(args: list[str]) -> None:
    imported = imported_by(*args)
    assert not imported & set(HEAVY)
    assert not {name for name in imported if name.startswith("retrai_")} - {"retrai_core"}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("args", [["--help"], ["plugins", "list"]])
def test_output_that_has_no_room_is_told_and_no_bug(args: list[str]) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "retrai_core", *args],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 70
    assert done.stderr.startswith("error: the output cannot be written: No space left on device")


def test_help_lists_every_command(retrai) -> None:
    code, out, _ = retrai("--help")
    assert code == 0
    assert all(f"  {name} " in out for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_loads_and_explains_itself(retrai, name: str) -> None:
    code, out, _ = retrai(name, "--help")
    assert (code, out[:6]) == (0, "Usage:")


def test_the_version_is_that_of_the_core(retrai) -> None:
    assert retrai("--version") == (0, f"retrai {__version__}\n", "")


def test_an_unknown_command_is_answered_with_the_nearest_one(retrai) -> None:
    code, out, err = retrai("rnu")
    assert (code, out) == (2, "")
    assert err.splitlines()[0] == "error: no such command: rnu (did you mean run?)"


@pytest.mark.parametrize("group", [[], ["runs"], ["plugins"], ["memory"]])
def test_a_group_alone_shows_its_help_page_and_nothing_else(retrai, group: list[str]) -> None:
    _, page, _ = retrai(*group, "--help")
    assert page.startswith("Usage: ")
    assert retrai(*group) == (2, "", page)


def test_an_unknown_option_is_one_line_and_exit_code_2(retrai) -> None:
    code, _, err = retrai("run", "--modle", "offline")
    assert code == 2
    assert "--modle" in err.splitlines()[0]
    assert "--model" in err.splitlines()[0]
    assert "Traceback" not in err


def test_a_bug_is_one_line_and_its_traceback_is_kept(
    retrai, own_folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Nobody foresaw a working directory that has been deleted.
    gone = own_folders / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    code, _, err = retrai("config", "show")
    assert code == 70
    assert len(err.splitlines()) == 1
    assert (own_folders / "state" / "last-error.log").read_text().startswith("Traceback")


def test_no_plugins_leaves_the_core_and_is_forgotten_afterwards(retrai) -> None:
    code, out, _ = retrai("--no-plugins", "plugins", "list", "--json")
    assert code == 0
    assert "retrai-core" in out
    assert "RETRAI_PLUGINS" not in os.environ


@pytest.mark.parametrize("command", [["run"], ["demo"], ["runs", "resume"], ["runs", "diff"]])
def test_help_names_no_bound_where_there_is_none(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command, "-h"]) == 0
    assert "None" not in capsys.readouterr().out
