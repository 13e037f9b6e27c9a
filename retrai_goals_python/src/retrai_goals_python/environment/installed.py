"""What is installed in a Python environment, read from its folders without running anything in it.

The files are described in the packaging guide's "Recording installed projects" (RECORD,
direct_url.json, entry_points.txt).
"""

from __future__ import annotations

import base64
import csv
import hashlib
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from retrai_goal_support import text_of

_REQUIRES = re.compile(r"^Requires-Dist:\s*([A-Za-z0-9._-]+)(.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Installed:
    """A distribution.

    Attributes:
        name: normalized (`pytest-cov`).
        version: as the folder's name has it.
        folder: its `.dist-info`.
    """

    name: str
    version: str
    folder: Path

    @property
    def site(self) -> Path:
        """The folder that its modules lie in."""
        return self.folder.parent

    def text(self, name: str) -> str:
        """One of the files that describe it; empty where it is missing."""
        return text_of(self.folder / name)

    def record(self) -> dict[Path, str]:
        """Files that it put there, with their digest as RECORD writes it; empty for none."""
        found: dict[Path, str] = {}
        for row in csv.reader(self.text("RECORD").splitlines()):
            if len(row) >= 2 and row[0]:
                found[Path(os.path.normpath(self.site / row[0]))] = row[1]
        return found

    def requires(self) -> list[str]:
        """Names of what it needs, without what only an extra needs."""
        found = _REQUIRES.findall(self.text("METADATA").split("\n\n", 1)[0])
        return [normalized(name) for name, marker in found if "extra ==" not in marker]

    @property
    def plugs_into_pytest(self) -> bool:
        """pytest loads it by itself."""
        return "[pytest11]" in self.text("entry_points.txt").replace(" ", "")

    @property
    def is_from_index(self) -> bool:
        """It was not installed from a folder, an archive or a repository."""
        return not self.text("direct_url.json")


def normalized(name: str) -> str:
    """A distribution's name as tools compare it.

    Example:
        >>> normalized("Pytest_Cov")
        'pytest-cov'
    """
    return re.sub(r"[-_.]+", "-", name).lower()


def installed_in(folders: Sequence[Path]) -> dict[str, Installed]:
    """The distributions in some folders of an import path by name, the first of each name."""
    found: dict[str, Installed] = {}
    for folder in folders:
        for entry in entries(folder):
            if entry.name.endswith(".dist-info"):
                name, _, version = entry.name.removesuffix(".dist-info").partition("-")
                one = Installed(normalized(name), version, Path(entry.path))
                found.setdefault(one.name, one)
    return found


def entries(folder: Path | str) -> list[os.DirEntry[str]]:
    """What stands in a folder, sorted by name; nothing where it cannot be read."""
    try:
        with os.scandir(folder) as found:
            return sorted(found, key=lambda entry: entry.name)
    except OSError:
        return []


def files_below(
    folder: Path, without: Collection[str] = ("__pycache__",)
) -> Iterator[os.DirEntry[str]]:
    """Every file and symlink below a folder; symlinks are not followed.

    Args:
        folder: the folder.
        without: names of folders that are left out.
    """
    pending = [os.fspath(folder)]
    while pending:
        for entry in entries(pending.pop()):
            if not entry.is_dir(follow_symlinks=False):
                yield entry
            elif entry.name not in without:
                pending.append(entry.path)


def is_as_recorded(path: Path, record: Mapping[Path, str]) -> bool:
    """Whether a file is as an installer recorded it: `sha256=...`, in URL-safe base64.

    What cannot be read is not.
    """
    algorithm, _, recorded = record.get(Path(os.path.normpath(path)), "").partition("=")
    if algorithm not in hashlib.algorithms_available:
        return False
    try:
        content = path.read_bytes()
    except OSError:
        return False
    digest = hashlib.new(algorithm, content).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode() == recorded


def ctime_ns(path: Path | os.DirEntry[str]) -> int:
    """When a file was changed last, by the kernel's word; 0 where it is missing."""
    try:
        return os.stat(path, follow_symlinks=False).st_ctime_ns
    except OSError:
        return 0
