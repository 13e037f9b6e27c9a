"""Expectations that were not met when the run began, and must not be met by other values now.

Before the first turn the command runs once on a copy whose tests note what they compare. An
expectation that was not met then failed the command, so it is looked at. When the command passes,
that expectation is changed: to the value that was answered before, to one that another place
expects, and to a far one. A command that still passes does not check the value. A program of
the check that exits with status 0 must be able to fail there, too.
"""

from __future__ import annotations

import ast
import asyncio
import glob
import hashlib
import json
import re
import secrets
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import isclose
from pathlib import Path

from pathspec import GitIgnoreSpec
from pydantic import Field

from retrai_core import Contradiction, GoalResult
from retrai_goal_support import SavedModel, contradiction_of, project_files, text_of

from ..edits import edited, read_editable
from ..trial_copy import trial_copy
from .expectation import Expectation
from .in_files import (
    comparisons,
    expectations_in,
    following,
    mark_of_start,
    marks_of,
    sourced_files,
)
from .program_ends import exits_in, failing_after_end, failing_at_end, language_of, start_of

LONGEST_S = 60.0
"""A command that takes longer is not run once more when the run begins."""
LONGEST_DECIDED_S = 3.0
"""With a command that takes longer it is not found out which expectation it fails for."""
MAX_UNMET = 3
MAX_ENDS = 2
MAX_TRIALS = 3
"""So many contradictions: with the check of the copy, and the look at it, they are five checks."""
MAX_SECONDS = 3.0
MOST = 2.0
"""All contradictions together take at most so long, or so many times as long as one check."""
_TOLERANCES, _FAR = 10, 1_000_003
"""So many tolerances is near, and so much is far."""
_MAX_CHARS = 500_000
_GARBLED = ")(\n"
"""No test, in any language."""


class Unmet(SavedModel):
    """What was not met: the answer by place, as a literal where it is known.

    Attributes:
        answers: by `PATH:START:DIGEST` of the literal in a file's text.
        decisive: by place, whether the command failed for it: it passed with all answers in place
            of what was expected, and fails with this expectation. Empty where it did not pass.
        begun: paths of the programs that the command ran, and that no source of the project ends.
    """

    answers: dict[str, str] = Field(default_factory=dict[str, str])
    decisive: dict[str, bool] = Field(default_factory=dict[str, bool])
    begun: list[str] = Field(default_factory=list[str])


