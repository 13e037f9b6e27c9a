"""Finds the distributions that offer plugins, without importing any of their code.

A scan of 300 distributions takes a few milliseconds this way. Importing `importlib_metadata` alone
takes ten times as long, so it is used only if plain folders are not enough.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from .kinds import normalised

_SUFFIXES = (".dist-info", ".egg-info")
_SIGN = b"[retrai."
_READ_AT_ONCE = 65_536


class FoundDistribution(NamedTuple):
    """A distribution that has entry points in a retrai group.

    Attributes:
        name: normalised, from the metadata folder's name.
        version: from the folder's name; empty when it does not say.
        folder: the metadata folder; empty when another finder offered the distribution.
        entry_points: the bytes of its `entry_points.txt`.
        text: the metadata, where another finder offered the distribution.
        shadowed_by: the metadata folder of the distribution of this name that comes earlier on the
            path, which is the one that Python imports; empty when this is it.
    """

    name: str
    version: str
    folder: str
    entry_points: bytes
    text: bytes | None = None
    shadowed_by: str = ""

    def metadata(self) -> bytes | None:
        """The bytes of METADATA or PKG-INFO; None when there is neither."""
        if not self.folder:
            return self.text
        raw = _read(os.path.join(self.folder, "METADATA"))
        if raw is not None:
            return raw
        raw = _read(os.path.join(self.folder, "PKG-INFO"))
        return None if raw is None else self._required_by_egg() + raw

    def _required_by_egg(self) -> bytes:
        # An older setuptools writes an egg-info's requirements into a file of their own.
        raw = _read(os.path.join(self.folder, "requires.txt")) or b""
        lines = raw.partition(b"[")[0].split(b"\n")
        return b"".join(b"Requires-Dist: " + line + b"\n" for line in lines if line.strip())


def scan_distributions(paths: Sequence[str] | None = None) -> list[FoundDistribution]:
    """Every distribution with plugins, sorted by name.

    Args:
        paths: the folders to look in; `sys.path` (and every other finder) when left out.
    """
    found: list[FoundDistribution] = []
    first: dict[str, FoundDistribution] = {}
    for dist in _all_distributions(paths):
        earlier = first.setdefault(dist.name, dist)
        if not dist.entry_points:
            continue
        if earlier is dist:
            found.append(dist)
        # An editable checkout's egg-info beside its dist-info is one installation.
        elif earlier.version != dist.version:
            found.append(dist._replace(shadowed_by=earlier.folder or "another finder"))
    return sorted(found, key=lambda dist: (dist.name, dist.shadowed_by, dist.version))


def _all_distributions(paths: Sequence[str] | None) -> Iterator[FoundDistribution]:
    archives: list[str] = []
    seen: set[str] = set()
    for path in sys.path if paths is None else paths:
        folder = os.path.abspath(path or os.curdir)
        if folder in seen:
            continue
        seen.add(folder)
        try:
            names = sorted(_metadata_folders(folder), reverse=True)
        except NotADirectoryError:
            archives.append(folder)
            continue
        except OSError:  # a path that is not there, or may not be read: Python skips it as well
            continue
        for name in names:
            yield _distribution(folder, name)
    if archives:
        yield from _archived(archives)
    if paths is None:
        yield from _from_other_finders()


def _metadata_folders(folder: str) -> list[str]:
    # pip renames to `~name` what it could not remove: such a folder is no installation.
    return [name for name in os.listdir(folder) if name.endswith(_SUFFIXES) and name[0] != "~"]


def _distribution(folder: str, entry: str) -> FoundDistribution:
    name, _, version = entry.rpartition(".")[0].partition("-")
    if entry.endswith(".egg-info"):
        version = version.partition("-py")[0]
    path = f"{folder}{os.sep}{entry}"
    raw = _read(f"{path}{os.sep}entry_points.txt") or b""
    return FoundDistribution(normalised(name), version, path, raw if _SIGN in raw else b"")


def _read(path: str) -> bytes | None:
    # Most distributions have no entry points: `os.open` says so in half the time of `open`, whose
    # files also take twice as long to read.
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    data = b""
    try:
        while part := os.read(descriptor, _READ_AT_ONCE):
            data += part
    except OSError:  # a folder
        return None
    finally:
        os.close(descriptor)
    return data


def _archived(archives: list[str]) -> Iterator[FoundDistribution]:
    """Distributions in zip files and eggs on the path."""
    from importlib_metadata import DistributionFinder, MetadataPathFinder

    context = DistributionFinder.Context(path=archives)
    yield from _through_metadata(MetadataPathFinder.find_distributions(context))


def _from_other_finders() -> Iterator[FoundDistribution]:
    """Distributions of import hooks that bring their own way of finding them."""
    finders = [finder for finder in sys.meta_path if _is_foreign(finder)]
    if not finders:
        return
    from importlib_metadata import DistributionFinder

    for finder in finders:
        find = getattr(finder, "find_distributions")  # noqa: B009 - not in the typed protocol
        try:
            yield from _through_metadata(find(DistributionFinder.Context()))
        except Exception as error:  # noqa: BLE001 - one strange finder hides no other plugin
            warnings.warn(f"{finder!r} cannot list its distributions: {error!r}", stacklevel=2)


def _is_foreign(finder: object) -> bool:
    if getattr(finder, "find_distributions", None) is None:
        return False
    kind = finder if isinstance(finder, type) else type(finder)
    return not kind.__module__.startswith(("_frozen_importlib", "importlib", "_distutils_hack"))


def _through_metadata(distributions: Iterable[object]) -> Iterator[FoundDistribution]:
    for dist in distributions:
        read = getattr(dist, "read_text")  # noqa: B009 - either library's Distribution
        raw = (read("entry_points.txt") or "").encode()
        text = (read("METADATA") or read("PKG-INFO") or "").encode()
        from .metadata import parse_metadata

        metadata = parse_metadata(text)
        if metadata.name:
            entry_points = raw if _SIGN in raw else b""
            yield FoundDistribution(
                normalised(metadata.name), metadata.version, "", entry_points, text=text
            )
