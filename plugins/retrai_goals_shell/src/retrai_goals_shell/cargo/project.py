"""What cargo says of a project: where each test program's source stands."""

from __future__ import annotations

import os
from pathlib import Path

from pydantic import BaseModel, ValidationError


class CargoTarget(BaseModel):
    """One library, program or test; `src_path` is absolute."""

    name: str
    src_path: str


class CargoPackage(BaseModel):
    """One package of the workspace."""

    targets: list[CargoTarget]


class CargoProject(BaseModel):
    """What `cargo metadata --no-deps` prints."""

    packages: list[CargoPackage] = []

    @classmethod
    def read(cls, stdout: str) -> CargoProject:
        """cargo's answer; no package where it gave none."""
        try:
            return cls.model_validate_json(stdout[stdout.find("{") :])
        except ValidationError:
            return cls()

    def source_of(self, crate: str, path: str, folder: Path) -> str:
        """Where a target's root file stands, relative to `folder`; else crate and path.

        Args:
            crate: as cargo names the program.
            path: as cargo names the file, relative to its package.
            folder: where cargo ran.
        """
        found = {
            target.src_path
            for package in self.packages
            for target in package.targets
            if target.name.replace("-", "_") == crate.replace("-", "_")
            and Path(target.src_path).as_posix().endswith(f"/{path}")
        }
        if len(found) != 1:
            return f"{crate}:{path}"
        return os.path.relpath(found.pop(), os.path.realpath(folder)).replace(os.sep, "/")