@dataclass(frozen=True)
class UnmetExpectations:
    """Of one run.

    Attributes:
        path: where they are remembered.
        globs: what belongs to the check, in gitignore syntax.
        verdict: runs the command in a folder; other folders that it may write come second.
    """

    path: Path
    globs: Sequence[str]
    verdict: Callable[[Path, Sequence[Path]], Awaitable[GoalResult]]

    async def keep(self, project: Path, check_s: float) -> None:
        """Find what is not met, and remember it.

        Args:
            project: as it stands when the run begins; the command fails there.
            check_s: wall-clock seconds that it took.
        """
        if self.path.exists() or check_s > LONGEST_S:
            return
        files = await asyncio.to_thread(self._files, project)
        unmet = Unmet()
        with suppress(OSError):  # without a copy nothing is known
            if files:
                async with trial_copy(project, project) as copy:
                    unmet, _ = await self._look(files, copy.folder, copy.room, [copy.room])
                    if check_s <= LONGEST_DECIDED_S:
                        unmet.decisive = await self._decisive(files, copy.folder, unmet.answers)
        for file in files:
            if file.name in unmet.begun and await asyncio.to_thread(
                file.may_be_ended_by_source, project
            ):
                unmet.begun.remove(file.name)
        await asyncio.to_thread(unmet.save, self.path)

    async def _decisive(
        self, files: Sequence[_TestFile], folder: Path, answers: Mapping[str, str]
    ) -> dict[str, bool]:
        """For which expectations the command fails.

        Args:
            files: of the tests.
            folder: a copy of the project, in which they are changed.
            answers: by place, those that are not met.
        """
        unmet = [
            file.key(each)
            for file in files
            for each in file.found
            if answers.get(file.key(each)) or (file.key(each) in answers and each.is_assertion)
        ]

        async def passes_expecting(one: str) -> bool:
            # In place of all others, or of all where it is empty, the answers are expected.
            given = {key: answers[key] for key in unmet if key != one}
            texts = [(file, file.with_answers(given)) for file in files]
            return await self._passes_with(folder, texts)

        if not unmet or not await passes_expecting(""):
            return {}
        return {key: not await passes_expecting(key) for key in unmet[:MAX_UNMET]}

    async def _look(
        self, files: Sequence[_TestFile], folder: Path, room: Path, writable: Sequence[Path] = ()
    ) -> tuple[Unmet, bool]:
        """Run the command while its tests note what they compare: what is not met, and whether the
        command passed.

        Args:
            files: of the tests.
            folder: a copy of the project; the files in it are as they were afterwards.
            room: where the notes are kept, a folder that the command may write.
            writable: it, where it is not in the copy.
        """
        marked = [(file, room / f"seen-{secrets.token_hex(4)}") for file in files]
        for file, seen in marked:
            await asyncio.to_thread(file.mark, folder, seen)
        result = await self.verdict(folder, writable)
        unmet = Unmet()
        for file, seen in marked:
            answers, begun = await asyncio.to_thread(file.read_marks, seen)
            unmet.answers |= answers
            unmet.begun += [file.name] if begun else []
            seen.unlink(missing_ok=True)
            await asyncio.to_thread(file.write, folder, file.text)
        return unmet, result.achieved

    async def contradict(self, copy: Path, case: str) -> Contradiction:
        """Whether the command fails when another value is expected in place of what was not met.

        Args:
            copy: a copy of the project, which is changed, and brought back if the command fails.
            case: the one that stands for the whole command.
        """
        known = await asyncio.to_thread(Unmet.load, self.path)
        if known is None:
            return Contradiction()
        begun, tried = time.monotonic(), 0
        # Files, and whether of their commands or values, whose failures the check ignores.
        ignored: set[tuple[str, bool]] = set()
        if as_before := await self._as_before(copy, known):
            return Contradiction([case], [case], as_before)
        for file, each, other in await asyncio.to_thread(self._changes, copy, known):
            if (file.name, each.is_of_script) in ignored:
                continue
            began = time.monotonic()
            changed = edited(file.text, [(each.start, each.end, other)])
            passed = await self._passes_with(copy, [(file, changed)])
            tried += 1
            for unread, broken in file.broken(each) if passed else ():
                if await self._passes_with(copy, [(file, broken)]):
                    passed = False
                    ignored |= {(file.name, one) for one in unread}
                    break
            if passed:
                return Contradiction([case], [case])
            await asyncio.to_thread(file.write, copy, file.text)
            now = time.monotonic()
            if now - begun > max(MAX_SECONDS, (MOST - 1) * (now - began)):
                break
        return Contradiction([case] if tried else [])

    async def _as_before(self, copy: Path, known: Unmet) -> str:
        """That a decisive expectation still gets the answer of before, although the command passes;
        empty where none does."""
        if not any(known.decisive.values()):
            return ""
        files = [file for file in await asyncio.to_thread(self._files, copy) if file.found]
        found, passed = await self._look(files, copy, copy)
        for file in files if passed else ():
            for each in file.found:
                key = file.key(each)
                if known.decisive.get(key) and found.answers.get(key) == known.answers[key]:
                    line = file.text.count("\n", 0, each.start) + 1
                    return (
                        f"{file.name}:{line} does not get the {each.literal} that it expects, but "
                        f"{known.answers[key] or 'another value'} as before the run"
                    )
        return ""

    async def _passes_with(self, copy: Path, texts: Iterable[tuple[_TestFile, str]]) -> bool:
        """Whether the command passes where files have other texts."""
        for file, text in texts:
            await asyncio.to_thread(file.write, copy, text)
        return (await self.verdict(copy, ())).achieved

    def _changes(self, copy: Path, known: Unmet) -> list[tuple[_TestFile, Expectation, str]]:
        """What to change, and to what: the likeliest way round first for each."""
        rounds: list[list[tuple[_TestFile, Expectation, str]]] = [[], [], []]
        ends: list[tuple[_TestFile, Expectation, str]] = []
        files = self._files(copy)
        for file in files:
            there = [
                each
                for each in file.found
                if (answer := known.answers.get(file.key(each))) is not None
                and known.decisive.get(file.key(each), not answer or not known.decisive)
            ]
            for each in there[: MAX_UNMET - len(rounds[0])]:
                others = _others(each, file.found, known.answers[file.key(each)])
                for place, other in zip(rounds, others, strict=False):
                    place.append((file, each, other))
        # A script may only start the program that it is about.
        programs = [file for file in files if file.name in known.begun]
        programs.sort(key=lambda file: language_of(file.name) == "shell")
        for file in programs:
            failing = failing_at_end(file.name, file.text)
            if failing and not any(map(file.may_be_ended_by, files)):
                ends.append((file, Expectation("end", 0, len(file.text), "", (0, 0)), failing))
            if len(ends) == MAX_ENDS:
                break
        likeliest, *more = rounds
        # Values first: of a script that does not fail with its commands the end tells, too.
        likeliest.sort(key=lambda change: change[1].is_of_script)
        others = [*likeliest[1:], *(change for each in more for change in each)]
        return [*likeliest[:1], *ends, *others][:MAX_TRIALS]

    def _files(self, folder: Path) -> list[_TestFile]:
        files: list[_TestFile] = []
        belongs = GitIgnoreSpec.from_lines(self.globs).match_file
        for name in project_files(folder):
            if belongs(name) and not (folder / name).is_symlink():
                text = read_editable(folder / name)
                if text is None or len(text) > _MAX_CHARS:
                    continue
                found = expectations_in(name, text)
                if any(map(belongs, sourced_files(text))):
                    # Its functions may end the script with status 0.
                    found = [each for each in found if not each.is_of_script]
                if found or start_of(name, text) is not None:
                    files.append(_TestFile(name, text, found))
        return files


