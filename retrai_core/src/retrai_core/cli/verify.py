"""`retrai verify`: believe a receipt only after checking it again."""

from __future__ import annotations

import asyncio
import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .output import echo
from .run import parse_options

if TYPE_CHECKING:
    from ..receipts.receipt import ReceiptError
    from ..receipts.verifying import Verification
    from ..storage.files import FilesStore


@click.command()
@click.argument("receipt", metavar="RECEIPT|RUN")
@click.option(
    "-C",
    "project",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="A folder with the final tree; the run's own project when left out.",
)
@click.option("--key", metavar="FILE|FINGERPRINT", help="Believe this key's signature, no other.")
@click.option("--python", metavar="PATH", help="The interpreter that runs the check.")
@click.option(
    "--option",
    "options",
    multiple=True,
    metavar="KEY=VALUE",
    help="An option of the goal that the receipt leaves out: an address with a password.",
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
    """Check a receipt: its signature, then the tree, then the check itself on a clean copy.

    RECEIPT is a file; a run's id stands for the run's own receipt. The exit code is 0 only when
    everything holds, and 1 when something does not.
    """
    from ..receipts.receipt import ReceiptError, read_file
    from ..receipts.signing import SigningKey, pinned_fingerprint
    from ..receipts.verifying import Wish
    from ..receipts.verifying import verify as verify_receipt
    from ..storage.files import FilesStore

    store = FilesStore()
    path = _path_of(receipt, store)
    wish = Wish(project, pinned_fingerprint(key) if key else "", python, parse_options(options))
    try:
        content = read_file(path)
        found = asyncio.run(verify_receipt(content, str(path), wish, SigningKey(store.state)))
    except ReceiptError as error:
        raise _with_way_on(error, path, store) from error
    echo(json.dumps(_as_json(found), indent=2) if as_json else "\n".join(_lines(found)))
    return 0 if found.verified else 1


def _with_way_on(error: ReceiptError, path: Path, store: FilesStore) -> ReceiptError:
    """The error; of the run's own receipt it does not point to the run's own receipt."""
    from ..errors import RunNotFoundError
    from ..receipts.receipt import ANOTHER, ReceiptError

    folder = path.absolute().parent
    if error.hint != ANOTHER or folder.parent != store.runs:
        return error
    try:
        record = asyncio.run(store.load(folder.name))
    except RunNotFoundError:
        return error
    anew = shlex.join(["retrai", "run", record.goal, "-C", str(record.project)])
    return ReceiptError(error.message, hint=f"this is the run's own; `{anew}` makes a new one")


def _path_of(name: str, store: FilesStore) -> Path:
    from ..errors import RunNotFoundError, UnreadableRunError
    from ..receipts.receipt import RECEIPT_FILE, ReceiptError

    path = Path(name)
    if path.is_file() or path.suffix or len(path.parts) != 1:
        return path / RECEIPT_FILE if path.is_dir() else path
    try:
        record = asyncio.run(store.load(name))
    except UnreadableRunError:
        raise
    except RunNotFoundError as error:
        raise RunNotFoundError(
            f"{name} is neither a file nor a run", hint="`retrai runs list` shows the runs"
        ) from error
    there = store.folder(record.id) / RECEIPT_FILE
    if not there.is_file():
        why = "it was made without one" if record.status == "achieved" else "nothing was achieved"
        raise ReceiptError(
            f"run {record.id} ({record.status}) has no receipt: {why}",
            hint=f"`retrai runs show {record.id}` says how it ended; `retrai run` starts anew",
        )
    return there


def _lines(found: Verification) -> list[str]:
    from .render.words import count, one_line, outcome_counts

    receipt = found.receipt
    whose = "your key" if found.own_key else "the key that you named"
    tree = "the same" if found.tree == receipt.trees.final else "another one"
    lines = [
        f"signature  holds: {whose} {found.signer}, {receipt.issued_at}",
        f"tree       {tree}: {count(receipt.trees.file_count, 'file')} in {found.project}",
    ]
    if found.counts:
        lines.append(f"check      {outcome_counts(found.counts)}, on a clean copy")
    refused = receipt.tampering.refused
    if refused:
        lines.append(f"note       {count(len(refused), 'change')} of the check refused or undone")
    lines += [f"note       {one_line(note, 300)}" for note in [receipt.sandbox.note, *found.notes]]
    lines += [f"problem    {one_line(problem, 2000)}" for problem in found.problems]
    if not found.verified:
        lines.append(f"next       {_next(found)}")
    goal = f"{receipt.goal}, as run {receipt.run} left it"
    lines.append(f"verified: {goal}" if found.verified else f"not verified: {goal}")
    return lines


def _next(found: Verification) -> str:
    receipt = found.receipt
    # As JSON, which is what a value on the command line is read as; a password is not in it.
    options = [f"--option={name}={json.dumps(value)}" for name, value in receipt.options.items()]
    anew = shlex.join(["retrai", "run", receipt.goal, "-C", str(found.project), *options])
    if found.tree != receipt.trees.final:
        return f"-C DIR names a folder with the receipt's tree; {anew} checks this one anew"
    return f"{anew} shows what does not hold, and makes a new receipt when it does"


def _as_json(found: Verification) -> dict[str, Any]:
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
