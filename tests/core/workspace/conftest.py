"""A project with a secret beside it that no path may reach."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrai_core.workspace.safe_paths import SafeWorkspace

SECRET = b"the secret outside"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_bytes(SECRET)
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def workspace(project: Path) -> SafeWorkspace:
    return SafeWorkspace(project)