@dataclass(frozen=True)
class _TestFile:
    name: str
    text: str
    found: Sequence[Expectation]

    def key(self, each: Expectation) -> str:
        digest = hashlib.sha256(self.text.encode()).hexdigest()[:12]
        return f"{self.name}:{each.start}:{digest}"

    def with_answers(self, answers: Mapping[str, str]) -> str:
        """The text with answers in place of what is expected; an assertion as a whole is left
        out."""
        edits = {
            (*each.left, ";") if each.is_assertion else (each.start, each.end, answers[key])
            for each in self.found
            if (key := self.key(each)) in answers
        }
        return edited(self.text, edits)

    def broken(self, each: Expectation) -> Iterator[tuple[tuple[bool, ...], str]]:
        """Versions of the file with which the command must fail. Where it does not, it ignores the
        failures of the file's commands (True), of its values (False), or of both."""
        yield (True, False), _GARBLED
        if each.is_of_script:
            yield (True,), failing_after_end(self.name, self.text)

    def may_be_ended_by(self, other: _TestFile) -> bool:
        """Whether another file of the check, which the program names or may be linked with, may end
        it with status 0."""
        path, language = Path(self.name), language_of(self.name)
        if path.suffix != Path(other.name).suffix or other.name == self.name:
            return False
        sources = (Path(each).name for each in sourced_files(other.text))
        if language == "shell" and path.name in sources:
            return True  # it is no program by itself
        stem = re.escape(Path(other.name).stem)
        is_used = language == "c" or re.search(rf"\b{stem}\b", self.text)
        return bool(is_used and exits_in(other.name, other.text))

    def may_be_ended_by_source(self, project: Path) -> bool:
        """Whether a source of the project that the program names may end it with status 0."""
        words, suffix = set(re.findall(r"\w+", self.text)), Path(self.name).suffix
        for name in project_files(project):
            if Path(name).suffix == suffix and Path(name).stem in words and name != self.name:
                # What follows does not run where it is imported.
                text = (read_editable(project / name) or "").partition("\nif __name__")[0]
                if len(text) < _MAX_CHARS and exits_in(name, text):
                    return True
        return False

    def write(self, folder: Path, text: str) -> None:
        path = folder / self.name
        path.write_text(text, encoding="utf-8")
        # Python takes it for current where two versions of one second have the same size.
        for byte_code in path.parent.glob(f"__pycache__/{glob.escape(path.stem)}.*"):
            byte_code.unlink(missing_ok=True)

    def mark(self, folder: Path, seen: Path) -> None:
        """Have the test in a copy note what it compares, in the file `seen`."""
        edits = marks_of(self.text, comparisons(self.found), str(seen))
        edits += mark_of_start(self.name, self.text, str(seen))
        self.write(folder, edited(self.text, edits))

    def read_marks(self, place: Path) -> tuple[dict[str, str], bool]:
        """What was compared and not met, with the answer where that is a literal; and whether the
        program was run."""
        lines = text_of(place).split("\n")
        answers: dict[str, str] = {}
        last: Expectation | None = None
        for number, compared in enumerate(comparisons(self.found)):
            if f"{number} done" in lines:
                last = compared
            reached = lines.count(f"{number}")
            values = [line.split(" ", 1)[1] for line in lines if line.startswith(f"{number} ")]
            there = [each for each in self.found if each.left == compared.left]
            for each in there:
                # One that raised or ended the process has no value.
                if each.row < reached:
                    row = reached - 1 if each.is_statement else each.row
                    answer = _answer(each, values[row] if row < len(values) else "")
                    if len(there) < len(values) and not each.is_statement:
                        # Compared again and again, it must be met at some time; which answer is
                        # the wrong one is not known.
                        met = any(_answer(each, value) is None for value in values)
                        answer = None if met else ""
                    if answer is not None:
                        answers[self.key(each)] = answer
        # What failed after the last one that was met is in no known form.
        missed = following(self.text, self.found, last) if last and not answers else None
        return {self.key(missed): ""} if missed else answers, "begun" in lines


