"""Verifies a receipt: whose signature, the same tree, the same verdict of the same check."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ..errors import UsageError
from ..guard.baseline import Baseline
from ..guard.globs import Globs
from ..guard.guard import Guard
from ..resolved_run import ResolvedRun
from ..resolver import Resolver
from ..run_config import RunConfig
from ..session.session import RunSession
from ..settings import Settings
from ..workspace.interpreter import Interpreter
from ..workspace.portable_tree import digest_of, portable_files
from ..workspace.temporary import temporary_prefix
from ..workspace.tree_hash import TreeHasher
from .comparing import other_cases, other_tree
from .import_path import imports_from
from .receipt import Receipt, ReceiptError, read_signed
from .signing import SigningKey
from .writing import LEFT_OUT


@dataclass
class Verification:
    """What came of it; `problems` is empty only when everything holds.

    Attributes:
        signer: the fingerprint of the key that signed it.
        own_key: the key is this user's own.
        project: the folder that was compared.
        tree: the folder's hash.
        counts: how many cases had each outcome now.
        problems: what does not hold, each one line.
        notes: what a reader should know although it is no problem.
    """

    receipt: Receipt
    signer: str
    own_key: bool
    project: Path
    tree: str = ""
    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    problems: list[str] = field(default_factory=list[str])
    notes: list[str] = field(default_factory=list[str])

    @property
    def verified(self) -> bool:
        """Everything holds."""
        return not self.problems


@dataclass(frozen=True)
class Wish:
    """What the user asks of a verification.

    Attributes:
        project: the folder to compare; the run's own when it is None.
        key: the fingerprint of the only key whose signature counts; the user's own when empty.
        python: the interpreter that runs the check, when it is not the run's.
        options: options of the goal that a receipt does not hold (passwords).
    """

    project: Path | None = None
    key: str = ""
    python: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])


async def verify(content: bytes, name: str, wish: Wish, key: SigningKey) -> Verification:
    """Check the signature, then the tree, then run the check again on a clean copy.

    A receipt names programs to run, so nothing of it is believed, and nothing is run, before its
    signature is known to be that of the user or of a key that the user names.

    Args:
        content: the receipt's bytes.
        name: what the receipt is called in messages.
        wish: what to compare with, and whose signature counts.
        key: the user's own.

    Raises:
        ReceiptError: it is no receipt, was changed, or was signed by nobody known.
        UsageError, PluginError: the check cannot be run here, and why.
    """
    receipt, public = read_signed(content, name)
    own = key.exists and key.public == public
    if wish.key and wish.key != public.fingerprint:
        raise ReceiptError(f"{name} is signed by {public.fingerprint}, not by {wish.key}")
    if not wish.key and not own:
        raise ReceiptError(
            f"{name} is signed by the key {public.fingerprint}, which is not yours",
            hint=f"if you know whose it is and trust it: --key {public.fingerprint}",
        )
    project = (wish.project or Path(receipt.project)).absolute()
    if not project.is_dir():
        hint = "" if wish.project else "name a folder with its final tree: -C DIR"
        raise UsageError(f"no such folder: {project}", hint=hint)
    found = Verification(receipt, public.fingerprint, own, project)
    files = await _files(project, receipt)
    found.tree = digest_of(files)
    if found.tree != receipt.trees.final:
        found.problems.append(other_tree(receipt, files))
        return found
    await _check_again(found, wish)
    return found


async def _files(project: Path, receipt: Receipt) -> dict[str, str]:
    """The folder's tree, as far as a receipt is about it."""
    tree = await asyncio.to_thread(TreeHasher(project).state)
    held_out = Globs(receipt.held_out.globs)
    return {
        path: known
        for path, known in portable_files(tree.without(_baseline(receipt).volatile)).items()
        if not held_out.match(path)
    }


