"""retrai's cells of the table: four commands with each hostile plugin installed."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .bystander import BYSTANDER
from .commands import Done, run
from .making import Hostile

COMMANDS = ("--help", "plugins list", "unrelated run", "run that uses it")
TIMEOUT_S = 240.0
START = "import sys; from retrai_core.cli.main import main; sys.exit(main())"
"""What pip writes into the `retrai` script."""


class Place:
    """A project and a folder of installed distributions, made anew for each row.

    Args:
        folder: an empty folder for all of it.
        row: the hostile plugin that is installed beside the bystander.

    Attributes:
        switches: environment variables for the commands, beside those that are always set.
    """

    def __init__(self, folder: Path, row: Hostile) -> None:
        self.row = row
        self.switches: dict[str, str] = {}
        self.site, self.project = folder / "site", folder / "project"
        self.state, wheels = folder / "state", folder / "wheels"
        for path in (self.site, self.project, self.state, wheels):
            path.mkdir(parents=True)
        for wheel in (BYSTANDER, *row.wheels):
            wheel.install(self.site, wheels)

    @property
    def environment(self) -> dict[str, str]:
        """No plugin switches and no configuration of this machine's user."""
        kept = {key: value for key, value in os.environ.items() if not key.startswith("RETRAI_")}
        home = str(self.project.parent)
        return {
            **kept,
            "PYTHONPATH": str(self.site),
            "HOME": home,
            "XDG_STATE_HOME": str(self.state),
            "XDG_CONFIG_HOME": f"{home}/config",
            "COLUMNS": "200",
            "RETRAI_TRUST": "1",
            **self.switches,
        }

    def fresh(self, config: Mapping[str, Any]) -> None:
        """Break the project again, and configure it; JSON is YAML too."""
        (self.project / "a.txt").write_text("wrong\n")
        (self.project / ".retrai.yml").write_text(
            json.dumps({"memory": "none", "python": sys.executable, **config})
        )

    def retrai(self, *arguments: str) -> Done:
        """Run a retrai command in the project."""
        command = [sys.executable, "-c", START, *arguments]
        return run(command, self.project, self.environment, TIMEOUT_S)

    def log(self) -> str:
        """What the run logs and the journals of tool calls hold."""
        names = ("events.jsonl", "journal.jsonl")
        logs = [path for name in names for path in self.state.glob(f"retrai/runs/*/{name}")]
        return "".join(path.read_text() for path in logs)


def problems_of(folder: Path, row: Hostile, commands: Sequence[str] = COMMANDS) -> dict[str, str]:
    """What is not as documented, by command; an empty text where all is well."""
    place = Place(folder, row)
    judges = {
        COMMANDS[0]: _help,
        COMMANDS[1]: _listing,
        COMMANDS[2]: _bystander_run,
        COMMANDS[3]: _using_run,
    }
    return {command: judges[command](place) for command in commands}


def _help(place: Place) -> str:
    done = place.retrai("--help")
    return _quiet(done, 0) or _lacks(done.out, ["plugins", "Work on a project"])


def _listing(place: Place) -> str:
    done = place.retrai("plugins", "list", "--json")
    if problem := _quiet(done, 0):
        return problem
    listed = json.loads(done.out)["plugins"]
    found = [plugin["status"] for plugin in listed if plugin["name"] == place.row.name]
    if set(found) != {place.row.status}:
        return f"listed as {found}, not {place.row.status}"
    return _quiet(place.retrai("plugins", "list"), 0)


def _bystander_run(place: Place) -> str:
    place.fresh({})
    done = place.retrai("run", "held", "-m", "player", "-n", "2")
    return _tidy(done, place.row.bystander_exit_code)


def _using_run(place: Place) -> str:
    row = place.row
    place.fresh(row.config)
    done = place.retrai("run", *row.arguments)
    problem = _tidy(done, row.exit_code) or _lacks(done.text, row.says)
    if not problem and row.exit_code == 2:
        problem = _lacks(done.err, ["error: ", "hint: "])
    log = place.log()
    if len(log) > 1_000_000:
        return f"the run log holds {len(log)} characters"
    if done.peak_mb > 2500:
        return f"it held {done.peak_mb:.0f} MB"
    return problem or _lacks(log, row.logged)


def _quiet(done: Done, exit_code: int) -> str:
    problem = _tidy(done, exit_code)
    return problem or (f"it says on standard error: {done.err.strip()}" if done.err else "")


def _tidy(done: Done, exit_code: int) -> str:
    """No other exit code, no traceback, nothing of the plugin's on our output, nothing left."""
    if done.exit_code is None:
        return f"it hangs: {done.text[-300:]}"
    if "Traceback" in done.text:
        return f"a traceback: {done.text[-600:]}"
    if done.exit_code != exit_code:
        return f"exit code {done.exit_code}, not {exit_code}: {done.text[-600:]}"
    if "NOISE" in done.out:
        return "the plugin's print is in the output"
    return f"left running: {done.left}" if done.left else ""


def _lacks(text: str, wanted: Sequence[str]) -> str:
    missing = [words for words in wanted if words not in text]
    return f"it does not say {missing}: {text[-600:]}" if missing else ""
