"""Verifies a receipt: whose signature, the same tree, the same verdict of the same check."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pathspec import GitIgnoreSpec
from pydantic import ValidationError

from retrai_core import (
    RunConfig,
    RunManager,
    RunRequest,
    UsageError,
    Verdict,
    __version__,
    tree_digest,
    tree_files,
)

from .comparing import other_cases, other_tree
from .receipt import Receipt, ReceiptError, read_signed
from .signing import SigningKey
from .writing import LEFT_OUT

_FOLDER_IN_FINDER = re.compile(r"[\"'](/[^\"']+)[\"']")


@dataclass
class Verification:
    """The result; `problems` is empty only when everything holds.

    Attributes:
        signer: the fingerprint of the key that signed the receipt.
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
class VerifyOptions:
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


async def verify(
    manager: RunManager, content: bytes, name: str, options: VerifyOptions, key: SigningKey
) -> Verification:
    """Check the signature, then the tree, then run the check again on a clean copy.

    A receipt names programs to run, so nothing of it is believed, and nothing is run, before its
    signature is known to be that of the user or of a key that the user names.

    Args:
        manager: runs the check.
        content: the receipt's bytes.
        name: what the receipt is called in messages.
        options: what to compare with, and whose signature counts.
        key: the user's own.

    Raises:
        ReceiptError: it is no receipt, was changed, or was signed by nobody known.
        UsageError, PluginError: the check cannot be run here, and why.
    """
    receipt, public = read_signed(content, name)
    own = key.exists and key.public == public
    if options.key and options.key != public.fingerprint:
        raise ReceiptError(f"{name} is signed by {public.fingerprint}, not by {options.key}")
    if not options.key and not own:
        raise ReceiptError(
            f"{name} is signed by the key {public.fingerprint}, which is not yours",
            hint=f"if you know whose it is and trust it: --key {public.fingerprint}",
        )
    project = (options.project or Path(receipt.project)).absolute()
    if not project.is_dir():
        hint = "" if options.project else "name a folder with its final tree: -C DIR"
        raise UsageError(f"no such folder: {project}", hint=hint)
    found = Verification(receipt, public.fingerprint, own, project)
    files = await asyncio.to_thread(_files, project, receipt)
    found.tree = tree_digest(files)
    if found.tree != receipt.trees.final:
        found.problems.append(other_tree(receipt, files))
        return found
    await _check_again(manager, found, options)
    return found


def _files(project: Path, receipt: Receipt) -> dict[str, str]:
    """The folder's tree, as far as a receipt is about it."""
    held_out = GitIgnoreSpec.from_lines(receipt.held_out.globs)
    files = tree_files(project, receipt.baseline.get("volatile", ()))
    return {path: known for path, known in files.items() if not held_out.match_file(path)}


async def _check_again(manager: RunManager, found: Verification, options: VerifyOptions) -> None:
    receipt = found.receipt
    request = RunRequest(config=_config(found, options))
    baseline = {**receipt.baseline, "cases": receipt.before}
    given = Verdict(achieved=False, reason="", evidence={"baseline": baseline})
    verdict = await manager.check(request, baseline=given)
    if problem := await asyncio.to_thread(_tries_the_original, verdict.evidence["python"], found):
        found.problems.append(problem)
        return
    found.counts = verdict.counts
    found.notes += _version_notes(receipt, verdict.evidence["versions"])
    if verdict.suspicions and _was_approved(receipt):
        found.notes.append(f"a person took this as achieved all the same: {verdict.reason}")
    elif verdict.suspicions:
        found.problems.append(f"the check passes but is not believed: {verdict.reason}")
    elif not verdict.achieved:
        found.problems.append(f"the check fails: {verdict.reason}")
    found.problems += other_cases(receipt, verdict)


def _config(found: Verification, options: VerifyOptions) -> RunConfig:
    receipt = found.receipt
    goal_options = {**receipt.options, **options.options}
    withheld = sorted(name for name, value in goal_options.items() if LEFT_OUT in str(value))
    if withheld:
        raise UsageError(
            f"the receipt leaves a password out of the option {withheld[0]}",
            hint=f"give it: --option {withheld[0]}=...",
        )
    given: dict[str, Any] = dict(receipt.settings)
    given["python"] = options.python or _python(found)
    try:
        return RunConfig(
            goal=receipt.goal,
            cwd=found.project,
            options=goal_options,
            allow_edit=receipt.tampering.allow_edit,
            **given,
        )
    except (ValidationError, TypeError) as error:
        raise ReceiptError(f"the receipt's settings are not known here: {error}") from error


def _python(found: Verification) -> str | None:
    """None for the folder's own environment, else what the run used, where it still is."""
    if any((found.project / name).is_dir() for name in (".venv", "venv")):
        return None
    python = found.receipt.python
    return python if os.access(python, os.X_OK) else found.receipt.settings.get("python")


def _was_approved(receipt: Receipt) -> bool:
    return any("took a suspect verdict as achieved" in f for f in receipt.tampering.findings)


def _tries_the_original(python: str, found: Verification) -> str:
    """Why the check did not try this folder's sources; empty when it did.

    An environment in which the run's own project is installed in editable mode imports from there,
    wherever the tests lie. Where that is the same tree still, it makes no difference.
    """
    receipt = found.receipt
    original = Path(receipt.project)
    if not original.is_dir() or original.resolve() == found.project.resolve():
        return ""
    place = _imports_from(python, original)
    if not place or tree_digest(_files(original, receipt)) == receipt.trees.final:
        return ""
    return (
        f"{python} imports from the run's own project ({place}), which has changed "
        "since; --python names an interpreter that does not"
    )


def _imports_from(python: str, original: Path) -> str:
    """The first place in `original` that this Python imports from; empty when there is none.

    Its environment is read and not run: the run may have changed it.
    """
    for packages in sorted(Path(python).parent.parent.glob("lib*/python*/*-packages")):
        paths: list[str] = []
        for file in sorted(packages.glob("*.pth")):
            paths += file.read_text(errors="replace").splitlines()
        for file in sorted(packages.glob("__editable__*.py")):  # by setuptools
            paths += _FOLDER_IN_FINDER.findall(file.read_text(errors="replace"))
        if place := next((path for path in paths if _is_source(path, original)), ""):
            return place
    return ""


def _is_source(path: str, original: Path) -> bool:
    """Whether it lies in the project, and not in an environment that lies there too."""
    if not os.path.isabs(path):
        return False
    here = Path(os.path.realpath(path))
    folders = [here, *here.parents]
    is_inside = here.is_relative_to(os.path.realpath(original))
    return is_inside and not any((folder / "pyvenv.cfg").is_file() for folder in folders)


def _version_notes(receipt: Receipt, used: Mapping[str, str]) -> list[str]:
    versions = {**used, "retrai-core": __version__}
    return [
        f"made with {name} {receipt.versions[name]}, checked with {version}"
        for name, version in sorted(versions.items())
        if receipt.versions.get(name, version) != version
    ]
