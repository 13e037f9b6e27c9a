"""How often the audits suspect what the authors of published packages changed.

    python benchmarks/audit_releases.py [--python NAME ...] [--node NAME ...] [--pairs 4] [--places]

Takes the latest releases of packages from the package indexes, each with the one before, and has
the audits of the goals look through what changed between them, without tests. Nobody wrote these
changes for retrai, so each finding that makes a verdict suspect is a false alarm. Prints how many
releases and added lines were looked through, and by goal and finding, how often it is suspect by
itself, or as a sign beside others, and in how many releases. With `--places` each place is printed.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from broken_packages import CACHE
from counts import positive
from real_node_releases import tarball
from real_typed_releases import wheel

from retrai_core import Suspicion
from retrai_goals_js.js_audit import audit_js
from retrai_goals_python.pyright.audit import audit_types, moved_out_of_sight
from retrai_goals_python.pytest.guarding import audit_diff
from retrai_goals_shell.command.audit import EVADES_TIMING, audit_commands

NAMES = Path(__file__).with_name("released_packages.json")
LARGEST = 15_000
"""Added lines; a release with more has another program in it."""
_SOURCE = re.compile(r"\.(?:pyi?|[cm]?[jt]sx?)$")
_NO_SOURCE = re.compile(
    r"(?:^|/)(?:_?tests?|specs?|__tests__|testdata|bench\w*|examples?|_?vendor(?:ed)?|dist|umd|esm"
    r"|cjs|bundles?|[^/]+\.(?:dist-info|data))/"
    r"|(?:^|/)(?:test_[^/]*|conftest|[^/]*_test)\.py$|[.-](?:test|spec|min)\.|\.d\.[cm]?ts$"
)
_FILE_OF_DIFF = re.compile(r"(?m)^(?=diff --git )")
_NAME_OF_FILE = re.compile(r"(?m)^\+\+\+ b/(.*)$")


@dataclass
class Found:
    """What was looked through, and what was found."""

    releases: int = 0
    lines: int = 0
    findings: Counter[tuple[str, str, str]] = field(default_factory=Counter[tuple[str, str, str]])
    """By goal, what it is, and whether it is suspect by itself or as a sign."""
    in_releases: Counter[tuple[str, str, str]] = field(
        default_factory=Counter[tuple[str, str, str]]
    )


def main() -> None:
    """Look through the releases and print what the audits say of them."""
    parser = argparse.ArgumentParser(description="How often the audits suspect real releases.")
    names = json.loads(NAMES.read_text(encoding="utf-8"))
    parser.add_argument("--python", nargs="*", default=names["python"], metavar="NAME")
    parser.add_argument("--node", nargs="*", default=names["node"], metavar="NAME")
    parser.add_argument("--pairs", type=positive, default=4, help="releases of each package")
    parser.add_argument("--places", action="store_true", help="print each place")
    parser.add_argument("--cache", type=Path, default=CACHE)
    options = parser.parse_args()
    for language, names, fetch, audits in (
        ("Python", options.python, wheels, python_audits),
        ("JavaScript", options.node, tarballs, node_audits),
    ):
        found = Found()
        with ThreadPoolExecutor(4) as pool:
            folders = [pool.submit(fetch, name, options.pairs + 1, options.cache) for name in names]
            for name, folder in zip(names, folders, strict=True):
                latest = folder.result()
                if len(latest) < 2:
                    print(f"no two releases of {name} could be had", file=sys.stderr)
                for before, after in pairwise(latest):
                    look_through(before, after, audits, found, options.places)
        print(f"{language}: {found.releases} releases, {found.lines} added lines")
        for key, count in found.findings.most_common():
            print(f"  {', '.join(key)}: {count} in {found.in_releases[key]} releases")


def look_through(
    before: Path,
    after: Path,
    audits: Callable[[str, Path], Mapping[str, Iterable[Suspicion]]],
    found: Found,
    places: bool,
) -> None:
    """Count what the audits say of a release.

    Args:
        before: the release before.
        after: the release.
        audits: gives, for a diff and the folder of its files, what each goal finds.
        found: where it is counted.
        places: whether to print each.
    """
    diff = sources_changed(before, after)
    added = sum(line.startswith("+") and not line.startswith("+++") for line in diff.split("\n"))
    if not 0 < added <= LARGEST:
        return
    found.releases += 1
    found.lines += added
    seen: set[tuple[str, str, str]] = set()
    for goal, suspicions in audits(diff, after).items():
        for each in suspicions:
            if not (each.reaches_runner or each.sign):
                continue
            how = "suspect by itself" if each.reaches_runner else "a sign beside others"
            key = (goal, each.what.partition(":")[0], how)
            found.findings[key] += 1
            seen.add(key)
            if places:
                print(f"{after.name} {goal} {each.path}:{each.line} {each.what}", flush=True)
    found.in_releases.update(seen)


def python_audits(diff: str, folder: Path) -> dict[str, Iterable[Suspicion]]:
    """What the goals find in a Python package."""
    checked = [str(path.relative_to(folder)) for path in folder.rglob("*.py*")]
    return {
        "pytest": audit_diff(diff, folder),
        "pyright": [*audit_types(diff), *moved_out_of_sight(diff, folder, checked)],
        "perf-check": audit_commands(diff, folder, (), EVADES_TIMING),
    }


def node_audits(diff: str, folder: Path) -> dict[str, Iterable[Suspicion]]:
    """What the goals find in a package of JavaScript."""
    return {
        "npm-test": audit_js(diff, folder),
        "perf-check": audit_commands(diff, folder, (), EVADES_TIMING),
    }


def sources_changed(before: Path, after: Path) -> str:
    """The unified diff of two folders, without tests and what was built."""
    command = ["git", "diff", "--no-index", "--no-color", "--no-ext-diff", before.name, after.name]
    done = subprocess.run(command, cwd=after.parent, capture_output=True, check=False)
    text = done.stdout.decode(errors="replace")
    for side, name in (("a", before.name), ("b", after.name)):
        text = text.replace(f"{side}/{name}/", f"{side}/")
    parts = ((part, _NAME_OF_FILE.search(part)) for part in _FILE_OF_DIFF.split(text))
    return "".join(
        part
        for part, name in parts
        if name and _SOURCE.search(name[1]) and not _NO_SOURCE.search(name[1])
    )


def wheels(name: str, count: int, cache: Path) -> list[Path]:
    """Folders with the latest releases of a Python package, oldest first."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    listed = subprocess.run(
        [*pip, "index", "versions", name], capture_output=True, text=True, check=False
    )
    line = re.search(r"^Available versions:(.*)$", listed.stdout, re.MULTILINE)
    versions = re.findall(r"(?<= )[\d.]+(?=,|$)", line[1] if line else "")
    return releases(versions[:count][::-1], lambda version: wheel(name, version, cache))


def tarballs(name: str, count: int, cache: Path) -> list[Path]:
    """Folders with the latest releases of a package of npm, oldest first."""
    listed = subprocess.run(
        ["npm", "view", name, "versions", "--json"], capture_output=True, text=True, check=False
    )
    versions = re.findall(r'"([\d.]+)"', listed.stdout)
    versions.sort(key=lambda version: [int(part) for part in version.split(".")])
    return releases(versions[-count:], lambda version: tarball(name, version, cache))


def releases(versions: Iterable[str], fetch: Callable[[str], Path]) -> list[Path]:
    """The folders of releases, without those that have no archive for this machine."""
    folders: list[Path] = []
    for version in versions:
        with suppress(SystemExit):
            folders.append(fetch(version))
    return folders


if __name__ == "__main__":
    main()
