"""`retrai verify`: a receipt is believed only when the signature, the tree and the check hold."""

from __future__ import annotations

import base64
import json
import random
import shutil
import stat
import sys
import venv
from collections.abc import Callable
from pathlib import Path

import pytest

from retrai_core import FilesStore
from retrai_receipts.signing import PublicKey, SigningKey

from ..cli.kept import kept_runs

RIGHT = ("write_answer", {"text": "42"})
Retrai = Callable[..., tuple[int, str, str]]


@pytest.fixture
def receipt(retrai: Retrai, toy, project: Path) -> Path:
    """The receipt of a run that wrote the right answer."""
    code, out, _ = retrai(*toy([RIGHT]))
    assert code == 0, out
    (record,) = kept_runs()
    assert record.artifacts == ["receipt.json"]
    return FilesStore().folder(record.id) / "artifacts" / "receipt.json"


def test_a_receipt_says_what_was_asked_checked_and_used(receipt: Path, project: Path) -> None:
    said = json.loads(receipt.read_text())["receipt"]
    assert (said["goal"], said["project"]) == ("answer", str(project))
    assert (said["before"], said["after"]) == ({"answer": "failed"}, {"answer": "passed"})
    assert said["command"] == ["read", "it"]
    assert said["trees"]["baseline"] != said["trees"]["final"]
    assert set(said["trees"]["files"]) == {"question.txt", "answer.txt", ".retrai.yml"}
    assert {"retrai-core", "retrai-toy"} <= set(said["versions"])
    assert said["sandbox"]["names"] == ["local"]
    assert said["sandbox"]["key_within_reach"] is True
    assert "could have reached the signing key" in said["sandbox"]["note"]
    assert said["tampering"]["refused"] == []


def test_the_key_is_made_once_and_only_its_owner_may_read_it(
    receipt: Path, retrai: Retrai, toy, project: Path
) -> None:
    key = FilesStore().state / "keys" / "receipts.ed25519"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    made = key.read_bytes()
    (project / "answer.txt").unlink()
    assert retrai(*toy([RIGHT]))[0] == 0
    assert key.read_bytes() == made


def test_a_receipt_holds_by_its_file_by_its_run_and_on_a_copy(
    receipt: Path, retrai: Retrai, project: Path, tmp_path: Path
) -> None:
    shutil.copytree(project, tmp_path / "clone" / "project")
    for asked in (
        [receipt],
        [receipt.parent.parent.name[:6]],
        [receipt, "-C", tmp_path / "clone" / "project"],
    ):
        code, out, err = retrai("verify", *asked)
        assert (code, err) == (0, ""), out
        assert out.splitlines()[-1].startswith("verified: answer, as run ")
        assert "1 passed, on a clean copy" in out
        assert "could have reached the signing key" in out


def test_a_project_that_passed_already_has_a_receipt_too(
    retrai: Retrai, toy, project: Path
) -> None:
    (project / "answer.txt").write_text("42")
    assert retrai(*toy([]))[0] == 0
    (record,) = kept_runs()
    code, out, _ = retrai("verify", record.id)
    assert code == 0, out


def test_the_json_of_a_verification_says_what_holds(receipt: Path, retrai: Retrai) -> None:
    code, out, _ = retrai("verify", receipt, "--json")
    said = json.loads(out)
    assert (code, said["verified"], said["same_tree"], said["own_key"]) == (0, True, True, True)
    assert (said["counts"], said["problems"]) == ({"passed": 1}, [])


@pytest.mark.parametrize("seed", range(12))
def test_one_flipped_byte_anywhere_is_refused(receipt: Path, retrai: Retrai, seed: int) -> None:
    content = bytearray(receipt.read_bytes())
    for place in random.Random(seed).sample(range(len(content)), 12):
        flipped = bytearray(content)
        flipped[place] ^= random.Random(place).randrange(1, 256)
        receipt.write_bytes(flipped)
        code, out, err = retrai("verify", receipt)
        assert (code, out) == (1, ""), (place, content[place - 20 : place + 20])
        assert err.startswith(f"error: {receipt} "), err
        assert "Traceback" not in err


