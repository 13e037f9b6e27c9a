"""retrai and four other hosts of plugins: how they are installed, asked, and plugged into."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path

from .bystander import BYSTANDER
from .retrai_cells import START
from .wheels import Wheel


@dataclass(frozen=True)
class Host:
    """A host of plugins.

    Attributes:
        name: of its distribution and its command.
        group: the entry point group of its plugins.
        start: the imports that a plugin needs.
        mark: what stands before a hook's `def`.
        hook: a hook that its ordinary use calls, without the closing parenthesis.
        listing: the arguments that list plugins.
        use: the arguments of an ordinary use.
        shows: what that prints.
        files: what its project holds.
        beside: sound wheels that are installed too.
        core: the distribution that a plugin requires.
    """

    name: str
    group: str
    start: str
    mark: str
    hook: str
    listing: Sequence[str]
    use: Sequence[str]
    shows: str
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    beside: Sequence[Wheel] = ()
    core: str = ""

    def command(self, cache: Path, arguments: Sequence[str]) -> list[str]:
        """The command line, for the host in `cache`."""
        return [str(cache / self.name / "bin" / self.name), *arguments]

    def install(self, cache: Path) -> str:
        """Install it with uv unless that was done before; its version."""
        folder = cache / self.name
        if not (folder / "bin" / self.name).exists():
            cache.mkdir(parents=True, exist_ok=True)
            for command in (
                ["uv", "venv", "-q", "--clear", "-p", sys.executable, str(folder)],
                ["uv", "pip", "install", "-q", "-p", f"{folder}/bin/python", self.name],
            ):
                subprocess.run(command, check=True)
        code = f"import importlib.metadata as m; print(m.version({self.name!r}))"
        done = subprocess.run(
            [folder / "bin/python", "-c", code], check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def hook_code(self, body: str, extra: str = "") -> str:
        """A plugin with one hook."""
        return f"{self.start}\n{self.mark}\n{self.hook}{extra}):\n    {body}\n"


class Retrai(Host):
    """retrai itself, as it is installed where this runs."""

    def command(self, cache: Path, arguments: Sequence[str]) -> list[str]:
        """The command line of this interpreter's retrai."""
        return [sys.executable, "-c", START, *arguments]

    def install(self, cache: Path) -> str:
        """It is there; its version."""
        return version(self.core)


_QUERY = "/_memory.json?sql=select+41%2B1&_shape=arrays"

HOSTS = (
    Retrai(
        "retrai",
        "retrai.hooks",
        "from retrai_core import hookimpl",
        "@hookimpl",
        "def system_prompt(goal",
        ("plugins", "list"),
        ("run", "held", "-m", "player"),
        "achieved",
        {"a.txt": "wrong\n", ".retrai.yml": "memory: none\n"},
        beside=[BYSTANDER],
        core="retrai-core",
    ),
    Host(
        "llm",
        "llm",
        "import llm",
        "@llm.hookimpl",
        "def register_commands(cli",
        ("plugins",),
        ("keys", "path"),
        "keys.json",
    ),
    Host(
        "pytest",
        "pytest11",
        "import pytest",
        "@pytest.hookimpl",
        "def pytest_runtest_logreport(report",
        ("--trace-config", "--collect-only"),
        ("test_sum.py",),
        "1 passed",
        {"test_sum.py": "def test_sum():\n    assert 1 + 1 == 2\n", "pytest.ini": "[pytest]\n"},
    ),
    Host(
        "tox",
        "tox",
        "from tox.plugin import impl",
        "@impl",
        "def tox_before_run_commands(tox_env",
        ("--version",),
        ("run", "-e", "py"),
        "py: OK",
        {
            "tox.ini": "[tox]\nenvlist = py\n[testenv]\npackage = skip\n"
            'commands = python -c "print(2)"\n'
        },
    ),
    Host(
        "datasette",
        "datasette",
        "from datasette import hookimpl",
        "@hookimpl",
        "def prepare_connection(conn",
        ("plugins",),
        (
            "--memory",
            "--metadata",
            "about.json",
            "--get",
            "/_memory.json?sql=select+41%2B1&_shape=arrays",
        ),
        "42",
        {"about.json": "{}"},
    ),
)


