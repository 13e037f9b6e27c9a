"""Which settings of a repository a run may leave."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrai_core.verification.repository_settings import without_programs
from retrai_core.workspace.repository_paths import is_repository


@pytest.mark.parametrize(
    "setting",
    ["[core]\nfsmonitor = x", "[extensions]\nevil = ../evil.py", "[init]\ntemplateDir = evil"],
)
def test_a_setting_that_may_name_a_program_is_taken_out(tmp_path: Path, setting: str) -> None:
    clean, dropped = without_programs(setting.encode(), tmp_path, tmp_path)
    assert clean == setting.partition("\n")[0].encode()
    assert len(dropped) == 1


@pytest.mark.parametrize(
    "setting",
    [
        "[user]\nname = n",
        "[extensions]\nworktreeConfig = true",
        "[extensions]\nobjectFormat = sha256",
        "[init]\ndefaultBranch = main",
        '[remote "origin"]\nurl = ../x.git',
    ],
)
def test_a_harmless_setting_stays(tmp_path: Path, setting: str) -> None:
    assert without_programs(setting.encode(), tmp_path, tmp_path) == (setting.encode(), [])


def test_what_git_takes_for_a_repository_is_one(tmp_path: Path) -> None:
    for name in ("HEAD", "objects", "refs"):
        assert not is_repository(tmp_path)
        (tmp_path / name).write_text("x")  # git only asks whether they may be executed
    assert is_repository(tmp_path)