@pytest.mark.parametrize("also", [b"\n", b" "])
def test_white_space_that_changes_no_value_is_refused_too(
    receipt: Path, retrai: Retrai, tmp_path: Path, also: bytes
) -> None:
    copy = tmp_path / "copy.json"
    copy.write_bytes(receipt.read_bytes() + also)
    code, _, err = retrai("verify", copy)
    assert code == 1
    error, hint = err.splitlines()
    assert "changed after it was signed" in error
    assert hint.startswith("hint: `retrai verify RUN` takes the run's own")


def test_a_damaged_receipt_of_the_run_itself_is_not_told_to_take_that_one(
    receipt: Path, retrai: Retrai, project: Path
) -> None:
    receipt.write_bytes(receipt.read_bytes() + b" ")
    code, _, err = retrai("verify", receipt.parent.parent.name)
    assert code == 1
    assert err.splitlines()[1] == f"hint: `retrai run answer -C {project}` makes a new one"


@pytest.mark.parametrize(
    ("flipped", "says"),
    [
        (
            '"public_kex"',
            "is damaged in its signature or key: signature.public_key: field required",
        ),
        ('"public_key": "*', "was changed after it was signed: its public key is no base 64"),
        ('"value": "*', "was changed after it was signed: its signature is no base 64"),
        ('"vblue"', "is damaged in its signature or key: signature.value: field required"),
    ],
)
def test_what_is_damaged_beside_what_was_signed_is_said(
    receipt: Path, retrai: Retrai, flipped: str, says: str
) -> None:
    text = receipt.read_text()
    sound = {'"public_kex"': '"public_key"', '"vblue"': '"value"'}.get(flipped, flipped[:-1])
    at = text.rindex(sound)
    receipt.write_text(text[:at] + flipped + text[at + len(flipped) :])
    code, out, err = retrai("verify", receipt)
    assert (code, out) == (1, "")
    assert err.splitlines()[0] == f"error: {receipt} {says}"


def test_a_tree_that_has_changed_since_is_named_file_by_file(
    receipt: Path, retrai: Retrai, project: Path
) -> None:
    (project / "answer.txt").write_text("43")
    (project / "new.txt").write_text("")
    (project / "question.txt").unlink()
    code, out, _ = retrai("verify", receipt)
    assert code == 1
    assert "1 changed, 1 missing, 1 new): answer.txt, new.txt, question.txt" in out
    assert f"retrai run answer -C {project} checks this one anew" in out.splitlines()[-2]
    assert out.splitlines()[-1].startswith("not verified")


def test_the_same_tree_with_another_verdict_is_not_verified(
    receipt: Path, retrai: Retrai, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOY_ANSWER_FAILS", "1")
    code, out, _ = retrai("verify", receipt)
    assert code == 1
    assert "problem    the check fails" in out
    assert out.splitlines()[-2].startswith(f"next       retrai run answer -C {project} shows")


def test_a_receipt_signed_with_another_key_is_believed_only_when_the_key_is_named(
    receipt: Path, retrai: Retrai, tmp_path: Path
) -> None:
    signer = SigningKey(FilesStore().state).public
    (FilesStore().state / "keys" / "receipts.ed25519").unlink()
    code, out, err = retrai("verify", receipt)
    assert (code, out) == (1, "")
    assert f"signed by the key {signer.fingerprint}, which is not yours" in err
    assert f"--key {signer.fingerprint}" in err

    public = tmp_path / "theirs.pub"
    public.write_text(signer.text + "\n")
    for named in (signer.fingerprint, signer.text, public):
        code, out, err = retrai("verify", receipt, "--key", named)
        assert code == 0, err
        assert "the key that you named" in out

    other = PublicKey(bytes(32)).fingerprint
    code, _, err = retrai("verify", receipt, "--key", other)
    assert code == 1
    assert f"not by {other}" in err


def test_a_forged_receipt_signed_anew_is_another_key_s(
    receipt: Path, retrai: Retrai, tmp_path: Path
) -> None:
    from retrai_receipts.receipt import Receipt, sign

    body = json.loads(receipt.read_text())["receipt"]
    body["after"]["answer"] = "failed"
    receipt.write_bytes(sign(Receipt.model_validate(body), SigningKey(tmp_path / "forger")))
    code, _, err = retrai("verify", receipt)
    assert code == 1
    assert "not yours" in err


def test_a_receipt_whose_cases_end_otherwise_is_not_verified(receipt: Path, retrai: Retrai) -> None:
    from retrai_receipts.receipt import Receipt, sign

    body = json.loads(receipt.read_text())["receipt"]
    body["after"] = {"answer": "passed", "another": "passed"}
    receipt.write_bytes(sign(Receipt.model_validate(body), SigningKey(FilesStore().state)))
    code, out, _ = retrai("verify", receipt)
    assert code == 1
    assert "1 case differs: another is gone (receipt: passed)" in out


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[1]", "no `receipt` and `signature`"),
        (b"[" * 100_000, "not JSON"),
        (b'{"receipt": {}, "signature": {}}', "is no receipt: "),
        (b'{"receipt": 3, "signature": 3}', "is no receipt: "),
        (b'{"receipt": {"schema_version": 2}, "signature": {}}', "form 2"),
    ],
)
def test_what_is_no_receipt_is_one_line(
    retrai: Retrai, tmp_path: Path, content: bytes, says: str
) -> None:
    path = tmp_path / "receipt.json"
    path.write_bytes(content)
    code, out, err = retrai("verify", path)
    assert (code, out) == (1, "")
    assert says in err
    assert err.count("\n") <= 2