async def _check_again(found: Verification, wish: Wish) -> None:
    receipt = found.receipt
    with tempfile.TemporaryDirectory(
        prefix=temporary_prefix("retrai-verify"), ignore_cleanup_errors=True
    ) as folder:
        run_dir = Path(folder)
        resolver = Resolver(Settings(_config(found, wish)), run_dir=run_dir)
        choice = await asyncio.to_thread(resolver.check)
        if not wish.python and choice.interpreter:
            choice.interpreter = _interpreter(choice.interpreter, receipt)
        found.notes += _version_notes(receipt, choice)
        async with RunSession(choice, run_dir) as session:
            await session.build()
            assert session.guard is not None
            guard = session.guard
            if astray := await _tries_the_original(guard, found):
                found.problems.append(astray)
                return
            await guard.take_over(_baseline(receipt))
            result, suspect = await guard.final_check({})
    found.counts = result.report.counts() if result.report else {}
    if not result.achieved:
        found.problems.append(f"the check fails: {result.reason}")
    elif suspect and _was_approved(receipt):
        found.notes.append(f"a person took this as achieved all the same: {suspect}")
    elif suspect:
        found.problems.append(f"the check holds but is not believed: {suspect}")
    found.problems += other_cases(receipt, result)


def _config(found: Verification, wish: Wish) -> RunConfig:
    receipt = found.receipt
    options = {**receipt.options, **wish.options}
    withheld = sorted(name for name, value in options.items() if LEFT_OUT in str(value))
    if withheld:
        raise UsageError(
            f"the receipt leaves a password out of the option {withheld[0]}",
            hint=f"give it: --option {withheld[0]}=...",
        )
    given: dict[str, Any] = dict(receipt.settings)
    if wish.python:
        given["python"] = wish.python
    try:
        return RunConfig(
            goal=receipt.goal,
            cwd=found.project,
            options=options,
            allow_edit=receipt.tampering.allow_edit,
            **given,
        )
    except (ValidationError, TypeError) as error:
        raise ReceiptError(f"the receipt's settings are not known here: {error}") from error


def _interpreter(here: Interpreter, receipt: Receipt) -> Interpreter:
    """The folder's own environment, else the one that the run used, where it still is."""
    if here.origin.endswith("in the project") or not os.access(receipt.python, os.X_OK):
        return here
    return Interpreter(receipt.python, "the run's")


def _baseline(receipt: Receipt) -> Baseline:
    try:
        return Baseline.model_validate({**receipt.baseline, "cases": receipt.before})
    except ValidationError as error:
        raise ReceiptError(f"the receipt's baseline is not known here: {error}") from error


def _was_approved(receipt: Receipt) -> bool:
    return any("took a suspect verdict as achieved" in f for f in receipt.tampering.findings)


async def _tries_the_original(guard: Guard, found: Verification) -> str:
    """Why the check would not try this folder's sources; empty when it would.

    An environment in which the run's own project is installed in editable mode imports from there,
    wherever the tests lie. Where that is the same tree still, it makes no difference.
    """
    receipt = found.receipt
    original = Path(receipt.project)
    if not _is_another(original, found.project):
        return ""
    place = await imports_from(guard.context, original)
    if not place or digest_of(await _files(original, receipt)) == receipt.trees.final:
        return ""
    return (
        f"{guard.context.python} imports from the run's own project ({place}), which has changed "
        "since; --python names an interpreter that does not"
    )


def _is_another(original: Path, project: Path) -> bool:
    return original.is_dir() and original.resolve() != project.resolve()


def _version_notes(receipt: Receipt, choice: ResolvedRun) -> list[str]:
    installed = {record.dist: record.version for record in choice.catalog.records()}
    return [
        f"made with {name} {version}, checked with {installed.get(name, 'none')}"
        for name, version in sorted(receipt.versions.items())
        if name in _used(choice) and installed.get(name) != version
    ]


def _used(choice: ResolvedRun) -> set[str]:
    return {"retrai-core", *(record.dist for record in choice.records)}
