"""Rust tests live inside the sources that are fixed: what they say must stay as it was.

A whole source file cannot be protected, so the text of every test function, of what stands in
`#[cfg(test)]` modules beside them, and of every documentation example that is run is kept when the
run begins. New ones may come; those that were there must still be there, word for word.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, Field

from retrai_goal_support import SavedModel, project_files, text_of

from ..syntax_tree import text_of_node
from .source import items, parse_rust

MAX_FILE_BYTES = 2_000_000
_DOC_LINE = re.compile(r"^[ \t]*//(?:/(?!/)|!) ?(.*)$", re.MULTILINE)
_FENCE = re.compile(r"^\s*(?:```|~~~)", re.MULTILINE)
_RUN = re.compile(r"^(?:rust|should_panic|no_run|compile_fail|edition20\d\d|[\s,]+)*$")
_TEST = re.compile(r"#\[\s*(?:\w+::)*(?:test|rstest|test_case|proptest)\b")
_FOR_TESTS = re.compile(rf"{_TEST.pattern}|#\[\s*cfg\s*\(\s*test\s*\)\s*\]")
_CONDITION = re.compile(r"#\[\s*cfg(?:_attr)?\s*\((?!\s*test\s*\))")


class InlineTests(BaseModel):
    """The tests inside one file.

    Attributes:
        items: text by path inside the file (`tests::adds`), attributes of the modules included.
        examples: documentation examples that are run, in order.
        names: test functions that are compiled whatever the platform and features are.
    """

    items: dict[str, str] = Field(default_factory=dict[str, str])
    examples: list[str] = Field(default_factory=list[str])
    names: list[str] = Field(default_factory=list[str])


class KeptTests(SavedModel):
    """The tests inside every file of a project, by relative path."""

    files: dict[str, InlineTests] = Field(default_factory=dict[str, InlineTests])
    complete: bool = True
    """Whether the first check told every case; else only the text says what there was."""

    def test_names(self) -> set[str]:
        """Functions that must show up in a whole run."""
        return {name for file in self.files.values() for name in file.names}


def read_tests(source: str) -> InlineTests:
    """The tests inside one file.

    Example:
        >>> found = read_tests("fn a() {}\\n#[test]\\nfn adds() { assert_eq!(1 + 1, 2); }\\n")
        >>> found.names, list(found.items)
        (['adds'], ['fn adds'])
    """
    kept: dict[str, str] = {}
    names: list[str] = []
    for item in items(parse_rust(source)):
        if item.kind in ("mod", "use") or not _FOR_TESTS.search(item.attributes):
            continue
        text = _plain(item.attributes + text_of_node(item.node))
        key = f"{item.kind} {item.path}"
        # Two of one name under different conditions: what counts is unknown, so both are kept.
        kept[key] = f"{kept[key]}\n{text}" if key in kept else text
        is_test = item.kind == "fn" and _TEST.search(item.attributes)
        if is_test and not _CONDITION.search(item.attributes):
            names.append(item.path.rpartition("::")[2])
    return InlineTests(items=kept, examples=list(_examples(source)), names=names)


def read_project(folder: Path) -> dict[str, InlineTests]:
    """The tests inside every source file below `folder`, by relative path."""
    found: dict[str, InlineTests] = {}
    for path in source_files(folder):
        tests = read_tests(text_of(path))
        if tests.items or tests.examples:
            found[path.relative_to(folder).as_posix()] = tests
    return found


def changed_tests(before: dict[str, InlineTests], now: dict[str, InlineTests]) -> dict[str, str]:
    """What was there and is not any more, word for word: the text that was, by where it stood.

    Args:
        before: of the start of the run.
        now: of the project as it stands.
    """
    changed: dict[str, str] = {}
    for path, tests in before.items():
        # A file that was moved takes its tests along.
        files = [now[path]] if path in now else list(now.values())
        for key, text in tests.items.items():
            if _words(text) not in (_words(file.items.get(key, "")) for file in files):
                changed[f"{path}: {key}"] = text
        there = Counter(_words(example) for file in files for example in file.examples)
        wanted = Counter(map(_words, tests.examples))
        for example in tests.examples:
            if there[_words(example)] < wanted[_words(example)]:
                changed[f"{path}: documentation example"] = example
    return changed


def source_files(folder: Path) -> Iterator[Path]:
    """The Rust files below `folder`, without what was built or is not the project's own."""
    for path in (folder / name for name in project_files(folder) if name.endswith(".rs")):
        if path.is_file() and path.stat().st_size <= MAX_FILE_BYTES:
            yield path


def _examples(source: str) -> Iterator[str]:
    """The text of each fenced example in documentation comments that rustdoc runs."""
    for block in _FENCE.split("\n".join(_DOC_LINE.findall(source)))[1::2]:
        if _RUN.match(block.partition("\n")[0].strip()):
            yield _plain(block)


def _plain(text: str) -> str:
    """The lines without their indentation, as a person is shown them."""
    return "\n".join(line.strip() for line in text.splitlines() if line.strip())


def _words(text: str) -> str:
    """Blanks and line ends are formatting, which is no change."""
    return " ".join(text.split())
