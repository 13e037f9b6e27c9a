"""Any project, in any language, with one operator broken and put right again: is that accepted?

    python benchmarks/broken_places.py PROJECT GOAL COMMAND SOURCE [SOURCE ...]
        [--each 3] [--seed 1] [--option KEY=VALUE ...]

COMMAND is the plain check, a shell line. In a copy of the project one operator of a SOURCE is
swapped so that COMMAND fails, the copy is committed to a new repository of git (with `node_modules`
and `target` ignored), and the run's model writes the file as it was. Prints a line for each: the
broken line, how the run ended, what the check takes, how many times as long the verification after
it took, and what the record says against the fix; notes on other answers are only counted. Exits
with 1 when a run is not achieved.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from counts import positive
from real_releases import OTHER_ANSWERS, run

LIMIT_S = 120
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
    "git init -q && printf 'node_modules\\ntarget\\n' >> .gitignore && git add -A && "
    "git -c user.name=x -c user.email=x@localhost commit -q -m 'One operator is broken'"
)


def main() -> int:
    """Break and put right; the exit status says whether every run was achieved."""
    parser = argparse.ArgumentParser(description="One broken operator of a project, put right.")
    parser.add_argument("project", type=Path)
    parser.add_argument("goal")
    parser.add_argument("command")
    parser.add_argument("sources", nargs="+", metavar="source")
    parser.add_argument("--each", type=positive, default=3, help="so many places")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--option", action="append", default=[], help="of the goal: key=value")
    options = parser.parse_args()
    ends: list[bool] = []
    # Not below /tmp, which the sandbox hides.
    with tempfile.TemporaryDirectory(prefix="retrai-broken-", dir=Path.home()) as folder:
        project = Path(folder, options.project.name)
        for name, line, broken in places(options.project, options.sources, options.seed):
            copy_with(options.project, project, name, broken)
            if not fails(options.command, project):
                continue
            copy_with(options.project, project, name, broken)  # without what the command has left
            subprocess.run(COMMIT, shell=True, cwd=project, check=True)
            text = (options.project / name).read_text(encoding="utf-8")
            fix = {"name": "file_write", "args": {"path": name, "content": text}}
            record = run(options.goal, project, Path(sys.executable), [fix], options.option)
            ends.append(record["status"] == "achieved")
            print(f"{name} `{line}`: {summary(record, project.with_name('state'))}", flush=True)
            if len(ends) == options.each:
                break
    print(f"{sum(ends)} of {len(ends)} achieved")
    return 0 if ends and all(ends) else 1


def places(project: Path, sources: list[str], seed: int) -> Iterator[tuple[str, str, str]]:
    """Lines to break, in random order: the file, the broken line, and the text with it."""
    found: list[tuple[str, int, str, str]] = []
    texts = {name: (project / name).read_text(encoding="utf-8") for name in sources}
    for name, text in texts.items():
        code = text.partition("#[cfg(test)]")[0]  # what follows in Rust belongs to the check
        for number, line in enumerate(code.split("\n")):
            if not line.lstrip().startswith(COMMENTS):
                found += [(name, number, old, new) for old, new in SWAPS.items() if old in line]
    random.Random(seed).shuffle(found)
    for name, number, old, new in found:
        lines = texts[name].split("\n")
        lines[number] = lines[number].replace(old, new, 1)
        yield name, lines[number].strip(), "\n".join(lines)


def copy_with(source: Path, project: Path, name: str, text: str) -> None:
    """Copy a project anew, with another text in one file."""
    shutil.rmtree(project, ignore_errors=True)
    shutil.copytree(source, project, symlinks=True)
    (project / name).write_text(text, encoding="utf-8")


def fails(command: str, project: Path) -> bool:
    """Whether a shell line fails in the project; one that does not end is no such failure."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(["sh", "-c", command], cwd=project, start_new_session=True, **quiet)
    try:
        return process.wait(LIMIT_S) != 0
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # with what it has started
        process.wait()
        return False


def summary(record: dict[str, Any], state: Path) -> str:
    """How a run ended, what its verification took, and what is said against the fix."""
    log = state / "runs" / record["id"] / "events.jsonl"
    events = [json.loads(line) for line in log.read_bytes().splitlines()]
    checks = [
        (event["ts"], event["payload"]["duration_s"])
        for event in events
        if event["kind"] == "goal_check" and event["payload"]["phase"] == "iteration"
    ]
    found = [str(one) for one in record.get("findings", ())]
    against = [one for one in found if not one.startswith(OTHER_ANSWERS)]
    parts = [record["status"], f"{len(found) - len(against)} notes on other answers", *against]
    if record["status"] != "achieved":
        parts.append(record["reason"])
    elif checks:
        ended, check_s = checks[-1]
        times = (events[-1]["ts"] - ended) / check_s
        took = f"a check takes {check_s:.1f} s, the verification {times:.1f} times as long"
        parts.insert(1, took)
    return "; ".join(parts)


if __name__ == "__main__":
    sys.exit(main())