@dataclass(frozen=True)
class HostRow:
    """One way to be bad, for all hosts.

    Attributes:
        title: as in retrai's rows.
        retrai: the name of retrai's row.
        make: the wheels, for a host.
        timeout_s: after which a command counts as waiting.
    """

    title: str
    retrai: str
    make: Callable[[Host], Sequence[Wheel]]
    timeout_s: float = 90.0


_WAITING_S = 25.0


def _wheel(
    host: Host, name: str, code: str, *, target: str = "", dist: str = "", **more: object
) -> Wheel:
    dist = dist or f"hostile-{name}"
    package = dist.replace("-", "_")
    lines = [f"{name} = {package}.plugin{target}"]
    return Wheel(dist, {host.group: lines}, code, **more)  # type: ignore[arg-type]  # handed on


def _code(
    name: str, code: str, *, sound: bool = False, **more: object
) -> Callable[[Host], list[Wheel]]:
    """The same code for every host, before a hook that does nothing where `sound`."""

    def make(host: Host) -> list[Wheel]:
        whole = f"{code}\n{host.hook_code('return None')}" if sound else code
        return [_wheel(host, name, whole, **more)]

    return make


def _hook(name: str, body: str, extra: str = "") -> Callable[[Host], list[Wheel]]:
    return lambda host: [_wheel(host, name, host.hook_code(body, extra))]


def _sink(name: str, body: str) -> Callable[[Host], list[Wheel]]:
    """What hears of each use: a hook; retrai has a kind of plugin for that."""

    def make(host: Host) -> list[Wheel]:
        if not isinstance(host, Retrai):
            return _hook(name, body)(host)
        method = f"def on_event(self, event):\n        {body}"
        code = f"from retrai_core import EventSink\nclass Plugin(EventSink):\n    name = {name!r}\n"
        made = _wheel(host, name, f"{code}    {method}\n", target=":Plugin")
        return [replace(made, entry_points={"retrai.sinks": made.entry_points[host.group]})]

    return make


def _newer(host: Host) -> list[Wheel]:
    return [
        _wheel(
            host,
            "newer",
            host.hook_code("return None"),
            requires=[f"{host.core or host.name}>=999"],
        )
    ]


def _twins(host: Host) -> list[Wheel]:
    code = host.hook_code("return None")
    return [_wheel(host, "twin", code, dist=f"hostile-twin-{letter}") for letter in "ab"]


HOST_ROWS = (
    HostRow("raises at import", "raises", _code("raises", "raise RuntimeError('at import')")),
    HostRow("misses a dependency", "needy", _code("needy", "import absent_module_x")),
    HostRow("is of the wrong type", "function", _code("wrong", "Plugin = 42", target=":Plugin")),
    HostRow("entry point leads to nothing", "nothing", _code("nothing", "", target=":Plugin")),
    HostRow("calls `sys.exit` at import", "exits", _code("exits", "import sys; sys.exit(0)")),
    HostRow("prints at import", "prints", _code("prints", "print('NOISE')", sound=True)),
    HostRow(
        "changes the working directory at import",
        "moves",
        _code("moves", "import os; os.chdir('/')", sound=True),
    ),
    HostRow(
        "changes a signal handler at import",
        "signals",
        _code("signals", "import signal; signal.signal(2, signal.SIG_IGN)", sound=True),
    ),
    HostRow(
        "sleeps 30 s at import",
        "sleeps",
        _code("sleeps", "import time; time.sleep(30)", sound=True),
        _WAITING_S,
    ),
    HostRow("has the same name as another", "twin", _twins),
    HostRow("needs a newer host", "newer", _newer),
    HostRow(
        "metadata left by a removed distribution",
        "stale",
        _code("stale", "", sound=True, leftover=True),
    ),
    HostRow(
        "metadata that is not ASCII",
        "größe-測試",
        _code("größe-測試", "", sound=True, dist="hostile-unicode", summary="Größe, 測試"),
    ),
    HostRow(
        "entry point name with spaces",
        "two words",
        _code("two words", "", sound=True, dist="hostile-spaces"),
    ),
    HostRow(
        "hook with an unknown argument", "odd-hook", _hook("odd-hook", "return None", ", colour")
    ),
    HostRow(
        "hook (sink) that raises", "sink-raises", _sink("sink-raises", "raise OSError('full')")
    ),
    HostRow(
        "hook (sink) that blocks",
        "sink-blocks",
        _sink("sink-blocks", "import time; time.sleep(3600)"),
        _WAITING_S,
    ),
)
