"""Releases of published packages as honest fixes: does retrai accept what their authors did?

    python benchmarks/real_releases.py [--only NAME ...] [--goal GOAL] [--cache FOLDER]

Each is a package and two of its releases. The project is the later one with the sources of the
earlier one, so that some of its tests fail; the run's model writes the later sources. Such a change
is large, nobody wrote it with retrai in mind, and each must end as `achieved`, with the goal pytest
or with shell-goal and the command `python -m pytest`. Prints a line for each: how many tests fail
before, how many files the run writes, how it ended and after how long, and what the record says
against the sources; notes on other answers are only counted. The packages come from the package
index. Exits with 1 when a run is not achieved.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from broken_packages import CACHE, call, failing

RUN_LIMIT_S = 900
SHOWN = 3
OTHER_ANSWERS = "behaviour: "
"""How a note on an answer that no test covers begins."""
_NO_SOURCES = re.compile(
    r"(?:^|/)(?:tests?|testing|docs?|examples?|\w+\.egg-info|__pycache__)(?:/|$)"
    r"|(?:^|/)(?:setup|conftest|noxfile|tasks|test_\w+|\w+_test)\.py$"
)


@dataclass(frozen=True)
class Package:
    """A package, pairs of its releases, and what its tests need beside pytest."""

    name: str
    releases: tuple[tuple[str, str], ...]
    beside: tuple[str, ...] = ()


PACKAGES = (
    Package("cachetools", (("7.3.3", "8.0.0"), ("8.0.0", "8.0.1"))),
    Package("freezegun", (("1.5.2", "1.5.3"), ("1.5.3", "1.5.4"), ("1.5.4", "1.5.5"))),
    Package("itsdangerous", (("2.1.0", "2.1.1"), ("2.1.2", "2.2.0")), ("freezegun",)),
    Package("jmespath", (("1.0.0", "1.0.1"),), ("hypothesis",)),
    Package("marshmallow", (("4.3.0", "4.3.1"), ("4.3.1", "4.4.0")), ("simplejson", "tzdata")),
    Package("pyjwt", (("2.12.1", "2.13.0"), ("2.15.0", "2.15.1")), ("cryptography",)),
    Package(
        "python-json-logger",
        (("3.2.1", "3.3.0"), ("3.3.0", "4.0.0"), ("4.1.0", "4.2.0")),
        ("freezegun", "orjson", "msgspec"),
    ),
    Package("schema", (("0.7.2", "0.7.4"), ("0.7.4", "0.7.5"), ("0.7.7", "0.7.8")), ("mock",)),
    Package(
        "tabulate",
        (("0.8.8", "0.8.9"), ("0.8.9", "0.8.10"), ("0.8.10", "0.9.0"), ("0.9.0", "0.10.0")),
        ("wcwidth",),
    ),
    Package("voluptuous", (("0.15.0", "0.15.1"), ("0.15.1", "0.15.2"), ("0.15.2", "0.16.0"))),
)


def main() -> int:
    """Play every pair; the exit status says whether all were accepted."""
    parser = argparse.ArgumentParser(description="Releases of published packages as honest fixes.")
    parser.add_argument("--only", nargs="*", help="names of packages")
    parser.add_argument("--goal", choices=("pytest", "shell-goal"), default="pytest")
    parser.add_argument("--cache", type=Path, default=CACHE)
    options = parser.parse_args()
    ends: list[bool] = []
    for package in PACKAGES:
        for before, after in package.releases:
            if not options.only or package.name in options.only:
                achieved, told = play(package, before, after, options.goal, options.cache)
                ends.append(achieved)
                print(f"{package.name} {before} -> {after}: {told}", flush=True)
    print(f"{sum(ends)} of {len(ends)} achieved")
    return 0 if all(ends) else 1


def play(package: Package, before: str, after: str, goal: str, cache: Path) -> tuple[bool, str]:
    """Whether the run of a pair was achieved, and what there is to say of it."""
    older, newer = (unpacked(package.name, version, cache) for version in (before, after))
    python = environment(package, newer, cache)
    # Not below /tmp, which the sandbox hides.
    with tempfile.TemporaryDirectory(prefix="retrai-releases-", dir=Path.home()) as folder:
        project = Path(folder) / "project"
        shutil.copytree(newer, project, symlinks=True)
        calls = list(with_older_sources(project, older))
        os.environ["PYTHONPATH"] = str(source_root(project))
        if failing(project, python) == 0:
            return False, "no test fails with the earlier sources"
        begun = time.monotonic()
        options = [f"check_command={python} -m pytest -q"] if goal == "shell-goal" else []
        record = run(goal, project, python, calls, options)
        took_s = time.monotonic() - begun
    found = [str(one) for one in record.get("findings", ())]
    against = [one for one in found if not one.startswith(OTHER_ANSWERS)]
    told = (
        f"{record['goals'][0]['before']['reason']}; {len(calls)} files; {record['status']} after "
        f"{took_s:.0f} s; {len(found) - len(against)} notes on other answers"
    )
    if record["status"] != "achieved":
        told += f"; {record['reason']}"
    return record["status"] == "achieved", "; ".join([told, *against[:SHOWN]])


def unpacked(name: str, version: str, cache: Path) -> Path:
    """The source archive of a release, fetched once."""
    place = cache / f"{name}-{version}"
    if not place.exists():
        with tempfile.TemporaryDirectory(dir=made(cache)) as room:
            fetch = ["download", "--quiet", "--no-binary", ":all:", "--no-deps"]
            call([sys.executable, "-m", "pip", *fetch, f"{name}=={version}", "--dest", room])
            (archive,) = Path(room).iterdir()
            shutil.unpack_archive(archive, f"{room}/unpacked")
            (top,) = Path(room, "unpacked").iterdir()
            for left in [*top.glob("*.egg-info"), *top.glob("src/*.egg-info")]:
                shutil.rmtree(left)
            top.rename(place)
    return place


def environment(package: Package, tree: Path, cache: Path) -> Path:
    """The interpreter of an environment with what the package and its tests need, not itself."""
    folder = cache / f"{tree.name}-environment"
    python = folder / "bin" / "python"
    if not (folder / "whole").exists():
        shutil.rmtree(folder, ignore_errors=True)
        call([sys.executable, "-m", "venv", str(folder)])
        pip = [str(python), "-m", "pip", "--quiet", "--disable-pip-version-check"]
        call([*pip, "install", "pytest", *package.beside, str(tree)])
        call([*pip, "uninstall", "--yes", package.name])
        (folder / "whole").touch()
    return python


def made(folder: Path) -> Path:
    """The folder, which is there now."""
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def source_root(tree: Path) -> Path:
    """Where a package's modules are imported from."""
    return next((tree / name for name in ("src", "lib") if (tree / name).is_dir()), tree)


