"""Plain paths are looked up, and match what git's rules say of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec

from retrai_core.verification.globs import Globs

GLOBS = ["/", "//", "/a", "/a/", "//a", "/a//b", "/./a", "/a#b", "/a\t", "/a ", "/a/..", "/a\u3000"]


@pytest.mark.parametrize("glob", GLOBS)
def test_a_plain_path_matches_as_in_a_gitignore_file(glob: str) -> None:
    paths = ["a", "a/b", "a/b/c", "b/a", "x/a/b", "a#b", "src/x.py"]
    by_rules = [path for path in paths if GitIgnoreSpec.from_lines([glob]).match_file(path)]
    assert [path for path in paths if Globs([glob]).match(path)] == by_rules


def test_a_lone_slash_means_no_file() -> None:
    assert not Globs(["/"]).match("src/x.py")
    assert not Globs(["/", "/b"]).match("a")


@given(st.lists(st.text("ab./*", min_size=1, max_size=7), min_size=1, max_size=4), st.data())
def test_a_star_in_the_last_name_matches_as_in_a_gitignore_file(
    globs: list[str], data: st.DataObject
) -> None:
    globs = [f"/{glob}" for glob in globs if "//" not in f"/{glob}"] or ["/a*"]
    names = st.text("ab.", min_size=1, max_size=5).filter(lambda name: name.strip("."))
    path = "/".join(data.draw(st.lists(names, min_size=1, max_size=3)))
    assert Globs(globs).match(path) == GitIgnoreSpec.from_lines(globs).match_file(path)
