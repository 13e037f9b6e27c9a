"""What an installer recorded of its files is compared with what is there."""

from __future__ import annotations

import base64
import hashlib
import os
from pathlib import Path

import pytest

from retrai_goals_python.environment.installed import is_as_recorded
from retrai_goals_python.environment.probing import packages_fingerprint


@pytest.mark.parametrize(("content", "same"), [(b"", True), (b"a = 1\n", False), (None, False)])
def test_only_a_file_that_can_be_read_is_as_recorded(
    tmp_path: Path, content: bytes | None, same: bool
) -> None:
    path = tmp_path / "__init__.py"
    if content is None:
        path.mkdir()  # the user who runs this may read every file
    else:
        path.write_bytes(content)
    empty = base64.urlsafe_b64encode(hashlib.sha256(b"").digest()).rstrip(b"=").decode()
    assert is_as_recorded(path, {path: f"sha256={empty}"}) is same


def test_byte_code_of_a_package_is_no_other_package(tmp_path: Path) -> None:
    folder = tmp_path / "site-packages"
    for name in ("shop", "shop-1.0.dist-info"):
        (folder / name).mkdir(parents=True)
    before = packages_fingerprint([str(folder)])
    (folder / "shop" / "__pycache__").mkdir()
    assert packages_fingerprint([str(folder)]) == before
    os.utime(folder / "shop-1.0.dist-info", (1, 1))
    assert packages_fingerprint([str(folder)]) != before
