"""`retrai verify`: believe a receipt only after checking it again."""

from __future__ import annotations

import asyncio
import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import yaml

from retrai_core import FilesStore, RunManager, RunNotFoundError, RunRecord, UsageError, echo

if TYPE_CHECKING:
    from .verifying import Verification, VerifyOptions

_MAX_CHARS = 2000
"""Of a note or a problem."""


@click.command()
@click.argument("receipt", metavar="RECEIPT|RUN")
@click.option(
    "-C",
    "project",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder with the final tree. Default: the project of the run.",
)
@click.option("--key", metavar="FILE|FINGERPRINT", help="Accept only a signature of this key.")
@click.option("--python", metavar="PATH", help="Python interpreter that runs the check.")
@click.option(
    "--option",
    "options",
    multiple=True,
    metavar="KEY=VALUE",
    help="Goal option that the receipt leaves out, such as an address with a password.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def verify(
    receipt: str,
    project: Path | None,
    key: str | None,
    python: str | None,
    options: Sequence[str],
    as_json: bool,
) -> int:
    """Verify a receipt: its signature, the tree, and the check itself on a clean copy.

    RECEIPT is a file or the id of a run. The exit code is 0 only if everything is valid, else 1.
    """
    from .signing import pinned_fingerprint
    from .verifying import VerifyOptions

    fingerprint = pinned_fingerprint(key) if key else ""
    wanted = VerifyOptions(project, fingerprint, python, _parsed(options))
    found = asyncio.run(_verify(receipt, wanted))
    echo(json.dumps(verification_json(found), indent=2) if as_json else "\n".join(_lines(found)))
    return 0 if found.verified else 1


async def _verify(receipt: str, wanted: VerifyOptions) -> Verification:
    from .receipt import ANOTHER, ReceiptError, read_file
    from .signing import SigningKey
    from .verifying import verify as verify_receipt

    key = SigningKey(FilesStore().state)
    async with RunManager() as manager:
        if _is_path(receipt):
            content = read_file(Path(receipt))
            return await verify_receipt(manager, content, receipt, wanted, key)
        record, content = await _of_run(manager, receipt)
        name = f"the receipt of run {record.id}"
        try:
            return await verify_receipt(manager, content, name, wanted, key)
        except ReceiptError as error:
            if error.hint != ANOTHER:
                raise
            anew = shlex.join(["retrai", "run", record.goal, "-C", str(record.project)])
            raise ReceiptError(error.message, hint=f"`{anew}` makes a new one") from error


def _is_path(receipt: str) -> bool:
    path = Path(receipt)
    return path.is_file() or bool(path.suffix) or len(path.parts) != 1


async def _of_run(manager: RunManager, run_id: str) -> tuple[RunRecord, bytes]:
    """A run, and its own receipt."""
    from .receipt import RECEIPT_FILE, ReceiptError

    try:
        run = await manager.get(run_id)
    except RunNotFoundError as error:
        if type(error) is not RunNotFoundError:  # it is there, and cannot be read
            raise
        raise RunNotFoundError(
            f"{run_id} is neither a file nor a run", hint="`retrai runs list` shows the runs"
        ) from error
    record, content = await run.record(), await run.artifact(RECEIPT_FILE)
    if content is None:
        why = "it was made without one" if record.status == "achieved" else "nothing was achieved"
        raise ReceiptError(
            f"run {record.id} ({record.status}) has no receipt: {why}",
            hint=f"`retrai runs show {record.id}` says how it ended; `retrai run` starts anew",
        )
    return record, content


def _parsed(pairs: Sequence[str]) -> dict[str, Any]:
    """`key=value` pairs, each value read as YAML, as `retrai run --option` reads it."""
    options: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise UsageError(f"--option takes key=value, not {pair!r}")
        try:
            options[name] = yaml.safe_load(value) if value else ""
        except (yaml.YAMLError, ValueError) as error:
            raise UsageError(f"--option {name}: {value!r} is not a YAML value") from error
    return options


def _lines(found: Verification) -> list[str]:
    receipt = found.receipt
    whose = "your key" if found.own_key else "the key that you named"
    tree = "the same" if found.tree == receipt.trees.final else "another one"
    lines = [
        f"signature  holds: {whose} {found.signer}, {receipt.issued_at}",
        f"tree       {tree}: {_count(receipt.trees.file_count, 'file')} in {found.project}",
    ]
    if found.counts:
        counts = ", ".join(f"{number} {outcome}" for outcome, number in found.counts.items())
        lines.append(f"check      {counts}, on a clean copy")
    refused = receipt.tampering.refused
    if refused:
        lines.append(f"note       {_count(len(refused), 'change')} of the check refused or undone")
    lines += [f"note       {_line(note)}" for note in [receipt.sandbox.note, *found.notes]]
    lines += [f"problem    {_line(problem)}" for problem in found.problems]
    if not found.verified:
        lines.append(f"next       {_next(found)}")
    goal = f"{receipt.goal}, as run {receipt.run} left it"
    lines.append(f"verified: {goal}" if found.verified else f"not verified: {goal}")
    return lines


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _line(text: str) -> str:
    return " ".join(text.split())[:_MAX_CHARS]


def _next(found: Verification) -> str:
    receipt = found.receipt
    # As JSON, which is what a value on the command line is read as; a password is not in it.
    options = [f"--option={name}={json.dumps(value)}" for name, value in receipt.options.items()]
    anew = shlex.join(["retrai", "run", receipt.goal, "-C", str(found.project), *options])
    if found.tree != receipt.trees.final:
        return f"-C DIR names a folder with the receipt's tree; {anew} checks this one anew"
    return f"{anew} shows what does not hold, and makes a new receipt when it does"


def verification_json(found: Verification) -> dict[str, Any]:
    """What `--json` prints."""
    receipt = found.receipt
    return {
        "verified": found.verified,
        "run": receipt.run,
        "goal": receipt.goal,
        "project": str(found.project),
        "signer": found.signer,
        "own_key": found.own_key,
        "same_tree": found.tree == receipt.trees.final,
        "counts": dict(found.counts),
        "problems": found.problems,
        "notes": found.notes,
        "key_within_reach": receipt.sandbox.key_within_reach,
    }
