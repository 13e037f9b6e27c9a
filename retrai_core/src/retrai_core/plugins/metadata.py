"""The few fields of a distribution's METADATA that a scan shows or checks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

_HOME = ("homepage", "home", "source", "sourcecode", "repository", "documentation")


class Metadata(NamedTuple):
    """Fields of METADATA (or PKG-INFO); empty where it does not say.

    Attributes:
        requires: every `Requires-Dist`, as written.
        missing: there was no metadata file at all.
    """

    name: str = ""
    version: str = ""
    home_page: str = ""
    requires: tuple[str, ...] = ()
    missing: bool = False


def parse_metadata(raw: bytes | None) -> Metadata:
    """Read the header of a METADATA file; bytes that are not UTF-8 are replaced, not refused.

    `email.parser` would read it too, but costs a listing more than everything else it does.
    """
    if raw is None:
        return Metadata(missing=True)
    name = version = home = ""
    requires: list[str] = []
    urls: dict[str, str] = {}
    header = raw.partition(b"\n\n")[0]  # the long description below it is most of the file
    for key, value in _fields(header.decode("utf-8", "replace")):
        if key == "name":
            name = value
        elif key == "version":
            version = value
        elif key == "requires-dist":
            requires.append(value)
        elif key == "home-page":
            home = value
        elif key == "project-url":
            label, _, url = value.partition(",")
            urls["".join(c for c in label.lower() if c.isalnum())] = url.strip()
    home = home or next((urls[label] for label in _HOME if label in urls), "")
    return Metadata(name, version, home, tuple(requires))


def _fields(text: str) -> Iterator[tuple[str, str]]:
    key, value = "", ""
    for line in text.splitlines():
        if not line.strip():
            break
        if line[0] in " \t":
            value = f"{value} {line.strip()}"
            continue
        if key:
            yield key, value
        key, _, value = line.partition(":")
        key, value = key.strip().lower(), value.strip()
    if key:
        yield key, value


def direct_url(metadata_folder: str) -> object:
    """What the distribution's `direct_url.json` (PEP 610) says; None without one that can be read.

    It is there for what was installed from a folder, an archive or a repository.
    """
    import json  # a scan does without it

    try:
        with open(f"{metadata_folder}/direct_url.json", encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return None
