"""Wheels made by hand: a zip file with metadata, unpacked the way that an installer does it."""

from __future__ import annotations

import base64
import hashlib
import shutil
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Wheel:
    """One distribution.

    Attributes:
        dist: its name; the package is called the same, with underscores.
        entry_points: entry point lines by group.
        code: of the module `plugin` in the package.
        manifest: the text of `retrai.toml`; empty for none.
        requires: the distributions that it requires.
        summary: of the metadata.
        leftover: the package is removed after the installation, its metadata stays.
    """

    dist: str
    entry_points: Mapping[str, Sequence[str]]
    code: str = ""
    manifest: str = ""
    requires: Sequence[str] = ()
    summary: str = "a plugin of the hostile-plugin table"
    leftover: bool = False
    files: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def package(self) -> str:
        """The name of the package that it brings."""
        return self.dist.replace("-", "_").lower()

    def contents(self) -> dict[str, bytes]:
        """Every file of the wheel by its path in it, RECORD last."""
        info = f"{self.package}-1.0.dist-info"
        metadata = [f"Metadata-Version: 2.4\nName: {self.dist}\nVersion: 1.0"]
        metadata += [f"Summary: {self.summary}"]
        metadata += [f"Requires-Dist: {requirement}" for requirement in self.requires]
        groups = [
            "\n".join([f"[{group}]", *lines, ""]) for group, lines in self.entry_points.items()
        ]
        texts = {
            f"{self.package}/__init__.py": "",
            f"{self.package}/plugin.py": self.code,
            f"{info}/METADATA": "\n".join(metadata) + "\n",
            f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            f"{info}/entry_points.txt": "\n".join(groups),
        }
        if self.manifest:
            texts[f"{self.package}/retrai.toml"] = self.manifest
        made = {path: text.encode() for path, text in (texts | dict(self.files)).items()}
        lines = [
            f"{path},sha256={_digest(content)},{len(content)}" for path, content in made.items()
        ]
        made[f"{info}/RECORD"] = "\n".join([*lines, f"{info}/RECORD,,", ""]).encode()
        return made

    def build(self, folder: Path) -> Path:
        """Write the wheel into `folder`; its path."""
        path = folder / f"{self.package}-1.0-py3-none-any.whl"
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in self.contents().items():
                archive.writestr(name, content)
        return path

    def install(self, site: Path, wheels: Path) -> None:
        """Build it in `wheels` and unpack it into `site`."""
        with zipfile.ZipFile(self.build(wheels)) as archive:
            archive.extractall(site)
        if self.leftover:
            shutil.rmtree(site / self.package)


def _digest(content: bytes) -> str:
    digest = hashlib.sha256(content).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
