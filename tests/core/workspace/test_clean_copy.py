"""Files are taken out of a copy and put back; nothing outside the copy is touched."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from retrai_core import without_files


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    folder = tmp_path / "room" / "shop"
    (folder / "tests" / "sub").mkdir(parents=True)
    (folder / "tests" / "sub" / "Documents").write_text("a new test\n")
    return folder


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    (folder / "sub" / "Documents").mkdir(parents=True)
    (folder / "sub" / "Documents" / "thesis").write_text("years of work\n")
    return folder


def replace_by_link(folder: Path, target: Path) -> None:
    shutil.rmtree(folder)
    folder.symlink_to(target)


@pytest.mark.parametrize("replaced", ["tests/sub", "tests"])
def test_a_symlink_that_a_check_put_in_a_folders_place_is_not_followed(
    copy: Path, home: Path, replaced: str
) -> None:
    with without_files(copy, ["tests/sub/Documents"]):
        replace_by_link(copy / replaced, home / "sub" if replaced == "tests/sub" else home)
    assert (home / "sub" / "Documents" / "thesis").read_text() == "years of work\n"
    assert not (copy / replaced).is_symlink()
    assert (copy / "tests" / "sub" / "Documents").read_text() == "a new test\n"


@pytest.mark.parametrize("replaced", [".", ".."])
def test_a_copy_that_a_symlink_has_replaced_is_refused(
    copy: Path, home: Path, replaced: str
) -> None:
    link = Path(copy, replaced).resolve()
    target = home if replaced == "." else home.parent / "other"
    shutil.copytree(home, target / copy.relative_to(link) / "tests", dirs_exist_ok=True)
    with (
        pytest.raises(OSError, match="took the place of"),
        without_files(copy, ["tests/sub/Documents"]),
    ):
        replace_by_link(link, target)
    assert (copy / "tests" / "sub" / "Documents" / "thesis").exists()


def test_a_file_outside_the_copy_is_not_taken(copy: Path, home: Path) -> None:
    (copy / "linked").symlink_to(home)
    with (
        pytest.raises(OSError, match="lies outside the copy"),
        without_files(copy, ["linked/sub"]),
    ):
        pytest.fail("nothing may be checked without a file that is still there")
    assert (home / "sub" / "Documents" / "thesis").exists()


def test_a_file_below_a_linked_folder_of_the_copy_comes_back(copy: Path) -> None:
    (copy / "linked").symlink_to("tests")
    with without_files(copy, ["linked/sub/Documents"]):
        assert not (copy / "tests" / "sub" / "Documents").exists()
    assert (copy / "tests" / "sub" / "Documents").read_text() == "a new test\n"
    assert (copy / "linked").is_symlink()


@pytest.mark.parametrize("is_folder", [True, False])
def test_a_file_comes_back_where_its_folder_is_gone_or_became_a_file(
    copy: Path, is_folder: bool
) -> None:
    with without_files(copy, ["tests/sub/Documents"]):
        shutil.rmtree(copy / "tests")
        if not is_folder:
            (copy / "tests").write_text("x")
    assert (copy / "tests" / "sub" / "Documents").read_text() == "a new test\n"


def test_what_is_taken_away_lies_in_a_folder_that_a_later_run_removes(copy: Path) -> None:
    with without_files(copy, ["tests/sub/Documents"]):
        assert list(copy.parent.iterdir()) == [copy]  # `crates/*` finds no other member there
        names = os.listdir(tempfile.gettempdir())
        assert any(name.startswith(f"retrai-away-{os.getpid()}.") for name in names)
