"""What a command printed and wrote when the run began: the output that it must still have."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from pydantic import ConfigDict, Field

from retrai_goal_support import SavedModel, project_files

from .other_inputs import OtherInput, digest_of

SHOWN_CHARS = 2000
MAX_BYTES = 20_000_000
_BUILT = re.compile(
    r"(?:^|/)(?:build|out|bin|obj|dist|\.cache)/|\.(?:o|d|a|so|dylib|dll|exe|obj|class|rlib|pyc|gcda)$"
)
"""What a build leaves, which a new source file adds to."""


class KeptOutput(SavedModel):
    """The reference, kept in the run's own folder.

    Attributes:
        digest: of standard output, without what is ignored; empty where it was not reproducible.
        shown: the beginning of it, for people.
        files: digests of the files that it writes, by the path that was given.
        written: files of the project that the command itself made or changed.
        overwritten: what the data files among them held before it.
        others: other inputs, with what it printed for them.
        problem: why there is nothing to compare with; empty when there is.
    """

    model_config = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")

    digest: str = ""
    shown: str = ""
    files: dict[str, str] = Field(default_factory=dict[str, str])
    written: list[str] = Field(default_factory=list[str])
    overwritten: dict[str, bytes] = Field(default_factory=dict[str, bytes])
    others: list[OtherInput] = Field(default_factory=list[OtherInput])
    problem: str = ""


def comparable(stdout: str, ignored: Sequence[str]) -> str:
    """What is compared: the output without what the patterns fit.

    Example:
        >>> comparable("sum 3\\ntook 0.12 s\\n", [r"^took .* s$"])
        'sum 3\\n\\n'
    """
    for pattern in ignored:
        stdout = re.sub(pattern, "", stdout, flags=re.MULTILINE)
    return stdout


def digest_of_all(printed: str, files: dict[str, str]) -> str:
    """The digest of what was printed and of the files that were written, from their own digests."""
    return digest_of("\n".join([printed, *files.values()])) if files else printed


def digest_files(folder: Path, names: Sequence[str]) -> dict[str, str]:
    """SHA-256 of each file; empty where there is none."""
    found: dict[str, str] = {}
    for name in names:
        try:
            found[name] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        except OSError:
            found[name] = ""
    return found


def file_stats(project: Path) -> dict[str, tuple[int, int]]:
    """Size and change time of the project's files, by relative path."""
    found: dict[str, tuple[int, int]] = {}
    for name in project_files(project):
        with suppress(OSError):  # gone since it was listed
            status = (project / name).lstat()
            found[name] = status.st_size, status.st_mtime_ns
    return found


def data_in(project: Path, names: Iterable[str]) -> dict[str, bytes]:
    """What files of a project hold, up to `MAX_BYTES` in all."""
    found: dict[str, bytes] = {}
    left = MAX_BYTES
    for name in names:
        with suppress(OSError):  # gone since it was listed, or closed to us
            left -= (project / name).stat().st_size
            if left < 0:
                break
            found[name] = (project / name).read_bytes()
    return found


def put_back(copy: Path, files: Mapping[str, bytes]) -> None:
    """Give files of a copy these contents. Links, and what is not there, stay as they are."""
    for name, data in files.items():
        path = copy / name
        if path.is_file() and not path.is_symlink():
            with suppress(OSError):  # read-only: the command replaces it by another file
                path.write_bytes(data)


def changed_files(
    before: dict[str, tuple[int, int]], after: dict[str, tuple[int, int]]
) -> list[str]:
    """Files that were made or changed between two looks, sorted, without what builds leave."""
    changed = (name for name, stat in after.items() if before.get(name) != stat)
    return sorted(name for name in changed if not _BUILT.search(name))
