"""Type errors that are still there and that pyright does not come to, or see, any more.

Only errors of the rules that failed when the run began count, and only in files that have changed
since, or that had errors: code that cannot be reached, and has just those, was hidden and not
corrected.
"""

from __future__ import annotations

import ast
import asyncio
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from retrai_goal_support import SavedModel, text_of

from ..python_source import NOT_PARSED, definitions, read_files, write_files
from .false_type_guards import guards_in
from .hidden_code import Exposed, Probes
from .lost_types import (
    Errors,
    Types,
    became_any,
    removed_code_or_types,
    standing,
    suspects,
    types_in,
)
from .output import Diagnostic, Range, relative_path
from .overloads import only_gives_back, overload_line
from .type_bypasses import is_certain, without_bypasses
from .type_excuses import ignoring_lines, is_unnecessary

MAX_FILES = 100
MAX_BYTES = 500_000
_PROBE = re.compile(r'^Type of "(\d+)" is ')
_PARAMETER = re.compile(r'cannot be assigned to parameter "(\w+)"')
_NEVER = re.compile(r'"(?:Never|NoReturn)"')


class FirstErrors(SavedModel):
    """What pyright found when the run began.

    Attributes:
        errors: of each file with some.
        texts: of the checked files.
    """

    errors: dict[str, list[Diagnostic]]
    texts: dict[str, str]

    def guards(self) -> dict[str, list[str]]:
        """The type guards, as `guards_in` gives them."""
        return {n: parts for text in self.texts.values() for n, parts in guards_in(text).items()}

    def suspects(self, folder: Path, names: Sequence[str]) -> dict[str, str]:
        """The files that had errors, and those that are not as they were, with their texts.

        Links to files outside of `folder` are left out.
        """
        root = folder.resolve()
        inside = [name for name in names if (folder / name).resolve().is_relative_to(root)]
        now = {name: text_of(folder / name) for name in inside}
        found = [n for n, text in now.items() if n in self.errors or self.texts.get(n) != text]
        return {name: now[name] for name in found[:MAX_FILES]}

    def without_bypasses(self, folder: Path, names: Sequence[str]) -> dict[str, str]:
        """Those of the files that have new bypasses, without them."""
        messages = (each.message for some in self.errors.values() for each in some)
        wider = {name for said in messages for name in _PARAMETER.findall(said)}
        plain = {
            name: without_bypasses(self.texts.get(name, ""), text, wider)
            for name, text in self.suspects(folder, names).items()
        }
        return {name: text for name, text in plain.items() if text}

    def remaining(
        self, found: Iterable[Diagnostic], folder: Path, texts: Mapping[str, str]
    ) -> list[Diagnostic]:
        """Those that were there when the run began too, and are errors for certain, and what a
        function gives that it does not promise, itself or in an overload: `None`, or its parameter
        as it is.

        Args:
            found: by pyright.
            folder: where it ran.
            texts: from `without_bypasses`.
        """
        known = {_error_key(each) for some in self.errors.values() for each in some}
        nodes = (node for text in self.texts.values() for node in definitions(text))
        classes = {node.name for node in nodes if isinstance(node, ast.ClassDef)}

        remaining: list[Diagnostic] = []
        for each in found:
            text, line = texts.get(relative_path(each.file, folder), ""), each.range.start.line
            overload, is_return = overload_line(text, line), each.rule == "reportReturnType"
            if is_return and overload is not None:
                is_none = '"None" is not assignable to' in each.message
                remains = is_none or only_gives_back(text, line)
            elif is_return and each.message.startswith('Type "None" is not assignable to'):
                remains = True
            else:
                remains = _error_key(each) in known and is_certain(each.message, classes)
            if remains:
                remaining.append(each if overload is None else each.moved_to(overload))
        return remaining

    def with_new_ignores(self, folder: Path, names: Iterable[str]) -> dict[str, str]:
        """Those of the files that have ignore comments in lines which were not there, with their
        texts."""
        now = {name: text_of(folder / name) for name in names}
        return {
            name: text
            for name, text in now.items()
            if Counter(ignoring_lines(text).values()) - self._ignores(name)
        }

    def unnecessary_ignores(
        self, found: Iterable[Diagnostic], folder: Path, texts: Mapping[str, str]
    ) -> Counter[str]:
        """By file, the ignore comments that hide nothing, beyond those in lines that were there:
        these were counted when the run began.

        Args:
            found: by pyright, which was told to report them.
            folder: where it ran.
            texts: from `with_new_ignores`.
        """
        lines = {name: ignoring_lines(text) for name, text in texts.items()}
        unnecessary: dict[str, Counter[str]] = {name: Counter() for name in texts}
        for each in filter(is_unnecessary, found):
            name, number = relative_path(each.file, folder), each.range.start.line + 1
            if line := lines.get(name, {}).get(number):
                unnecessary[name][line] += 1
        return Counter(
            {name: (some - self._ignores(name)).total() for name, some in unnecessary.items()}
        )

    def _ignores(self, name: str) -> Counter[str]:
        return Counter(ignoring_lines(self.texts.get(name, "")).values())

    def standing(self, texts: Mapping[str, str]) -> Errors:
        """The errors whose lines stand as they were in files, by number."""
        number = count()
        return {
            name: {
                next(number): each
                for each in standing(
                    self.texts[name], text, [found.range for found in self.errors[name]]
                )
            }
            for name, text in texts.items()
            if name in self.errors and name in self.texts
        }


