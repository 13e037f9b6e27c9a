"""What a run of a project would use, and the problems with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Finding:
    """A problem with a plugin, its distribution or the configuration.

    Attributes:
        level: with a problem, a run may not work; a note is for information.
        about: the plugin, distribution, file or setting.
        message: what is wrong.
        fix: the command that fixes it, or what to change; empty where none is known.
    """

    level: Literal["problem", "note"]
    about: str
    message: str
    fix: str = ""


@dataclass(frozen=True)
class PlannedPlugin:
    """A plugin that a run would use.

    Attributes:
        kind: `goal`, `tool`, `llm`, ...
        name: its name.
        dist: its distribution.
        version: the distribution's.
        why: what chooses it: a setting with its origin, or a sign in the project.
    """

    kind: str
    name: str
    dist: str
    version: str
    why: str


@dataclass(frozen=True)
class RunPlan:
    """The result of `RunManager.plan`.

    Attributes:
        model: the model's name and where it comes from.
        plugins: what a run would use.
        findings: what stands in its way.
    """

    model: str
    plugins: Sequence[PlannedPlugin]
    findings: Sequence[Finding]
