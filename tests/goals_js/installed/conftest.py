"""Projects with packages in `node_modules`, made without a network."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import tarfile
from collections.abc import Mapping
from pathlib import Path

import pytest

SCRIPT = r"""#!/bin/sh
basedir=$(dirname "$(echo "$0" | sed -e 's,\\,/,g')")

case `uname` in
    *CYGWIN*|*MINGW*|*MSYS*)
        if command -v cygpath > /dev/null 2>&1; then
            basedir=`cygpath -w "$basedir"`
        fi
    ;;
esac

if [ -z "$NODE_PATH" ]; then
  export NODE_PATH="HERE/node_modules/.pnpm/tool@1.0.0/node_modules"
else
  export NODE_PATH="HERE/node_modules/.pnpm/tool@1.0.0/node_modules:$NODE_PATH"
fi
if [ -x "$basedir/node" ]; then
  exec "$basedir/node"  "$basedir/../tool/bin/tool.js" "$@"
else
  exec node  "$basedir/../tool/bin/tool.js" "$@"
fi
"""
"""A script of pnpm's in the place of a link; HERE is the project."""


def packed(files: Mapping[str, str]) -> bytes:
    """An archive as `npm pack` makes it."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return made.getvalue()


def integrity(archive: bytes) -> str:
    """Its digest as lock files write it."""
    return f"sha512-{base64.b64encode(hashlib.sha512(archive).digest()).decode()}"


class Shelf:
    """A project and a cache of npm's.

    Attributes:
        project: the project's folder.
        cache: npm's cache.
        packages: for npm's lock file, by place.
    """

    def __init__(self, folder: Path) -> None:
        self.project = folder / "project"
        self.cache = folder / "cache"
        self.packages: dict[str, dict[str, str]] = {}
        self.project.mkdir()

    def lock(self, place: str, files: Mapping[str, str], name: str = "") -> str:
        """Cache an archive with these files and lock it for a place; its integrity."""
        archive = packed(files)
        digest = hashlib.sha512(archive).hexdigest()
        path = self.cache / "_cacache" / "content-v2" / "sha512" / digest[:2] / digest[2:4]
        path.mkdir(parents=True, exist_ok=True)
        (path / digest[4:]).write_bytes(archive)
        self.packages[place] = {"integrity": integrity(archive), **({"name": name} if name else {})}
        return integrity(archive)

    def npm_lock(self) -> str:
        """npm's lock file."""
        return json.dumps({"lockfileVersion": 3, "packages": {"": {}, **self.packages}})

    def install(self, place: str, files: Mapping[str, str]) -> list[str]:
        """Write files into a place; their paths."""
        for name, text in files.items():
            path = self.project / place / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return [f"{place}/{name}" for name in files]


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)
