"""Installing and removing distributions, and what that changed among the plugins."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any, cast

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from retrai_core import Catalog, PluginError, UsageError

CORE_DIST = "retrai-core"
_SCAN = (
    "import json; from retrai_core import Catalog; "
    "print(json.dumps([record.to_json() for record in Catalog.scan().records()]))"
)
_SCAN_TIMEOUT_S = 60.0

PluginKey = tuple[str, str, str]
"""Kind, name and distribution."""


def installed_plugins() -> Mapping[PluginKey, Mapping[str, Any]]:
    """Every plugin as a fresh process sees it: what was installed since we started counts too.

    Raises:
        PluginError: the environment is so broken that retrai does not start in it.
    """
    done = subprocess.run(
        # -P: a package in the current folder is nothing that is installed.
        [sys.executable, "-P", "-c", _SCAN],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=_SCAN_TIMEOUT_S,
        check=False,
    )
    try:
        plugins = cast("list[dict[str, Any]]", json.loads(done.stdout))
    except ValueError as error:
        last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
        raise PluginError(
            f"retrai does not start in {sys.prefix} any more: {''.join(last)}",
            hint=f"pip install --force-reinstall {CORE_DIST}",
        ) from error
    return {(each["kind"], each["name"], each["dist"]): each for each in plugins}


def run_installer(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run the installer to its end; Ctrl-C reaches it too.

    Raises:
        UsageError: it cannot be started.
    """
    try:
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
    except OSError as error:
        raise UsageError(f"{command[0]} cannot be started: {error.strerror}") from error


def changes(
    before: Mapping[PluginKey, Mapping[str, Any]], after: Mapping[PluginKey, Mapping[str, Any]]
) -> list[str]:
    """What came (`+`), went (`-`) or changed its version or status (`~`), sorted."""
    lines: list[str] = []
    for key in sorted({*before, *after}):
        kind, name, dist = key
        old, new = before.get(key), after.get(key)
        if old is None:
            new = cast("Mapping[str, Any]", new)
            state = "" if new["status"] == "unloaded" else f" ({new['status']}: {new['error']})"
            lines.append(f"+ {kind} {name}, {dist} {new['version']}{state}")
        elif new is None:
            lines.append(f"- {kind} {name}, {dist} {old['version']}")
        elif old["version"] != new["version"]:
            lines.append(f"~ {kind} {name}, {dist} {old['version']} -> {new['version']}")
        elif old["status"] != new["status"]:
            reason = f": {new['error']}" if new["error"] else ""
            lines.append(f"~ {kind} {name}, {dist}: {old['status']} -> {new['status']}{reason}")
    return lines


def check_removable(distributions: Sequence[str], catalog: Catalog) -> None:
    """Refuse to remove what is no distribution, is not installed, or is retrai itself.

    Raises:
        UsageError: says which, and what to type instead.
    """
    from importlib.metadata import PackageNotFoundError, distribution

    for dist in distributions:
        if canonicalize_name(dist) == CORE_DIST:
            raise UsageError(
                f"{CORE_DIST} is what this command runs on",
                hint=f"`{sys.executable} -m pip uninstall {CORE_DIST}` removes it",
            )
        try:
            distribution(dist)
        except (PackageNotFoundError, ValueError) as error:
            of_plugin = sorted({record.dist for record in catalog.matching(dist)})
            hint = f"the plugin {dist} belongs to {' and '.join(of_plugin)}" if of_plugin else ""
            raise UsageError(
                f"no distribution {dist} is installed",
                hint=hint or "`retrai plugins list` shows them, in the column DIST",
            ) from error


def check_requirements(requirements: Sequence[str]) -> None:
    """Refuse what an installer would take for one of its own options.

    Raises:
        UsageError: one begins with a dash, or names nothing.
    """
    for requirement in requirements:
        is_path = "/" in requirement or requirement.startswith(".")
        if requirement.startswith("-") or not (is_path or _is_requirement(requirement)):
            raise UsageError(
                f"{requirement!r} is no distribution", hint="write it as pip does: `acme>=1.2`"
            )


def _is_requirement(text: str) -> bool:
    try:
        Requirement(text)
    except InvalidRequirement:
        return False
    return True
