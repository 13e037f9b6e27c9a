"""Any project, in any language, with one place broken and mended again: is that accepted, and when?

    python benchmarks/mended.py PROJECT GOAL COMMAND SOURCE [SOURCE ...]
        [--each 3] [--seed 1] [--option KEY=VALUE ...]

COMMAND is the plain check, a shell line. In a copy of the project one operator of a SOURCE is
swapped so that COMMAND fails, the copy is committed to a new repository of git (with `node_modules`
and `target` ignored), and the run's model writes the file as it was. Prints a line for each: the
place, how the run ended, what the check takes, how many times as long the verification after it
took, and what the record says against the fix; notes on other answers are only counted. Exits with
1 when a run is not achieved.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from counts import positive
from real_releases import OTHER_ANSWERS, run

CHECK_LIMIT_S = 120
SWAPS = {
    " < ": " <= ",
    " > ": " >= ",
    " <= ": " < ",
    " >= ": " > ",
    " == ": " != ",
    " != ": " == ",
    " === ": " !== ",
    " !== ": " === ",
    " && ": " || ",
    " + ": " - ",
    " * ": " + ",
    "++": "--",
    "true": "false",
}
COMMENTS = ("//", "/*", "*", "#")
COMMIT = (
    "git init -q && printf 'node_modules\\ntarget\\n' > .gitignore && git add -A && "
    "git -c user.name=x -c user.email=x@localhost commit -q -m 'One place is broken'"
)


def main() -> int:
    """Break and mend; the exit status says whether every run was achieved."""
    parser = argparse.ArgumentParser(description="One broken place of a project, mended again.")
    parser.add_argument("project", type=Path)
    parser.add_argument("goal")
    parser.add_argument("command")
    parser.add_argument("sources", nargs="+", metavar="source")
    parser.add_argument("--each", type=positive, default=3, help="so many places")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--option", action="append", default=[], help="of the goal: key=value")
    asked = parser.parse_args()
    ends: list[bool] = []
    # Not below /tmp, which the sandbox hides.
    with tempfile.TemporaryDirectory(prefix="retrai-mended-", dir=Path.home()) as folder:
        for number, (place, name, text, broken) in enumerate(places(asked)):
            project = Path(folder, str(number), asked.project.name)
            shutil.copytree(asked.project, project, symlinks=True)
            (project / name).write_text(broken, encoding="utf-8")
            if not fails(asked.command, project):
                continue
            shutil.rmtree(project)  # with all that the command has left
            shutil.copytree(asked.project, project, symlinks=True)
            (project / name).write_text(broken, encoding="utf-8")
            subprocess.run(COMMIT, shell=True, cwd=project, check=True)
            fix = {"name": "file_write", "args": {"path": name, "content": text}}
            record = run(asked.goal, project, Path(sys.executable), [fix], asked.option)
            ends.append(record["status"] == "achieved")
            print(f"{place}: {told(record, project.parent)}", flush=True)
            if len(ends) == asked.each:
                break
    print(f"{sum(ends)} of {len(ends)} achieved")
    return 0 if ends and all(ends) else 1


def places(asked: argparse.Namespace) -> Iterator[tuple[str, str, str, str]]:
    """Places to break in random order: where, the file, its text, and its text when broken."""
    found: list[tuple[str, int, str, str]] = []
    texts = {name: (asked.project / name).read_text(encoding="utf-8") for name in asked.sources}
    for name, text in texts.items():
        code = text.partition("#[cfg(test)]")[0]  # what follows in Rust belongs to the check
        for number, line in enumerate(code.split("\n")):
            if not line.lstrip().startswith(COMMENTS):
                found += [(name, number, old, new) for old, new in SWAPS.items() if old in line]
    random.Random(asked.seed).shuffle(found)
    for name, number, old, new in found:
        lines = texts[name].split("\n")
        lines[number] = lines[number].replace(old, new, 1)
        yield f"{name}:{number + 1} `{lines[number].strip()}`", name, texts[name], "\n".join(lines)


def fails(command: str, project: Path) -> bool:
    """Whether a shell line fails in the project; one that does not end is no such failure."""
    with suppress(subprocess.TimeoutExpired):
        done = subprocess.run(
            command,
            shell=True,
            cwd=project,
            capture_output=True,
            check=False,
            timeout=CHECK_LIMIT_S,
        )
        return done.returncode != 0
    return False


def told(record: dict[str, object], room: Path) -> str:
    """How a run ended, what its verification took, and what is said against the fix."""
    (log,) = room.rglob("events.jsonl")
    events = [json.loads(line) for line in log.read_bytes().splitlines()]
    checks = [
        (event["ts"], event["payload"]["duration_s"])
        for event in events
        if event["kind"] == "goal_check" and event["payload"]["phase"] == "iteration"
    ]
    found = [str(one) for one in record.get("findings", ())]
    against = [one for one in found if not one.startswith(OTHER_ANSWERS)]
    parts = [str(record["status"]), f"{len(found) - len(against)} notes on other answers", *against]
    if record["status"] != "achieved":
        parts.append(str(record["reason"]))
    elif checks:
        ended, check_s = checks[-1]
        times = (events[-1]["ts"] - ended) / check_s
        parts.insert(
            1, f"a check takes {check_s:.1f} s, the verification {times:.1f} times as long"
        )
    return "; ".join(parts)


if __name__ == "__main__":
    sys.exit(main())
