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
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
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
    parser = argument_parser("Releases of published packages as honest fixes.")
    parser.add_argument("--goal", choices=("pytest", "shell-goal"), default="pytest")
    options = parser.parse_args()
    return play_all(
        (
            f"{package.name} {before} -> {after}",
            partial(play, package, before, after, options.goal, options.cache),
        )
        for package in PACKAGES
        if not options.only or package.name in options.only
        for before, after in package.releases
    )


def argument_parser(description: str) -> argparse.ArgumentParser:
    """With the options that the programs for releases have in common."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--only", nargs="*", help="names of packages")
    parser.add_argument("--cache", type=Path, default=CACHE)
    return parser


def play_all(plays: Iterable[tuple[str, Callable[[], tuple[bool, str]]]]) -> int:
    """Print what each play tells, by its title; the exit status says whether all were achieved."""
    ends: list[bool] = []
    for title, play_one in plays:
        achieved, told = play_one()
        ends.append(achieved)
        print(f"{title}: {told}", flush=True)
    print(f"{sum(ends)} of {len(ends)} achieved")
    return 0 if all(ends) else 1


def play(package: Package, before: str, after: str, goal: str, cache: Path) -> tuple[bool, str]:
    """Whether the run of a pair was achieved, and what there is to say of it."""
    older, newer = (unpacked(package.name, version, cache) for version in (before, after))
    needed = ["pytest", *package.beside, str(newer)]
    python = environment(package.name, needed, cache / f"{newer.name}-environment")
    with project_of(newer) as project:
        calls = list(with_older_sources(project, older))
        os.environ["PYTHONPATH"] = str(source_root(project))
        if failing(project, python) == 0:
            return False, "no test fails with the earlier sources"
        options = [f"check_command={python} -m pytest -q"] if goal == "shell-goal" else []
        return run_and_tell(goal, project, python, calls, options)


@contextmanager
def project_of(newer: Path) -> Generator[Path]:
    """A copy of the files of a release, in a folder of its own for a run."""
    # Not below /tmp, which the sandbox hides.
    with tempfile.TemporaryDirectory(prefix="retrai-releases-", dir=Path.home()) as folder:
        project = Path(folder) / "project"
        shutil.copytree(newer, project, symlinks=True)
        yield project


def unpacked(name: str, version: str, cache: Path) -> Path:
    """The source archive of a release, fetched once."""
    fetch = ["download", "--quiet", "--no-binary", ":all:", "--no-deps", f"{name}=={version}"]
    place = fetched([sys.executable, "-m", "pip", *fetch], cache / f"{name}-{version}")
    for left in [*place.glob("*.egg-info"), *place.glob("src/*.egg-info")]:
        shutil.rmtree(left)
    return place


def fetched(command: Sequence[str], place: Path) -> Path:
    """The files of the one archive that a command leaves where it runs, fetched once.

    Args:
        command: a package manager's, which downloads.
        place: the folder where they are kept.
    """
    if not place.exists():
        with tempfile.TemporaryDirectory(dir=made(place.parent)) as room:
            call(command, cwd=room)
            (archive,) = Path(room).iterdir()
            files = Path(room) / "unpacked"
            is_wheel = archive.suffix == ".whl"
            shutil.unpack_archive(archive, files, "zip" if is_wheel else None)
            if not is_wheel:
                (files,) = files.iterdir()
            files.rename(place)
    return place


def environment(name: str, needed: Sequence[str], folder: Path) -> Path:
    """The interpreter of an environment with what a package needs, not itself, made once.

    Args:
        name: of the package.
        needed: what pip installs, the package among it.
        folder: where the environment is kept.
    """
    python = folder / "bin" / "python"
    if not (folder / "whole").exists():
        shutil.rmtree(folder, ignore_errors=True)
        call([sys.executable, "-m", "venv", str(folder)])
        pip = [str(python), "-m", "pip", "--quiet", "--disable-pip-version-check"]
        call([*pip, "install", *needed])
        call([*pip, "uninstall", "--yes", name])
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


def run_and_tell(
    goal: str,
    project: Path,
    python: Path,
    calls: Sequence[Mapping[str, Any]],
    options: Sequence[str],
) -> tuple[bool, str]:
    """Whether a run was achieved, and what there is to say of it. The arguments are `run`'s."""
    begun = time.monotonic()
    record = run(goal, project, python, calls, options)
    took_s = time.monotonic() - begun
    found = [str(one) for one in record.get("findings", ())]
    against = [one for one in found if not one.startswith(OTHER_ANSWERS)]
    told = (
        f"{record['goals'][0]['before']['reason']}; {len(calls)} files; {record['status']} after "
        f"{took_s:.0f} s; {len(found) - len(against)} notes on other answers"
    )
    achieved = record["status"] == "achieved"
    if not achieved:
        told += f"; {record['reason']}; {record['goals'][0]['after']['reason']}"
    return achieved, "; ".join([told, *against[:SHOWN]])


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