def _error_key(found: Diagnostic) -> tuple[str, str]:
    """What an error has in common with the same error elsewhere: its rule and its message, in
    which `Order*` is an `Order` that was inferred."""
    return found.rule, found.message.replace('*"', '"')


@dataclass(frozen=True)
class HiddenErrors:
    """How hidden errors are looked for.

    Attributes:
        folder: a copy of the project; its files are changed and brought back.
        check: what pyright says of some files in a folder; None where it says nothing.
        counts: whether a diagnostic is an error.
        first: what was found when the run began.
    """

    folder: Path
    check: Callable[[Path, Sequence[str]], Awaitable[list[Diagnostic] | None]]
    counts: Callable[[Diagnostic], bool]
    first: FirstErrors

    async def find(self, texts: Mapping[str, str]) -> dict[str, str]:
        """Why the first error of each file is not corrected, in a line.

        Args:
            texts: of the files.
        """
        errors = await asyncio.to_thread(self.first.standing, texts)
        now = {name: {n: each.now for n, each in some.items()} for name, some in errors.items()}
        probes = await asyncio.to_thread(_probes, texts, now)
        diagnostics = await self._said({name: each.probed for name, each in probes.items()})
        if diagnostics is None:
            return {}
        matches = (_PROBE.match(each.message) for each in diagnostics)
        reached = {int(match[1]) for match in matches if match}
        exposed = await asyncio.to_thread(_exposed, probes, reached)
        other = await self._said({name: each.text for name, each in exposed.items()})
        rules = {each.rule for some in self.first.errors.values() for each in some}
        found: dict[str, str] = {}
        for each in other or ():
            name, at = relative_path(each.file, self.folder), each.range.start
            if (
                name in exposed
                and self.counts(each)
                and each.rule in rules
                and not _NEVER.search(each.message)
                and (line := exposed[name].origin((at.line, at.character)))
            ):
                what = f"{line}: {' '.join(each.message.split())[:200]}"
                found.setdefault(name, f"pyright does not reach {name}:{what}")
        for name, text in texts.items():
            bad = [each.range for each in self.first.errors.get(name, ())]
            if lost := removed_code_or_types(self.first.texts.get(name, ""), text, bad):
                found.setdefault(name, f"{name}:{lost}")
        return found or await self._became_any(texts, errors, types_in(diagnostics))

    async def _became_any(
        self, texts: Mapping[str, str], errors: Errors, now: Types
    ) -> dict[str, str]:
        """The first error of each file that is gone because a type became `Any`, in a line."""
        found = await asyncio.to_thread(suspects, self.first.texts, texts, errors, now)
        if not found:
            return {}
        # The project as it was, as far as it is checked.
        known = {
            name: text for name, text in self.first.texts.items() if (self.folder / name).is_file()
        }
        before = {
            name: {n: place.before for n, place in some.items()} for name, some in found.items()
        }
        probes = await asyncio.to_thread(_probes, {name: known[name] for name in before}, before)
        probed = {name: each.probed for name, each in probes.items()}
        lost = became_any(types_in(await self._said({**known, **probed}, probed) or ()), now)
        return {
            name: f"{name}:{places[0].now.start.line + 1} had an error, "
            "which is hidden and not corrected: a type there became `Any`"
            for name, some in found.items()
            if (places := [place for number, place in some.items() if number in lost])
        }

    async def _said(
        self, texts: Mapping[str, str], names: Collection[str] = ()
    ) -> list[Diagnostic] | None:
        """What pyright says of files with other texts, or of some of them."""
        if not texts:
            return None
        other = {self.folder / name: text.encode() for name, text in texts.items()}
        known = await asyncio.to_thread(read_files, other)
        await asyncio.to_thread(write_files, other)
        try:
            return await self.check(self.folder, sorted(names or texts))
        finally:
            await asyncio.to_thread(write_files, known)


def _probes(
    texts: Mapping[str, str], errors: Mapping[str, Mapping[int, Range]]
) -> dict[str, Probes]:
    found: dict[str, Probes] = {}
    first = 1
    for name, text in texts.items():
        if len(text) > MAX_BYTES:
            continue
        with suppress(*NOT_PARSED):
            found[name] = Probes(text, first, errors.get(name))
            first += len(found[name].places)
    return found


def _exposed(probes: Mapping[str, Probes], reached: set[int]) -> dict[str, Exposed]:
    """The files with their hidden places reached, but for those that cannot be written so."""
    found: dict[str, Exposed] = {}
    for name, each in probes.items():
        # Where nothing at all is reported, the whole file is excused.
        if reached & each.places.keys() and (hidden := each.hidden(reached)):
            with suppress(*NOT_PARSED):
                found[name] = each.exposed(hidden)
    return found
