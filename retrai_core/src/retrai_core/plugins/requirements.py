"""Checks before any import whether a plugin accepts this version of retrai-core."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable

from .kinds import CORE_DIST, normalised

_REQUIREMENT = re.compile(
    r"\s*([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*\(?([^;)]*)\)?\s*(?:;(.*))?"
)
_RELEASE = re.compile(r"\d+(?:\.\d+)*")
_COMPARE = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}
_CLAUSE = re.compile(r"(>=|<=|==|!=|<|>)\s*(\d+(?:\.\d+)*)")


def core_range(requires: Iterable[str]) -> str:
    """The range of retrai-core among `Requires-Dist` lines; empty when there is none.

    A requirement of an extra is left out: it does not hold for the plain installation.
    """
    ranges: list[str] = []
    for requirement in requires:
        match = _REQUIREMENT.fullmatch(requirement)
        if match is None or normalised(match.group(1)) != CORE_DIST:
            continue
        if "extra" not in (match.group(3) or ""):
            ranges.append(match.group(2).replace(" ", ""))
    clauses = {clause for part in ranges for clause in part.split(",") if clause}
    return ",".join(sorted(clauses, key=lambda clause: (clause.startswith("<"), clause)))


def accepts(core_range: str, version: str) -> bool:
    """Whether `version` lies within `core_range` (empty: any).

    Raises:
        ValueError: the range cannot be read.
    """
    if not core_range:
        return True
    parts = core_range.split(",")
    clauses = [match for part in parts if (match := _CLAUSE.fullmatch(part.strip()))]
    if _RELEASE.fullmatch(version) and len(clauses) == len(parts):
        release = _release(version)
        return all(_COMPARE[clause[1]](release, _release(clause[2])) for clause in clauses)
    # Wildcards, `~=` and pre-releases are packaging's; its import costs half of click's, so it is
    # not paid for the plain ranges that nearly every plugin has.
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        return SpecifierSet(core_range).contains(version, prereleases=True)
    except InvalidSpecifier as error:
        raise ValueError(f"`{core_range}` is not a version range") from error


def _release(version: str) -> tuple[int, ...]:
    parts = [int(part) for part in version.split(".")]
    while parts and parts[-1] == 0:
        parts.pop()
    return tuple(parts)
