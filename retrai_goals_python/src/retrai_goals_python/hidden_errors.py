"""Type errors that are still there and that pyright does not come to any more.

Only errors of the rules that failed when the run began count, and only in files that have changed
since, or that had errors: code that cannot be reached, and has just those, was hidden and not
corrected.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from retrai_goal_support import SavedModel, text_of

from .false_type_guards import guards_in
from .hidden_code import NOT_PARSED, Exposed, Place, Probes
from .pyright_output import Diagnostic, PyrightReport, relative_path
from .python_source import read_bytes, read_files, write_files

MAX_FILES = 100
MAX_BYTES = 500_000
_PROBE = re.compile(r'^Type of "(\d+)" is ')
_NEVER = re.compile(r'"(?:Never|NoReturn)"')


class FirstErrors(SavedModel):
    """What pyright found when the run began.

    Attributes:
        rules: of the errors.
        failed: the files with errors.
        digests: SHA-256 of each checked file.
        guards: the source of each type guard, by name.
    """

    rules: list[str]
    failed: list[str]
    digests: dict[str, str]
    guards: dict[str, str]

    @classmethod
    def of(cls, folder: Path, bad: Sequence[Diagnostic], names: Sequence[str]) -> FirstErrors:
        """What is to be remembered of a check.

        Args:
            folder: where pyright ran.
            bad: the errors that it found.
            names: of the checked files.
        """
        return cls(
            rules=sorted({found.rule for found in bad}),
            failed=sorted({relative_path(found.file, folder) for found in bad}),
            digests={name: _digest(folder / name) for name in names},
            guards={
                guard: parts[0]
                for name in names
                for guard, parts in guards_in(text_of(folder / name)).items()
            },
        )

    def suspects(self, folder: Path, names: Sequence[str]) -> list[str]:
        """The files that had errors, and those that are not as they were."""
        return [
            name
            for name in names
            if name in self.failed or self.digests.get(name) != _digest(folder / name)
        ][:MAX_FILES]


@dataclass(frozen=True)
class HiddenErrors:
    """How hidden errors are looked for.

    Attributes:
        folder: a copy of the project; its files are changed and brought back.
        check: what pyright says of some files there; None where it says nothing.
        counts: whether a diagnostic is an error.
    """

    folder: Path
    check: Callable[[Sequence[str]], Awaitable[PyrightReport | None]]
    counts: Callable[[Diagnostic], bool]

    async def find(self, names: Sequence[str], rules: Sequence[str]) -> dict[str, str]:
        """The first hidden error of each file, as `LINE: MESSAGE`.

        Args:
            names: the files.
            rules: those of the errors that count.
        """
        probes = await asyncio.to_thread(self._probes, names)
        report = await self._said({name: each.probed for name, each in probes.items()})
        if report is None:
            return {}
        said = (_PROBE.match(found.message) for found in report.general_diagnostics)
        reached = {int(match[1]) for match in said if match}
        hidden = {
            name: places
            for name, each in probes.items()
            # Where nothing at all is reported, the whole file is excused.
            if reached & each.places.keys() and (places := each.hidden(reached))
        }
        exposed = await asyncio.to_thread(_exposed, probes, hidden)
        report = await self._said({name: each.text for name, each in exposed.items()})
        found: dict[str, str] = {}
        for each in report.general_diagnostics if report else ():
            name, at = relative_path(each.file, self.folder), each.range.start
            if (
                name in exposed
                and self.counts(each)
                and each.rule in rules
                and not _NEVER.search(each.message)
                and (line := exposed[name].origin((at.line, at.character)))
            ):
                found.setdefault(name, f"{line}: {' '.join(each.message.split())[:200]}")
        return found

    def _probes(self, names: Sequence[str]) -> dict[str, Probes]:
        found: dict[str, Probes] = {}
        first = 1
        for name in names:
            try:
                text = (self.folder / name).read_bytes().decode("utf-8")
                if len(text) > MAX_BYTES:
                    continue
                found[name] = Probes(text, first)
            except (OSError, *NOT_PARSED):
                continue
            first += len(found[name].places)
        return found

    async def _said(self, texts: Mapping[str, str]) -> PyrightReport | None:
        """What pyright says of files with other texts."""
        if not texts:
            return None
        other = {self.folder / name: text.encode() for name, text in texts.items()}
        known = await asyncio.to_thread(read_files, other)
        await asyncio.to_thread(write_files, other)
        try:
            return await self.check(sorted(texts))
        finally:
            await asyncio.to_thread(write_files, known)


def _exposed(
    probes: Mapping[str, Probes], hidden: Mapping[str, Sequence[Place]]
) -> dict[str, Exposed]:
    """The files with their hidden places reached, but for those that cannot be written so."""
    found: dict[str, Exposed] = {}
    for name, places in hidden.items():
        with suppress(*NOT_PARSED):
            found[name] = probes[name].exposed(places)
    return found


def _digest(path: Path) -> str:
    return hashlib.sha256(read_bytes(path)).hexdigest()
