"""What can be wrong with the installed distributions behind the plugins; nothing is imported."""

from __future__ import annotations

import csv
import shlex
import shutil
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Literal

from packaging.utils import canonicalize_name

from retrai_core import Catalog, Finding, PluginRecord, missing_requirements


def environment_findings(
    catalog: Catalog, used: Collection[tuple[str, str, str]]
) -> Iterator[Finding]:
    """What is wrong with any plugin, and with its distribution.

    Args:
        catalog: what is installed.
        used: kind, name and distribution of the plugins that a run of this project would use; what
            these lack is a problem, what others lack is a note.
    """
    records = catalog.records()
    for record in records:
        yield from _own_finding(record)
        is_used = (record.kind, record.name, record.dist) in used
        yield from _programs(record, "problem" if is_used else "note")
    yield from _shared_patterns(records)
    first = {canonicalize_name(r.dist): r for r in reversed(records) if r.status != "shadowed"}
    for dist in sorted(first):
        yield from _distribution(first[dist])


def _own_finding(record: PluginRecord) -> Iterator[Finding]:
    record.read_manifest()
    about = f"{record.kind} {record.full_name}"
    if record.status in ("broken", "incompatible"):
        yield Finding("problem", about, f"{record.status}: {record.error}", record.fix)
    elif record.status == "shadowed" and record.fix:  # by a pin, nothing is to be fixed
        yield Finding("problem", f"{about} {record.version}", record.error, record.fix)
    elif record.is_usable and record.error:  # a name that two offer
        yield Finding("problem", about, record.error)
    elif record.is_usable and record.entry is None:
        yield Finding(
            "note", about, "its package has no manifest for it: what it needs is not known"
        )


def _programs(record: PluginRecord, level: Literal["problem", "note"]) -> Iterator[Finding]:
    if not record.is_usable:
        return
    for program in record.programs:
        if shutil.which(program) is None:
            yield Finding(
                level,
                f"{record.kind} {record.full_name}",
                f"it runs `{program}`, which is not on PATH",
                f"install {program}",
            )


def _shared_patterns(records: Iterable[PluginRecord]) -> Iterator[Finding]:
    serving: dict[str, list[str]] = {}
    for record in records:
        if record.is_usable:
            for pattern in record.model_patterns:
                serving.setdefault(pattern, []).append(record.full_name)
    for pattern, names in sorted(serving.items()):
        if len(names) > 1:
            yield Finding(
                "problem",
                f"model {pattern}",
                f"served by {' and '.join(names)}",
                f"retrai plugins disable {names[-1]}",
            )


def _distribution(record: PluginRecord) -> Iterator[Finding]:
    if record.status in ("blocked", "broken") or not record.metadata_folder:
        return
    folder = Path(record.metadata_folder)
    about = f"{record.dist} {record.version}".rstrip()
    gone, listed = _gone_files(folder)
    if gone:
        yield Finding(
            "problem",
            about,
            f"{gone} of its {listed} files are gone: its metadata in {folder} is stale",
            f"pip install --force-reinstall {record.dist}",
        )
    missing = missing_requirements(record.metadata_folder)
    if missing:
        yield Finding(
            "problem",
            about,
            f"it requires {', '.join(missing)}, which is not installed like that",
            f"pip install {shlex.join(missing)}",
        )


def _gone_files(folder: Path) -> tuple[int, int]:
    """How many of the files in RECORD are not there, and how many it lists; byte code aside."""
    try:
        with (folder / "RECORD").open(encoding="utf-8", newline="") as file:
            paths = [row[0] for row in csv.reader(file) if row and not row[0].endswith(".pyc")]
    except (OSError, UnicodeDecodeError, csv.Error):
        return 0, 0
    return sum(1 for path in paths if not (folder.parent / path).exists()), len(paths)
