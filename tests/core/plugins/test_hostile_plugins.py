"""Whatever a plugin does when it is imported, it harms itself and no other."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from retrai_core import PluginError
from retrai_core.plugins.catalog import Catalog
from retrai_core.plugins.probe import probe_plugin
from retrai_core.plugins.record import PluginRecord

SOUND = """
class Plugin(GoalBase):
    name = "bad"
    async def check(self, state, cwd):
        return None
    def system_prompt(self):
        return ""
"""
SOUND_MANIFEST = 'schema = 1\n[goals.good]\nneeds = ["read", "run"]\n'
START = "from retrai_core import GoalBase, Tool\n"
HOSTILE = {
    "raises": (f"{START}raise RuntimeError('at import')", "RuntimeError: at import"),
    "asserts": (f"{START}assert 1 == 2", "AssertionError"),
    "raises-base": (f"{START}raise GeneratorExit", "GeneratorExit"),
    "exits": (f"{START}raise SystemExit(3)", "ends the program"),
    "exits-quietly": (f"import sys\n{START}sys.exit()", "ends the program"),
    "prints": (f"{START}print('hello from a plugin'){SOUND}", "'hello from a plugin'"),
    "changes-folder": (f"{START}import os; os.chdir('/'){SOUND}", "working directory to /"),
    "changes-signal": (
        f"{START}import signal; signal.signal(signal.SIGTERM, lambda *_: None){SOUND}",
        "SIGTERM",
    ),
    "changes-and-raises": (f"{START}import os; os.chdir('/'); raise OSError('x')", "OSError: x"),
    "function": (f"{START}def Plugin(): pass", "not a subclass of retrai_core.GoalBase"),
    "other-kind": (f"{START}class Plugin(Tool): pass", "not a subclass of retrai_core.GoalBase"),
    "abstract": (f"{START}class Plugin(GoalBase): pass", "lacks check, system_prompt"),
    "nothing-there": (f"{START}Plugins = 1", "Plugin"),
    "syntax": ("def :", "SyntaxError"),
    "null-bytes": ("\0", "null bytes"),
    "missing-import": ("import absent_module_x", "absent_module_x"),
    "recursion": ("def f(): f()\nf()", "RecursionError"),
}


@pytest.fixture(params=sorted(HOSTILE))
def hostile(request: pytest.FixtureRequest, site: Any) -> tuple[Any, str]:
    code, told = HOSTILE[request.param]
    site.install_goal("bad-goal", "bad", code)
    site.install_goal("good-goal", "good")
    return site, told


def test_a_broken_plugin_says_what_it_did_and_leaves_the_process_as_it_was(
    hostile: tuple[Any, str], capfd: pytest.CaptureFixture[str]
) -> None:
    _, told = hostile
    before = (os.getcwd(), signal.getsignal(signal.SIGTERM), sys.stdout)
    catalog = Catalog.scan()
    record = catalog.find("goal", "bad")
    with pytest.raises(PluginError) as caught:
        catalog.load(record)
    assert told in str(caught.value)
    assert "goal `bad` of bad-goal 1.0 is broken" in str(caught.value)
    assert "pip install" in caught.value.hint
    assert record.status == "broken"
    assert record.load_ms is not None
    assert "Traceback" in record.traceback
    assert (os.getcwd(), signal.getsignal(signal.SIGTERM), sys.stdout) == before
    assert capfd.readouterr().out == ""
    # The next one loads, and the broken one stays broken without another try.
    good = catalog.load(catalog.find("goal", "good"))
    assert good.__name__ == "Plugin"  # type: ignore[attr-defined]  # it is a class
    with pytest.raises(PluginError, match="is broken"):
        catalog.load(catalog.find("goal", "bad"))


def test_listing_and_describing_do_not_notice_a_broken_plugin(hostile: tuple[Any, str]) -> None:
    records = {record.name: record.status for record in Catalog.scan().records("goal")}
    assert (records["bad"], records["good"]) == ("unloaded", "unloaded")


def test_a_missing_dependency_is_named_with_the_command_that_installs_it(site: Any) -> None:
    site.install_goal(
        "needy",
        "needy",
        "import absent_module_x",
        requires=("retrai-core>=0.1", "click", "Absent-Dist>=2,<3", "other>1; extra == 'dev'"),
    )
    catalog = Catalog.scan()
    with pytest.raises(PluginError, match="No module named 'absent_module_x'") as caught:
        catalog.load(catalog.find("goal", "needy"))
    assert "pip install 'Absent-Dist<3,>=2'" in caught.value.hint


def test_an_undeclared_dependency_is_guessed_by_its_module(site: Any) -> None:
    site.install_goal("needy", "needy", "import absent_module_x.part")
    catalog = Catalog.scan()
    with pytest.raises(PluginError) as caught:
        catalog.load(catalog.find("goal", "needy"))
    assert "`pip install absent_module_x`" in caught.value.hint


def test_a_broken_manifest_breaks_its_own_plugins_only(site: Any) -> None:
    site.install_goal("bad-goal", "bad", manifest="schema = 1\n[goals.bad\n")
    site.install_goal("good-goal", "good", manifest=SOUND_MANIFEST)
    catalog = Catalog.scan()
    with pytest.raises(PluginError, match=r"retrai\.toml"):
        catalog.load(catalog.find("goal", "bad"))
    assert catalog.load(catalog.find("goal", "good"))


def test_a_manifest_that_hides_what_the_class_needs_breaks_its_plugin(site: Any) -> None:
    site.install_goal("sly", "sly", manifest='schema = 1\n[goals.sly]\nneeds = ["read"]\n')
    catalog = Catalog.scan()
    with pytest.raises(
        PluginError, match=r"goal `sly` of sly 1\.0 is broken: .* hides .* needs run"
    ):
        catalog.load(catalog.find("goal", "sly"))


def test_a_loaded_plugin_is_ok_and_its_needs_are_known(site: Any) -> None:
    site.install_goal("good-goal", "good")
    catalog = Catalog.scan()
    record = catalog.find("goal", "good")
    assert record.needs is None
    catalog.load(record)
    assert (record.status, record.needs) == ("ok", ("read", "run"))
    assert record.summary == "a goal of the tests"
    assert catalog.load(record) is catalog.load(record)


def test_a_plugin_removed_between_scan_and_load_is_one_clear_error(site: Any) -> None:
    package = site.install_goal("brief", "brief")
    catalog = Catalog.scan()
    record = catalog.find("goal", "brief")
    (package / "plugin.py").unlink()
    with pytest.raises(PluginError, match=r"No module named 'brief\.plugin'") as caught:
        catalog.load(record)
    assert "pip install --force-reinstall brief" in caught.value.hint


@pytest.mark.parametrize("name", ["prints", "exits", "changes-folder"])
def test_a_child_process_tries_a_plugin_for_us(
    site: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.install_goal("bad-goal", "bad", HOSTILE[name][0])
    record = Catalog.scan().find("goal", "bad")
    probe_plugin(record)
    assert record.status == "broken"
    assert HOSTILE[name][1] in record.error
    assert "bad_goal" not in sys.modules


@pytest.mark.parametrize(
    ("code", "timeout_s", "told"),
    [
        ("import time; time.sleep(60)", 1, "longer than 1 s"),
        ("import os; os._exit(9)", 60, "ends with 9"),
    ],
)
def test_a_plugin_that_hangs_or_crashes_does_so_in_the_child(
    site: Any, code: str, timeout_s: float, told: str
) -> None:
    site.install_goal("bad-goal", "bad", code)
    record: PluginRecord = Catalog.scan().find("goal", "bad")
    probe_plugin(record, timeout_s)
    assert record.status == "broken"
    assert told in record.error


def test_a_logger_made_at_import_prints_after_the_import_and_not_during_it(
    site: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    site.install_goal(
        "logging-goal",
        "logging",
        f"{START}import logging, sys\nHANDLER = logging.StreamHandler(sys.stdout)\n"
        + SOUND.replace('"bad"', '"logging"'),
    )
    catalog = Catalog.scan()
    catalog.load(catalog.find("goal", "logging"))
    handler = sys.modules["logging_goal.plugin"].HANDLER
    handler.handle(logging.makeLogRecord({"msg": "after the import"}))
    handler.flush()
    assert capsys.readouterr().out == "after the import\n"


def test_help_and_list_work_with_every_hostile_plugin_installed(
    site: Any, child_environment: Mapping[str, str], tmp_path: Path
) -> None:
    for name, (code, _) in HOSTILE.items():
        site.install_goal(f"bad-{name}", name, code)
    site.install("no-manifest", entry_points=b"[retrai.goals]\n\xff\xfe\n", metadata=b"\xff\n")
    site.install("twin-a", entry_points="[retrai.frontends]\ntwin = twin_a:F\n")
    site.install("twin-b", entry_points="[retrai.frontends]\ntwin = nowhere:F\n", manifest="=")
    for arguments in (
        ["--help"],
        ["plugins", "list"],
        ["plugins", "show", "prints"],
        ["config", "show"],
    ):
        done = subprocess.run(
            [sys.executable, "-m", "retrai_core", *arguments],
            env=child_environment,
            check=False,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert "hello from a plugin" not in done.stdout.splitlines()
