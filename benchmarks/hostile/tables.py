"""The tables of `docs/plugins/hosts.md`, from what was seen."""

from __future__ import annotations

import datetime as dt
import os
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from .commands import Done, run
from .hosts import HOST_ROWS, HOSTS, Host, HostRow
from .plugins import ROWS

_ROUNDS = 7
_CELLS = """\
For each host, the plugin is of the kind that every use of the host loads: a hook (for retrai also
an event sink). Each cell has three results: `--help` · the command that lists plugins · a use that
has nothing to do with the plugin. One word stands for three equal results.

- **dies**: an exit code that is not zero, a traceback, or none of the expected output
- **waits**: not done after 25 s (retrai's run with a sink that blocks ends 5 s after its work)
- **prints**: the output contains what the plugin prints, also before JSON
- **unlisted**: the list does not mention an installed plugin

`ok` only means that the command did its work. The other hosts do not notice that a plugin was made
for another version, took over a signal or changed the working directory. retrai warns and does not
use it."""
OK, DIES, WAITS, PRINTS, UNLISTED = "ok", "**dies**", "**waits**", "**prints**", "**unlisted**"


def host_tables(cache: Path, only: Sequence[str] | None) -> str:
    """Try every row against every host; the tables as Markdown."""
    versions = {host.name: host.install(cache.resolve()) for host in HOSTS}
    rows = [row for row in HOST_ROWS if only is None or row.retrai in only]
    found = {host.name: [_tried(host, row, cache.resolve()) for row in rows] for host in HOSTS}
    parts = [_measured_with(versions), _retrai_table(), _host_table(rows, found)]
    parts += [_help_costs(cache.resolve())]
    return "\n\n".join(parts) + "\n"


def _tried(host: Host, row: HostRow, cache: Path) -> list[str]:
    """The cells of one host and row: --help, the list, an ordinary use."""
    with tempfile.TemporaryDirectory(prefix="hostile-") as name:
        folder = Path(name)
        for part in ("site", "wheels", "project"):
            (folder / part).mkdir()
        for file, text in host.files.items():
            (folder / "project" / file).write_text(text)
        wheels = row.make(host)
        for wheel in (*host.beside, *wheels):
            wheel.install(folder / "site", folder / "wheels")
        asked = [
            (("--help",), ["sage"], DIES),
            (host.listing, [wheel.dist for wheel in wheels], UNLISTED),
            (host.use, [host.shows], DIES),
        ]
        cells = [
            _judged(_run(host, cache, folder, arguments, row.timeout_s), shows, otherwise)
            for arguments, shows, otherwise in asked
        ]
    print(f"{host.name:10} {row.title:45} {' '.join(cells)}", file=sys.stderr, flush=True)
    return cells


def _run(host: Host, cache: Path, folder: Path, arguments: Sequence[str], timeout_s: float) -> Done:
    environment = {
        "PATH": f"{cache / host.name / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": str(folder / "site"),
        "HOME": str(folder),
        "LLM_USER_PATH": str(folder / "llm"),
        "LANG": "C.UTF-8",
    }
    return run(host.command(cache, arguments), folder / "project", environment, timeout_s)


def _judged(done: Done, shows: Sequence[str], otherwise: str) -> str:
    if done.exit_code is None:
        return WAITS
    if done.exit_code != 0 or done.left or "Traceback (most recent call last)" in done.text:
        return DIES
    if any(words not in done.text for words in shows):
        return otherwise
    return PRINTS if "NOISE" in done.out.splitlines() else OK


def _measured_with(versions: dict[str, str]) -> str:
    hosts = ", ".join(f"{name} {number}" for name, number in versions.items())
    python = ".".join(map(str, sys.version_info[:3]))
    today = dt.datetime.now(tz=dt.UTC).date().isoformat()
    return (
        f"Seen on {today} with {hosts}, Python {python}, by "
        "`python benchmarks/hostile_plugins.py --hosts --cache FOLDER "
        "--write docs/plugins/hosts.md`."
    )


def _retrai_table() -> str:
    lines = ["## retrai", "", "| the plugin | a run that uses it |", "|---|---|"]
    lines += [f"| {row.title} | {row.outcome} |" for row in ROWS]
    return "\n".join(lines)


def _host_table(rows: Sequence[HostRow], found: dict[str, list[list[str]]]) -> str:
    lines = [
        "## The hosts",
        "",
        _CELLS,
        "",
        f"| the plugin | {' | '.join(host.name for host in HOSTS)} |",
        f"|---|{'---|' * len(HOSTS)}",
    ]
    for number, row in enumerate(rows):
        cells = [_short(found[host.name][number]) for host in HOSTS]
        lines.append(f"| {row.title} | {' | '.join(cells)} |")
    counts: list[str] = []
    for host in HOSTS:
        every = [cell for cells in found[host.name] for cell in cells]
        counts.append(f"{sum(cell != OK for cell in every)} of {len(every)}")
    lines.append(f"| commands that a plugin spoils | {' | '.join(counts)} |")
    return "\n".join(lines)


def _short(cells: Sequence[str]) -> str:
    """One word where all cells agree."""
    return cells[0] if len(set(cells)) == 1 else " · ".join(cells)


def _help_costs(cache: Path) -> str:
    """The CPU time of `--help` without any hostile plugin, as a ratio."""
    commands = {
        'python -c "import click"': [sys.executable, "-c", "import click"],
        **{host.name: host.command(cache, ["--help"]) for host in HOSTS},
    }
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    with tempfile.TemporaryDirectory(prefix="hostile-") as name:
        folder = Path(name, "project")
        folder.mkdir()
        environment = {"PATH": os.environ["PATH"], "HOME": name}
        for _ in range(_ROUNDS + 1):
            for label, command in commands.items():
                seconds[label].append(run(command, folder, environment, 120).cpu_s)
    # The first round wrote the byte code.
    medians = {label: statistics.median(times[1:]) for label, times in seconds.items()}
    base = medians['python -c "import click"']
    lines = [
        "## What `--help` costs",
        "",
        "CPU time without any hostile plugin, as a multiple of importing click alone.",
        "",
        f"| {' | '.join(['', *medians])} |".replace("python -c", "`python -c").replace(
            'click"', 'click"`'
        ),
        f"|---|{'---|' * len(medians)}",
        f"| ratio | {' | '.join(f'{value / base:.1f}' for value in medians.values())} |",
    ]
    return "\n".join(lines)
