"""What a git tree does not keep of a folder: empty subfolders, and permission bits."""

from __future__ import annotations

import hashlib
import json
import stat
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from ..workspace.atomic_write import replace_file


@dataclass(frozen=True)
class Manifest:
    """Folders and permission bits at one moment.

    Attributes:
        folders: permission bits of each folder, by relative path.
        usual: the bits that most files have, by whether they are executable (`x` or `-`).
        odd: the bits of the other files, by relative path.
    """

    folders: Mapping[str, int] = field(default_factory=dict[str, int])
    usual: Mapping[str, int] = field(default_factory=dict[str, int])
    odd: Mapping[str, int] = field(default_factory=dict[str, int])

    @classmethod
    def of(cls, files: Mapping[str, int], folders: Mapping[str, int]) -> Manifest:
        """From the modes of regular files and of folders, as `stat` gives them."""
        counts = Counter(files.values())
        usual: dict[str, int] = {}
        for mode, _ in reversed(counts.most_common()):
            usual[_kind(mode)] = stat.S_IMODE(mode)
        expected = {mode for mode in counts if stat.S_IMODE(mode) == usual[_kind(mode)]}
        odd = {path: stat.S_IMODE(mode) for path, mode in files.items() if mode not in expected}
        return cls({path: stat.S_IMODE(mode) for path, mode in folders.items()}, usual, odd)

    def mode_of(self, path: str, *, executable: bool) -> int | None:
        """A file's permission bits; None where nothing is known of them."""
        return self.odd.get(path, self.usual.get("x" if executable else "-"))

    def without(self, roots: Collection[str]) -> Manifest:
        """What it says of everything but some folders."""
        inside = tuple(f"{root}/" for root in roots)
        folders = {p: bits for p, bits in self.folders.items() if not f"{p}/".startswith(inside)}
        odd = {p: bits for p, bits in self.odd.items() if not f"{p}/".startswith(inside)}
        return Manifest(folders, self.usual, odd)

    def save(self, room: Path) -> str:
        """Keep it in a folder, once for all that are the same; its name there."""
        known = {"folders": dict(self.folders), "usual": dict(self.usual), "odd": dict(self.odd)}
        # A name may hold bytes that are no UTF-8: JSON writes its half surrogates as escapes.
        data = json.dumps(known, sort_keys=True).encode()
        name = hashlib.sha256(data).hexdigest()[:32]
        path = room / f"{name}.json"
        if not path.exists():
            room.mkdir(exist_ok=True)
            replace_file(path, data)
        return name

    @classmethod
    def load(cls, room: Path, name: str) -> Manifest:
        """Read it back; an empty one where there is none of this name."""
        try:
            data = cast("dict[str, Any]", json.loads((room / f"{name}.json").read_bytes()))
            return cls(data["folders"], data["usual"], data["odd"])
        except (OSError, ValueError, KeyError):
            return cls()


def _kind(mode: int) -> str:
    return "x" if mode & 0o100 else "-"
