"""Finds the command that fixes a failed import of a plugin."""

from __future__ import annotations

import shlex
from importlib.metadata import PackageNotFoundError, distribution

from .metadata import parse_metadata
from .record import PluginRecord


def command_that_mends(error: BaseException, record: PluginRecord) -> str:
    """Install what is missing where that is the cause, else install the plugin again."""
    if isinstance(error, ModuleNotFoundError):
        missing = missing_requirements(record.metadata_folder)
        own = record.module.partition(".")[0]
        module = (error.name or "").partition(".")[0]
        if missing:
            return f"pip install {' '.join(shlex.quote(requirement) for requirement in missing)}"
        if module and module != own:
            return f"pip install {module}"
    return f"pip install --force-reinstall {record.dist}"


def missing_requirements(metadata_folder: str) -> list[str]:
    """The requirements that are missing, or of a version that they rule out, sorted."""
    if not metadata_folder:
        return []
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.version import InvalidVersion

    try:
        with open(f"{metadata_folder}/METADATA", "rb") as file:
            metadata = parse_metadata(file.read())
    except OSError:
        return []
    missing: list[str] = []
    for text in metadata.requires:
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            continue
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
            continue
        try:
            installed = distribution(requirement.name).version
            fits = requirement.specifier.contains(installed, prereleases=True)
        except (PackageNotFoundError, InvalidVersion):
            fits = False
        if not fits:
            missing.append(f"{requirement.name}{requirement.specifier}")
    return sorted(missing)
