"""Reads the events that `go test -json` prints."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_pascal

from retrai_goal_support import json_lines

_FRAME = re.compile(r"^(?:=== (?:RUN|PAUSE|CONT|NAME)|\s*--- (?:FAIL|PASS|SKIP):)")
_BUILD_FAILED = re.compile(r"^FAIL\t(\S+) \[(?:build|setup) failed\]")
_BUILD_HEAD = re.compile(r"^# (\S+)")


class Event(BaseModel):
    """One line: something that happened to a package or to one of its tests."""

    model_config = ConfigDict(extra="ignore", frozen=True, alias_generator=to_pascal)

    action: str
    package: str = ""
    test: str = ""
    output: str = ""
    import_path: str = ""


class ListedPackage(BaseModel):
    """What `go list -json` says of one package; file names are relative to `dir`."""

    model_config = ConfigDict(extra="ignore", frozen=True, alias_generator=to_pascal)

    dir: str
    import_path: str
    test_go_files: list[str] = Field(default_factory=list[str])
    x_test_go_files: list[str] = Field(default_factory=list[str], validation_alias="XTestGoFiles")


Ending = Literal["pass", "fail", "skip", ""]


@dataclass
class PackageRun:
    """What came of one package.

    Attributes:
        tests: how each test ended, by its name; empty while it has not.
        output: what each test printed.
        printed: what the package printed beside its tests.
        ended: how the package ended.
        build: why it was not built; empty when it was.
    """

    tests: dict[str, Ending] = field(default_factory=dict[str, Ending])
    output: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    printed: list[str] = field(default_factory=list[str])
    ended: Ending = ""
    build: str = ""


def read_packages(stdout: str, stderr: str) -> dict[str, PackageRun]:
    """Every package's run, by import path.

    Args:
        stdout: the events; since Go 1.24 the compiler's messages too.
        stderr: the compiler's messages before that.
    """
    packages: dict[str, PackageRun] = {}
    builds = _build_messages(stderr)
    for event in json_lines(stdout.splitlines(), Event):
        if event.action in ("build-output", "build-fail"):
            name = event.import_path.partition(" ")[0]
            builds[name] = builds.get(name, "") + event.output
            continue
        _take(packages.setdefault(event.package, PackageRun()), event)
    for line in stdout.splitlines():
        if found := _BUILD_FAILED.match(line):
            packages.setdefault(found[1], PackageRun()).ended = "fail"
    for name, package in packages.items():
        if package.ended == "fail" and not package.tests:
            messages = builds.get(name) or builds.get(f"{name}_test") or "".join(package.printed)
            package.build = messages.strip() or stderr.strip()
    return packages


def packages_listed(stdout: str) -> list[ListedPackage]:
    """What `go list -json` printed: objects one after the other."""
    return list(json_lines(re.split(r"(?m)^(?=\{)", stdout), ListedPackage))


def _take(package: PackageRun, event: Event) -> None:
    ending = event.action if event.action in ("pass", "fail", "skip") else ""
    if not event.test:
        package.ended = ending or package.ended
        if event.action == "output":
            package.printed.append(event.output)
        return
    if event.action == "run":
        package.tests.setdefault(event.test, "")
    elif event.action == "output" and not _FRAME.match(event.output):
        package.output.setdefault(event.test, []).append(event.output)
    elif ending and package.tests.get(event.test) != "fail":
        # Two tests of one name (in the package and beside it): the worse of both counts.
        package.tests[event.test] = ending


def _build_messages(stderr: str) -> dict[str, str]:
    found: dict[str, str] = {}
    name = ""
    for line in stderr.splitlines(keepends=True):
        if head := _BUILD_HEAD.match(line):
            name = head[1]
        elif name:
            found[name] = found.get(name, "") + line
    return found
