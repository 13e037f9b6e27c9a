"""Corrected types in releases of published packages: does retrai accept what their authors did?

    python benchmarks/real_typed_releases.py [--only NAME ...] [--cache FOLDER]

Each is a package, two of its releases, and the files in which pyright finds errors in the earlier
one and none in the later one, without those in which the authors added ignore comments: the goal
takes none. The project is the later release with these files of the earlier one; the run's model
writes the later files, and the goal is pyright for them. Prints a line for each, with what the
record says against it. The packages come from the package index. Exits with 1 when a run is not
achieved.
"""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from real_releases import (
    argument_parser,
    environment,
    fetched,
    play_all,
    project_of,
    run_and_tell,
)


@dataclass(frozen=True)
class Release:
    """A package, two of its releases, and the files that got their types corrected."""

    name: str
    before: str
    after: str
    files: tuple[str, ...]


RELEASES = (
    Release("anyio", "4.14.2", "4.15.0", ("anyio/__init__.py", "anyio/abc/__init__.py")),
    Release("click", "8.3.3", "8.4.0", ("click/parser.py",)),
    Release("click", "8.4.2", "8.5.0", ("click/termui.py",)),
    Release("flask", "3.0.3", "3.1.0", ("flask/sansio/app.py", "flask/testing.py")),
    Release("h11", "0.8.1", "0.9.0", ("h11/_readers.py", "h11/_state.py")),
    Release("h11", "0.12.0", "0.13.0", ("h11/_writers.py",)),
    Release("jinja2", "3.1.4", "3.1.5", ("jinja2/lexer.py",)),
    Release("packaging", "26.2", "26.3", ("packaging/_manylinux.py",)),
    Release("packaging", "26.3", "26.4", ("packaging/_parser.py", "packaging/markers.py")),
    Release("structlog", "25.4.0", "25.5.0", ("structlog/stdlib.py",)),
    Release("tomlkit", "0.14.0", "0.15.0", ("tomlkit/_utils.py", "tomlkit/api.py")),
    Release("werkzeug", "3.1.3", "3.1.4", ("werkzeug/sansio/multipart.py",)),
)


def main() -> int:
    """Play every pair; the exit status says whether all were accepted."""
    options = argument_parser("Corrected types in releases of packages.").parse_args()
    return play_all(
        (
            f"{release.name} {release.before} -> {release.after}",
            partial(play, release, options.cache),
        )
        for release in RELEASES
        if not options.only or release.name in options.only
    )


def play(release: Release, cache: Path) -> tuple[bool, str]:
    """Whether the run of a pair was achieved, and what there is to say of it."""
    older, newer = (wheel(release.name, each, cache) for each in (release.before, release.after))
    needed = [f"{release.name}=={release.after}"]
    python = environment(release.name, needed, cache / f"{newer.name}-environment")
    os.environ.pop("PYTHONPATH", None)
    with project_of(newer) as project:
        calls: list[dict[str, object]] = []
        for name in release.files:
            shutil.copy(older / name, project / name)
            content = (newer / name).read_text(encoding="utf-8")
            calls.append({"name": "file_write", "args": {"path": name, "content": content}})
        options = [f"targets={' '.join(release.files)}"]
        return run_and_tell("pyright", project, python, calls, options)


def wheel(name: str, version: str, cache: Path) -> Path:
    """The files of a wheel, fetched once."""
    fetch = ["download", "--quiet", "--no-deps", "--only-binary", ":all:", f"{name}=={version}"]
    return fetched([sys.executable, "-m", "pip", *fetch], cache / f"wheel-{name}-{version}")


if __name__ == "__main__":
    sys.exit(main())
