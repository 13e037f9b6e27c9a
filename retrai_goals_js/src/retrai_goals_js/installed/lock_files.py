"""What JavaScript lock files name: the digest of every package's archive.

A digest is believed of a lock file as it was before the run, whatever program wrote it: npm, yarn,
pnpm and bun all write `sha512-` and Base64 (the form of the web's Subresource Integrity).
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from .json_objects import as_object, read_object

LOCK_NAMES = (
    "package-lock.json",
    "npm-shrinkwrap.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "bun.lock",
)
MODULES = "node_modules"
_DIGEST = re.compile(r"sha512-([A-Za-z0-9+/]{86}==)")
_AROUND = 600
_ARCHIVE = re.compile(r"file:([^\"'\s#()]+\.(?:tgz|tar\.gz))")


@dataclass(frozen=True, slots=True)
class Locked:
    """A package's archive: the name in its own package.json, and its SHA-512 in hexadecimal."""

    name: str
    digest: str


class LockFile:
    """One lock file.

    Args:
        folder: where it stands, relative to the project; empty for the project itself.
        text: what is in it.
        placed: a package counts only in the place that it is named for, where the file names one;
            one that was made anew says nothing of places.

    Attributes:
        is_made_anew: it was made of a manifest, which may name archives of the run's own.

    Example:
        >>> digest = base64.b64encode(bytes(64)).decode()
        >>> lock = LockFile("", f'left-pad@^1.0.0:\\n  integrity sha512-{digest}')
        >>> lock.archives_of("node_modules/left-pad")[0].digest == bytes(64).hex()
        True
    """

    def __init__(self, folder: str, text: str, *, placed: bool = True) -> None:
        self.folder = folder
        self._text = text
        self.is_made_anew = not placed
        self._places = _places(text)
        self._around = [] if self._places else _digests_with_text_before(text)

    @property
    def names_archives(self) -> bool:
        """Whether there is a digest in it."""
        return bool(self._places or self._around)

    def local_archives(self) -> list[str]:
        """Archives of the user's own that it names (`file:x.tgz`), relative to its folder."""
        return list(dict.fromkeys(_ARCHIVE.findall(self._text)))

    def archives_of(self, package: str) -> list[Locked]:
        """What may stand in a package's folder, a path relative to the project."""
        if not (f"{package}/").startswith(f"{self.folder}/" if self.folder else ""):
            return []
        name = name_of(package)
        if self._places:
            place = package[len(self.folder) :].lstrip("/")
            ends = f"/{MODULES}/{name}"
            return [
                locked
                for path, locked in self._places.items()
                if (path == place if not self.is_made_anew else f"/{path}".endswith(ends))
            ]
        named = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])")
        alias = re.compile(rf"{re.escape(name)}@npm:((?:@[^/\s\"]+/)?[^@\s\"]+)@")
        return [
            Locked(other, digest)
            for digest, around in self._around
            if name in around and named.search(around)
            for other in {name, *alias.findall(around)}
        ]


def name_of(package: str) -> str:
    """The name by which a package's folder is loaded.

    Example:
        >>> name_of("node_modules/a/node_modules/@scope/b")
        '@scope/b'
    """
    return f"/{package}".rpartition(f"/{MODULES}/")[2]


def roots_of(path: str) -> list[tuple[str, str]]:
    """The packages that a file belongs to, the innermost first, each with the path inside it.

    Example:
        >>> roots_of("node_modules/@s/a/node_modules/b/i.js")
        [('node_modules/@s/a/node_modules/b', 'i.js'), ('node_modules/@s/a', 'node_modules/b/i.js')]
    """
    parts = PurePosixPath(path).parts
    found: list[tuple[str, str]] = []
    for at, part in enumerate(parts):
        if part != MODULES or at + 1 >= len(parts):
            continue
        end = at + (3 if parts[at + 1].startswith("@") else 2)
        if end < len(parts):
            found.append(("/".join(parts[:end]), "/".join(parts[end:])))
    return found[::-1]


def _places(text: str) -> dict[str, Locked]:
    """Of npm's own lock file: what stands where; nothing of any other."""
    if not text.lstrip().startswith("{"):
        return {}
    lock = read_object(text) or {}  # bun's has commas too many
    packages = as_object(lock.get("packages"))
    found: dict[str, Locked] = {}
    for path, value in packages.items():
        entry = as_object(value)
        match = _DIGEST.search(str(entry.get("integrity", "")))
        if path and match is not None:
            found[path] = Locked(str(entry.get("name") or name_of(path)), _hex(match[1]))
    return found


def _digests_with_text_before(text: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    end = 0
    for match in _DIGEST.finditer(text):
        found.append((_hex(match[1]), text[max(end, match.start() - _AROUND) : match.start()]))
        end = match.end()
    return found


def _hex(digest: str) -> str:
    return base64.b64decode(digest).hex()