def test_a_signature_of_the_wrong_length_is_one_line(receipt: Path, retrai: Retrai) -> None:
    whole = json.loads(receipt.read_text())
    whole["signature"]["public_key"] = base64.b64encode(b"short").decode()
    receipt.write_text(json.dumps(whole))
    code, _, err = retrai("verify", receipt)
    assert code == 1
    assert "no Ed25519 key" in err


def test_what_cannot_be_found_is_one_line(
    receipt: Path, retrai: Retrai, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, _, err = retrai("verify", tmp_path / "missing.json")
    assert (code, "cannot be read" in err) == (1, True)
    code, _, err = retrai("verify", "nosuchrun")
    assert (code, "neither a file nor a run" in err) == (2, True)
    code, _, err = retrai("verify", receipt, "-C", tmp_path / "nowhere")
    assert (code, "no such folder" in err) == (2, True)
    code, _, err = retrai("verify", receipt, "--key", "nonsense")
    assert (code, "--key nonsense" in err) == (2, True)
    monkeypatch.setenv("RETRAI_DISABLE_PLUGINS", "retrai-toy")
    code, _, err = retrai("verify", receipt)
    assert (code, "answer" in err, "Traceback" in err) == (2, True, False)


def test_a_run_that_achieved_nothing_has_no_receipt(retrai: Retrai, toy) -> None:
    assert retrai(*toy([]), "-n", "1")[0] == 1
    (record,) = kept_runs()
    assert record.artifacts == []
    code, _, err = retrai("verify", record.id)
    assert code == 1
    assert f"run {record.id} (failed) has no receipt" in err
    assert f"hint: `retrai runs show {record.id}`" in err


def test_an_environment_that_imports_the_changed_original_proves_nothing_of_a_clone(
    receipt: Path, retrai: Retrai, project: Path, tmp_path: Path
) -> None:
    clone = tmp_path / "clone" / "project"
    shutil.copytree(project, clone)
    # What an editable install does: a `.pth` file names the project's folder.
    environment = tmp_path / "env"
    venv.create(environment, symlinks=True)
    (packages,) = environment.glob("lib/python*/site-packages")
    (packages / "project.pth").write_text(f"{project}\n")
    python = environment / "bin" / "python"
    asked = ["verify", receipt, "-C", clone, "--python", python]
    assert retrai(*asked)[0] == 0

    (project / "source.py").write_text("")
    code, out, _ = retrai(*asked)
    assert code == 1
    assert f"imports from the run's own project ({project})" in out
    assert retrai("verify", receipt, "-C", clone, "--python", sys.executable)[0] == 0
