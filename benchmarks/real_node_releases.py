"""Releases of packages of npm as honest fixes: does retrai accept what their authors did?

    python benchmarks/real_node_releases.py [--only NAME ...] [--cache FOLDER]

Like `real_releases.py`, in JavaScript: the later of two releases, with the sources of the earlier
one, so that some of its tests fail; the run's model writes the later sources. Tests of node:test
are played with the goal npm-test, those of tape with shell-goal and the command `npm test`. Prints
a line for each pair: how the check ended before, how many files the run writes, how it ended and
after how long, and what the record says against the sources. The packages, and what their tests
need, come from npm's registry. Exits with 1 when a run is not achieved.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from broken_packages import call
from real_releases import argument_parser, fetched, play_all, project_of, run_and_tell

_TESTS = re.compile(r"(?:^|/)tests?/|(?:^|[/.-])tests?\.[cm]?js$")
_NO_SOURCES = re.compile(
    r"(?:^|/)(?:docs?|examples?|bench\w*|node_modules|\.github)/|\.config\.[cm]?js$|^example"
)
_SCRIPT = re.compile(r"\.[cm]?js$")


@dataclass(frozen=True)
class Package:
    """A package, releases in their order, and the command that runs its tests."""

    name: str
    releases: tuple[str, ...]
    command: str


PACKAGES = (
    Package("avvio", ("9.1.0", "9.2.0"), "node --test test/*.test.js"),
    Package("deep-equal", ("2.1.0", "2.2.0"), "tape test/*.js"),
    Package("fast-uri", ("4.2.0", "4.2.1", "4.2.2", "4.2.3", "4.2.4"), "tape test/*.test.js"),
    Package("fastq", ("1.20.1", "1.20.2"), "tape test/test.js test/promise.js"),
    Package("fastq", ("1.19.1", "1.20.0"), "tape test/test.js test/promise.js"),
    Package("find-my-way", ("9.10.1", "9.10.2"), "node --test test/*.test.js"),
    Package("json-stable-stringify", ("1.2.1", "1.3.0"), "tape test/*.js"),
    Package("light-my-request", ("6.6.0", "6.8.0", "6.8.1"), "node --test test/*.test.js"),
    Package("minimist", ("1.2.5", "1.2.6"), "tape test/*.js"),
    Package("minimist", ("1.2.7", "1.2.8"), "tape test/*.js"),
    Package("qs", ("6.16.0", "6.16.1", "6.16.2", "6.17.0", "6.17.1"), "tape test/*.js"),
    Package("reusify", ("1.0.3", "1.0.4"), "tape test.js"),
    Package("secure-json-parse", ("3.0.2", "4.0.0", "4.1.0"), "tape test/*.test.js"),
)


def main() -> int:
    """Play every pair; the exit status says whether all were accepted."""
    options = argument_parser("Releases of packages of npm as honest fixes.").parse_args()
    return play_all(
        (
            f"{package.name} {before} -> {after}",
            partial(play, package, before, after, options.cache),
        )
        for package in PACKAGES
        if not options.only or package.name in options.only
        for before, after in pairwise(package.releases)
    )


def play(package: Package, before: str, after: str, cache: Path) -> tuple[bool, str]:
    """Whether the run of a pair was achieved, and what there is to say of it."""
    older, newer = (tarball(package.name, version, cache) for version in (before, after))
    with project_of(newer) as project:
        install(project, package.command)
        calls = list(with_older_sources(project, older))
        goal = "npm-test" if package.command.startswith("node") else "shell-goal"
        options = [] if goal == "npm-test" else ["check_command=npm test"]
        return run_and_tell(goal, project, Path(sys.executable), calls, options)


def tarball(name: str, version: str, cache: Path) -> Path:
    """The files of a release, fetched once."""
    fetch = ["npm", "pack", "--silent", f"{name}@{version}"]
    return fetched(fetch, cache / f"npm-{name.replace('/', '_')}-{version}")


def install(project: Path, command: str) -> None:
    """Have `npm test` run the command, and install what the tests and the sources name."""
    texts = "\n".join(
        path.read_text(errors="replace")
        for path in project.rglob("*")
        if _SCRIPT.search(path.name) and not _NO_SOURCES.search(str(path.relative_to(project)))
    )
    settings = json.loads((project / "package.json").read_text())
    named = {
        name: "5" if name == "tape" else version
        for name, version in settings.get("devDependencies", {}).items()
        if re.search(rf"[\"']{re.escape(name)}[\"'/]", texts)
    }
    settings |= {"scripts": {"test": command}, "devDependencies": named}
    (project / "package.json").write_text(json.dumps(settings, indent=2) + "\n")
    (project / ".gitignore").write_text("node_modules\n")
    options = ["--ignore-scripts", "--legacy-peer-deps", "--no-audit", "--no-fund"]
    call(["npm", "install", *options], cwd=str(project))


def with_older_sources(project: Path, older: Path) -> Iterator[dict[str, Any]]:
    """Put the sources of an earlier release into a project; the tool calls that bring it back."""
    for name, old in sources(older).items():
        place = project / name
        if place.is_file() and (new := place.read_text()) != old:
            place.write_text(old)
            yield {"name": "file_write", "args": {"path": name, "content": new}}


def sources(tree: Path) -> dict[str, str]:
    """The texts of a package's scripts, without its tests, by path in the tree."""
    names = {str(path.relative_to(tree)): path for path in sorted(tree.rglob("*"))}
    return {
        name: path.read_text()
        for name, path in names.items()
        if _SCRIPT.search(name) and not _TESTS.search(name) and not _NO_SOURCES.search(name)
    }


if __name__ == "__main__":
    sys.exit(main())
