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

import argparse
import os
import shutil
import sys
import tempfile
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path

from broken_packages import CACHE, call
from real_releases import SHOWN, made, run


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
    parser = argparse.ArgumentParser(description="Corrected types in releases of packages.")
    parser.add_argument("--only", nargs="*", help="names of packages")
    parser.add_argument("--cache", type=Path, default=CACHE)
    options = parser.parse_args()
    ends: list[bool] = []
    for release in RELEASES:
        if not options.only or release.name in options.only:
            achieved, told = play(release, options.cache)
            ends.append(achieved)
            print(f"{release.name} {release.before} -> {release.after}: {told}", flush=True)
    print(f"{sum(ends)} of {len(ends)} achieved")
    return 0 if all(ends) else 1


def play(release: Release, cache: Path) -> tuple[bool, str]:
    """Whether the run of a pair was achieved, and what there is to say of it."""
    older, newer = (unpacked(release.name, each, cache) for each in (release.before, release.after))
    python = environment(release, cache)
    os.environ.pop("PYTHONPATH", None)
    # Not below /tmp, which the sandbox hides.
    with tempfile.TemporaryDirectory(prefix="retrai-releases-", dir=Path.home()) as folder:
        project = Path(folder) / "project"
        shutil.copytree(newer, project)
        calls: list[dict[str, object]] = []
        for name in release.files:
            new = (newer / name).read_text()
            shutil.copy(older / name, project / name)
            calls.append({"name": "file_write", "args": {"path": name, "content": new}})
        begun = time.monotonic()
        record = run("pyright", project, python, calls, [f"targets={' '.join(release.files)}"])
        took_s = time.monotonic() - begun
    (goal,) = record["goals"]
    told = f"{goal['before']['reason']}; {record['status']} after {took_s:.0f} s"
    if record["status"] != "achieved":
        told += f": {goal['after']['reason']}"
    found = [str(one) for one in record.get("findings", ())]
    return record["status"] == "achieved", "; ".join([told, *found[:SHOWN]])


def unpacked(name: str, version: str, cache: Path) -> Path:
    """The files of a wheel, fetched once."""
    place = cache / f"wheel-{name}-{version}"
    if not place.exists():
        with tempfile.TemporaryDirectory(dir=made(cache)) as room:
            fetch = ["download", "--quiet", "--no-deps", "--only-binary", ":all:"]
            call([sys.executable, "-m", "pip", *fetch, "--dest", room, f"{name}=={version}"])
            (archive,) = Path(room).iterdir()
            with zipfile.ZipFile(archive) as packed:
                packed.extractall(f"{room}/unpacked")
            for left in Path(room, "unpacked").glob("*.dist-info"):
                shutil.rmtree(left)
            Path(room, "unpacked").rename(place)
    return place


def environment(release: Release, cache: Path) -> Path:
    """The interpreter of an environment with what the package needs, not itself."""
    folder = cache / f"wheel-{release.name}-{release.after}-environment"
    python = folder / "bin" / "python"
    if not (folder / "whole").exists():
        shutil.rmtree(folder, ignore_errors=True)
        call([sys.executable, "-m", "venv", str(folder)])
        pip = [str(python), "-m", "pip", "--quiet", "--disable-pip-version-check"]
        call([*pip, "install", f"{release.name}=={release.after}"])
        call([*pip, "uninstall", "--yes", release.name])
        (folder / "whole").touch()
    return python


if __name__ == "__main__":
    sys.exit(main())
