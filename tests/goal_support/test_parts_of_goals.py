"""What goals are built of: the folder they run in, options in words, files taken away."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import Field, ValidationError

from retrai_core import GoalOptions
from retrai_goal_support import (
    LOOKS_FOR_RETRAI,
    FolderOptions,
    ProjectFile,
    SavedModel,
    ShellWords,
    Trick,
    globs_below,
    missing_folder,
    without_files,
)


class Options(GoalOptions):
    args: ShellWords = Field(default_factory=list[str], max_length=2)
    file: ProjectFile = ""


@pytest.mark.parametrize(
    ("given", "path"), [(".", "."), ("", "."), ("a/b/", "a/b"), ("./a", "a"), ("a..b", "a..b")]
)
def test_a_folder_of_the_project_is_taken(given: str, path: str) -> None:
    assert FolderOptions(path=given).path == path


@pytest.mark.parametrize("path", ["/tmp", "..", "a/../..", "a/../b"])
def test_a_folder_that_may_lie_outside_is_refused(path: str) -> None:
    with pytest.raises(ValidationError, match="must be a folder inside the project"):
        FolderOptions(path=path)


@pytest.mark.parametrize(
    ("given", "path"), [("", ""), (".", "."), ("./a/b.txt", "a/b.txt"), ("a..b", "a..b")]
)
def test_a_file_of_the_project_is_taken_and_none_stays_none(given: str, path: str) -> None:
    assert Options(file=given).file == path


@pytest.mark.parametrize("path", ["/tmp/x", "..", "a/../b"])
def test_a_file_that_may_lie_outside_is_refused(path: str) -> None:
    with pytest.raises(ValidationError, match="must be a file inside the project"):
        Options(file=path)


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "file").touch()
    assert missing_folder(tmp_path, "shop") is None
    for path in ("shap", "file"):
        said = f"the option path={path} names no folder of {tmp_path}"
        assert missing_folder(tmp_path, path) == said


def test_globs_are_those_of_the_folder() -> None:
    globs = ["/tests/", "*.snap", "a/b"]
    assert globs_below("shop", globs) == ["/shop/tests/", "*.snap", "a/b"]
    assert globs_below(".", globs) == globs
    assert globs_below(".", globs) is not globs


@pytest.mark.parametrize(
    ("given", "words"),
    [("", []), ("-k 'a b'", ["-k", "a b"]), (["-k", "a b"], ["-k", "a b"]), (("-x",), ["-x"])],
)
def test_words_are_a_list_or_a_line(given: object, words: list[str]) -> None:
    assert Options.model_validate({"args": given}).args == words


@pytest.mark.parametrize("given", ["it's", "a b c", 3, ["a", 1]])
def test_what_is_no_list_of_words_is_refused(given: object) -> None:
    with pytest.raises(ValidationError):
        Options.model_validate({"args": given})


def test_files_are_away_and_come_back_as_they_were(tmp_path: Path) -> None:
    for name in ("a_test.go", "deep/b_test.go", "kept_test.go"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "a_test.go").chmod(0o755)
    with without_files(tmp_path, ["a_test.go", "deep/b_test.go"]):
        assert [path.name for path in tmp_path.rglob("*.go")] == ["kept_test.go"]
    assert (tmp_path / "deep" / "b_test.go").read_text() == "deep/b_test.go"
    assert (tmp_path / "a_test.go").stat().st_mode & 0o777 == 0o755
    assert list(tmp_path.rglob("*.away")) == []


def test_files_come_back_when_the_check_fails_or_one_was_not_there(tmp_path: Path) -> None:
    (tmp_path / "a.js").touch()
    with pytest.raises(ZeroDivisionError), without_files(tmp_path, ["a.js"]):
        raise ZeroDivisionError
    assert (tmp_path / "a.js").exists()
    with pytest.raises(FileNotFoundError), without_files(tmp_path, ["a.js", "none.js"]):
        pytest.fail("a check must not go on without a file that it was to leave out")
    assert (tmp_path / "a.js").exists()


def test_a_trick_that_reaches_the_runner_is_made_of_a_text() -> None:
    trick = Trick.reaching(r"exit\(\d", "ends the process", lines=2)
    assert (trick.what, trick.reaches_runner, trick.lines) == ("ends the process", True, 2)
    assert trick.pattern.search("exit(0)")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('os.environ["RETRAI_RUN"]', True),
        ('"/tmp/retrai-1/report"', True),
        ("import _Retrai_reporter", True),
        ("we retrain the model", False),
    ],
)
def test_source_that_looks_for_retrai_is_found(text: str, found: bool) -> None:
    assert bool(LOOKS_FOR_RETRAI.pattern.search(text)) == found


class Sizes(SavedModel):
    bytes_of: dict[str, int] = {}


def test_what_was_noted_stays_where_it_cannot_be_noted_anew(tmp_path: Path) -> None:
    place = tmp_path / "run" / "sizes.json"
    Sizes(bytes_of={"a.txt": 3}).save(place)
    assert [path.name for path in place.parent.iterdir()] == ["sizes.json"]
    place.with_name("sizes.json.new").mkdir()
    with pytest.raises(OSError, match="sizes"):
        Sizes(bytes_of={"a.txt": 4}).save(place)
    assert Sizes.load(place) == Sizes(bytes_of={"a.txt": 3})
