"""What stands in a run's receipt: what was refused, what a person said, and no password."""

from __future__ import annotations

import json
from typing import Any

import pytest

from retrai_core import Question, RetraiError
from retrai_receipts.receipt import Receipt, read_signed, sign
from retrai_receipts.signing import SigningKey
from retrai_receipts.verifying import Verification, VerifyOptions, verify
from retrai_receipts.writing import MOST_FILES

from ..core import running

Runs = running.Runs
project, runs = running.project, running.runs


def put(path: str, text: str) -> dict[str, Any]:
    """One turn that writes a file."""
    return {"calls": [{"name": "put", "args": {"path": path, "text": text}}]}


MEND = put("a.txt", "right\n")


def content_of(runs: Runs, record: Any) -> bytes:
    """The run's receipt as it was written."""
    return (runs.store.folder(record.id) / "artifacts" / "receipt.json").read_bytes()


def receipt_of(runs: Runs, record: Any) -> Receipt:
    """The receipt, once its signature holds."""
    return read_signed(content_of(runs, record), "it")[0]


async def verified(
    runs: Runs, record: Any, given: VerifyOptions | None = None, **changed: Any
) -> Verification:
    """What a verification says, of the receipt with some fields changed and signed anew."""
    key = SigningKey(runs.store.state)
    body = receipt_of(runs, record).model_dump() | changed
    content = sign(Receipt.model_validate(body), key)
    async with running.manager_for(runs.store) as manager:
        return await verify(manager, content, "it", given or VerifyOptions(), key)


async def test_what_was_refused_and_undone_stands_in_the_receipt(runs: Runs) -> None:
    edit = {"calls": [{"name": "shell", "args": {"line": "echo easy > checks/check.txt"}}]}
    record = await runs.run([put("expected.txt", "a.txt: wrong\n"), edit, MEND], sandbox="local")
    assert record.status == "achieved"
    refused, undone = receipt_of(runs, record).tampering.refused
    assert refused.startswith("refused: expected.txt")
    assert undone.startswith("undone: checks/check.txt")
    assert (await verified(runs, record)).verified


async def test_what_a_person_said_stands_in_the_receipt(runs: Runs) -> None:
    async def approve(_: Question) -> str:
        return "yes"

    options = {"suspicious": "right"}
    record = await runs.run([MEND], ask=approve, hitl_enabled=True, options=options)
    assert record.status == "achieved"
    said = receipt_of(runs, record).tampering
    assert len(said.human_answers) == 1
    assert said.human_answers[0].endswith(": approved")
    assert any("a person took a suspect verdict" in finding for finding in said.findings)
    assert (await verified(runs, record)).verified


async def test_a_suspect_verdict_that_nobody_approved_is_not_verified(runs: Runs) -> None:
    options = {"contradicted": ["a.txt", "b.txt"]}
    record = await runs.run([MEND], options=options)
    assert record.status == "achieved"
    bent = {**options, "still_pass": ["a.txt", "b.txt"]}
    found = await verified(runs, record, options=bent)
    assert not found.verified
    assert "not believed" in found.problems[0]


async def test_passwords_are_left_out_and_asked_for(runs: Runs) -> None:
    secret = "db://someone:hunter22@host/name"
    record = await runs.run([MEND], options={"suspicious": secret})
    assert b"hunter22" not in content_of(runs, record)
    assert receipt_of(runs, record).options["suspicious"] == "db://someone:***@host/name"
    with pytest.raises(RetraiError, match="leaves a password out of the option suspicious"):
        await verified(runs, record)
    given = VerifyOptions(options={"suspicious": secret})
    assert (await verified(runs, record, given)).verified


async def test_other_versions_are_said_and_no_reason_to_refuse(runs: Runs) -> None:
    record = await runs.run([MEND])
    versions = receipt_of(runs, record).versions | {"retrai-core": "0.0.9"}
    found = await verified(runs, record, versions=versions)
    assert found.verified
    assert any(note.startswith("made with retrai-core 0.0.9") for note in found.notes)


async def test_a_setting_that_is_not_known_here_is_one_line(runs: Runs) -> None:
    record = await runs.run([MEND])
    for changed in ({"settings": {"colour": "red"}}, {"baseline": {"protected": 3}}):
        with pytest.raises(RetraiError, match="not known here"):
            await verified(runs, record, **changed)


async def test_a_large_tree_has_one_hash_and_no_list(runs: Runs) -> None:
    folder = runs.project / "many"
    folder.mkdir()
    for number in range(MOST_FILES):
        (folder / f"{number}.txt").touch()
    record = await runs.run([MEND])
    trees = receipt_of(runs, record).trees
    assert (trees.files, trees.file_count > MOST_FILES) == (None, True)
    assert (await verified(runs, record)).verified
    (folder / "0.txt").write_text("changed")
    found = await verified(runs, record)
    assert "too many to name" in found.problems[0]


async def test_held_out_files_are_no_part_of_the_tree(runs: Runs) -> None:
    record = await runs.run([MEND])
    (runs.project / "held").mkdir()
    (runs.project / "held" / "test.txt").write_text("back again")
    assert not (await verified(runs, record)).verified
    held_out = {"globs": ["/held/**"], "total": 1, "failed": 0}
    assert (await verified(runs, record, held_out=held_out)).verified


async def test_names_that_are_no_utf8_are_signed_too(runs: Runs) -> None:
    name = b"caf\xe9.txt".decode(errors="surrogateescape")
    (runs.project / name).write_text("x")
    record = await runs.run([MEND])
    assert r"caf\xe9.txt" in (receipt_of(runs, record).trees.files or {})
    assert (await verified(runs, record)).verified


async def test_a_key_that_cannot_be_used_costs_the_receipt_and_not_the_run(runs: Runs) -> None:
    key = SigningKey(runs.store.state)
    key.sign(b"")
    key.path.write_bytes(b"damaged")
    record = await runs.run([MEND])
    assert (record.status, record.artifacts) == ("achieved", [])
    warnings = [e.payload["message"] for e in runs.events(record, "log")]
    kept = "receipts of retrai-receipts keeps nothing with the run: the signing key"
    assert any(kept in message for message in warnings)


async def test_the_receipt_is_json_that_others_can_read(runs: Runs) -> None:
    record = await runs.run([MEND])
    assert record.artifacts == ["receipt.json"]
    content = content_of(runs, record)
    whole = json.loads(content)
    assert content == json.dumps(whole, sort_keys=True, indent=1).encode() + b"\n"
    assert whole["signature"]["fingerprint"] == SigningKey(runs.store.state).public.fingerprint