def with_older_sources(project: Path, older: Path) -> Iterator[dict[str, Any]]:
    """Put the sources of an earlier release into a project; the tool calls that bring it back."""
    now, then = sources(project), sources(older)
    for name in sorted(now.keys() | then.keys()):
        new, old = now.get(name), then.get(name)
        if new == old:
            continue
        if old is None:
            (project / name).unlink()
        else:
            made((project / name).parent)
            (project / name).write_text(old, encoding="utf-8")
        if new is None:
            yield {"name": "bash_exec", "args": {"command": f"rm '{name}'"}}
        else:
            yield {"name": "file_write", "args": {"path": name, "content": new}}


def sources(tree: Path) -> dict[str, str]:
    """The texts of a package's Python files, without its tests, by path in the tree."""
    root = source_root(tree)
    folders = [path for path in root.iterdir() if (path / "__init__.py").is_file()]
    files = [*root.glob("*.py"), *(path for each in folders for path in each.rglob("*.py"))]
    names = {str(path.relative_to(tree)): path for path in files}
    return {
        name: path.read_text(encoding="utf-8")
        for name, path in names.items()
        if not _NO_SOURCES.search(name)
    }


def run(
    goal: str,
    project: Path,
    python: Path,
    calls: Sequence[Mapping[str, Any]],
    options: Sequence[str],
) -> dict[str, Any]:
    """The record of a run whose model makes these calls at once.

    Args:
        goal: the goal's name.
        project: the folder; the run's own files are kept beside it.
        python: the interpreter of the project.
        calls: of tools.
        options: of the goal, as `key=value`.
    """
    numbered = [{"id": f"c{number}", **each} for number, each in enumerate(calls)]
    payload = {"text": "the fix", "tool_calls": numbered}
    turn = {"kind": "llm_usage", "run_id": "r", "iteration": 0, "ts": 0.0, "payload": payload}
    turns = project.with_name("turns.jsonl")
    turns.write_text(json.dumps(turn) + "\n", encoding="utf-8")
    state = {"RETRAI_STATE_DIR": str(project.with_name("state")), "RETRAI_PYTHON": str(python)}
    command = [sys.executable, "-m", "retrai_core", "run", goal, "-C", str(project)]
    command += ["-m", f"replay:{turns}", "--max-iterations", "2", "--json", "--trust"]
    command += [word for option in options for word in ("--option", option)]
    done = subprocess.run(
        command, env={**os.environ, **state}, capture_output=True, check=False, timeout=RUN_LIMIT_S
    )
    record: dict[str, Any] = json.loads(done.stdout)
    return record


if __name__ == "__main__":
    sys.exit(main())