def _answer(each: Expectation, value: str) -> str | None:
    """What was answered, as a literal, empty where it is not known; None where it was expected."""
    if each.is_statement:
        return None if value == "done" else ""
    if each.language == "javascript value":
        return _answer_of_helper(each.literal, value)
    if each.language in ("shell", "make", "perl"):
        if _is_same(value.strip(), each.literal.strip("\"'")):
            return None
        # Quoted as the literal is: whoever reads the file may look for that.
        quote = each.literal[0] if each.literal[0] in "\"'" else ""
        is_plain = re.fullmatch(r"[\w.,:-]+( [\w.,:-]+)*" if quote else r"[\w.:-]+", value)
        return f"{quote}{value}{quote}" if is_plain else ""
    expected = ast.literal_eval(f"({each.literal})")  # it may stand on several lines
    try:
        answered = ast.literal_eval(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return ""
    if each.tolerance:
        is_near = isinstance(answered, int | float) and abs(answered - expected) <= each.tolerance
        return None if is_near else ""
    return None if answered == expected else value


def _is_same(one: str, other: str) -> bool:
    with suppress(ValueError):
        return one == other or float(one) == float(other)
    return False


def _answer_of_helper(literal: str, value: str) -> str | None:
    """The same for a value in JSON, which may be near the number that is expected."""
    expected = ast.literal_eval(literal)
    try:
        answered = json.loads(value)
    except ValueError:
        return ""
    if isinstance(expected, float) or isinstance(answered, float):
        are_numbers = all(isinstance(each, int | float) for each in (expected, answered))
        is_near = are_numbers and isclose(answered, expected, rel_tol=1e-6, abs_tol=1e-6)
        return None if is_near else ""
    if answered == expected:
        return None
    return value if isinstance(answered, str | int | list) else ""


def _others(each: Expectation, found: Sequence[Expectation], answer: str) -> list[str]:
    """Other values to expect: the answer before, what another place expects, a far one."""
    if each.language == "command":
        return [f"{each.literal}\nfalse\ntrue"]
    if each.tolerance:
        value = ast.literal_eval(f"({each.literal})")
        if not isinstance(value, int | float):
            return []
        away = [_TOLERANCES * max(each.tolerance, abs(value) * 1e-12), _FAR + each.tolerance * 2]
        return [repr(value + distance) for distance in away]
    near = {each.literal, answer, ""}
    alike = (other.literal for other in found if other.language == each.language)
    swapped = (literal for literal in alike if _is_like(literal, each.literal))
    others = [answer, next((text for text in swapped if text not in near), ""), _far(each)]
    return [text for text in dict.fromkeys(others) if text]


def _is_like(one: str, other: str) -> bool:
    """Whether two literals are of one kind, and numbers no neighbors."""
    try:
        first, second = float(one), float(other)
    except ValueError:
        return one[:1] in "\"'" and other[:1] in "\"'"
    return abs(first - second) > max(1.0, abs(first) / 4)


def _far(each: Expectation) -> str:
    text = each.literal
    if text in ("True", "False"):
        return "False" if text == "True" else "True"
    is_python = each.language == "python"
    if text[0] in "[(":
        return f"{text[0]}{'*' if is_python else '...'}{text}, 17{text[-1]}"
    if text[0] == "{":
        if is_python and isinstance(ast.literal_eval(text), set):
            return f"{{*{text}, 17}}"
        return f"{{{'**' if is_python else '...'}{text}, 'no_such_key': 17}}"
    return contradiction_of(text) or (f"{text}-other" if each.language in ("shell", "make") else "")
