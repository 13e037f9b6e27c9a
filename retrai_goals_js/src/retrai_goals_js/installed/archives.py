"""Archives of packages: found by the digest that a lock file names, and read file by file."""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .json_objects import as_object, read_object

MAX_ARCHIVE_BYTES = 200_000_000
MAX_UNPACKED_BYTES = 2_000_000_000
"""Of all archives that one audit reads."""
_CHUNK = 1_000_000


@dataclass(frozen=True, slots=True)
class Archive:
    """What an archive holds.

    Attributes:
        name: the package's, as its package.json says.
        version: the same.
        files: SHA-256 by path inside the package.
        programs: the file by the name of the program that it is started as.
        needs: names of packages that it depends on.
    """

    name: str
    version: str
    files: Mapping[str, bytes]
    programs: Mapping[str, str] = field(default_factory=dict[str, str])
    needs: frozenset[str] = frozenset()


class Archives:
    """Finds archives; each is read once.

    Args:
        caches: folders of npm's cache, in which content stands under its digest.
        single: archives of the user's own.

    Attributes:
        fetched: a cache that holds only what the registry gave for a name and a version.
    """

    def __init__(self, caches: Sequence[Path], single: Sequence[Path] = ()) -> None:
        self._caches = list(caches)
        self.fetched: Path | None = None
        self._single = list(single)
        self._by_digest: dict[str, bytes] | None = None
        self._known: dict[tuple[str, bool], Archive] = {}
        self._left = MAX_UNPACKED_BYTES

    def get(self, digest: str, *, of_registry: bool = False) -> Archive | None:
        """The archive with this SHA-512, or None where no place has it.

        Args:
            digest: in hexadecimal.
            of_registry: no place counts but `fetched`.
        """
        key = (digest, of_registry)
        if key not in self._known:
            data = self._find(digest, of_registry)
            archive = self._read(data) if data is not None else None
            if archive is None:
                return None
            self._known[key] = archive
        return self._known[key]

    def _find(self, digest: str, of_registry: bool) -> bytes | None:
        fetched = [] if self.fetched is None else [self.fetched]
        for cache in fetched if of_registry else [*self._caches, *fetched]:
            place = cache / "_cacache" / "content-v2" / "sha512" / digest[:2] / digest[2:4]
            data = _content(place / digest[4:])
            if data is not None and hashlib.sha512(data).hexdigest() == digest:
                return data
        if of_registry:
            return None
        if self._by_digest is None:
            contents = [data for path in self._single if (data := _content(path)) is not None]
            self._by_digest = {hashlib.sha512(data).hexdigest(): data for data in contents}
        return self._by_digest.get(digest)

    def _read(self, data: bytes) -> Archive | None:
        files: dict[str, bytes] = {}
        manifest = b""
        try:
            with tarfile.open(fileobj=io.BytesIO(data), mode="r|gz") as archive:
                for member in archive:
                    path = os.path.normpath(member.name).partition("/")[2]
                    content = archive.extractfile(member) if member.isfile() else None
                    if content is None or not path:
                        continue
                    self._left -= member.size
                    if self._left < 0:
                        return None  # what it holds is audited like anything else
                    digest = hashlib.sha256()
                    while chunk := content.read(_CHUNK):
                        digest.update(chunk)
                        if path == "package.json":
                            manifest += chunk
                    files[path] = digest.digest()
        except (tarfile.TarError, OSError, EOFError, zlib.error):
            return None
        return archive_of(manifest, files)


def archive_of(manifest: bytes, files: Mapping[str, bytes]) -> Archive | None:
    """An archive by its package.json; None where that is none."""
    package = read_object(manifest)
    if package is None:
        return None
    name = str(package.get("name", ""))
    needs = [
        each
        for kind in ("dependencies", "optionalDependencies")
        for each in as_object(package.get(kind))
    ]
    version = str(package.get("version", ""))
    return Archive(name, version, files, _programs(name, package.get("bin")), frozenset(needs))


def _programs(name: str, given: object) -> dict[str, str]:
    if isinstance(given, str):
        return {name.rpartition("/")[2]: os.path.normpath(given)}
    return {each: os.path.normpath(str(path)) for each, path in as_object(given).items()}


def _content(path: Path) -> bytes | None:
    try:
        if path.stat().st_size > MAX_ARCHIVE_BYTES or not path.is_file():
            return None
        return path.read_bytes()
    except OSError:
        return None
