"""The signing key: made once, its owner's alone, and named by a fingerprint."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrai_core import RetraiError, UsageError
from retrai_receipts.signing import (
    BadSignatureError,
    PublicKey,
    SigningKey,
    pinned_fingerprint,
)


def test_two_that_make_the_key_at_once_get_the_same_one(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: SigningKey(tmp_path).public.text, range(16)))
    assert len(set(made)) == 1
    (key,) = (tmp_path / "keys").iterdir()
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert stat.S_IMODE(key.parent.stat().st_mode) == 0o700


def test_a_key_that_others_may_read_is_closed_again(tmp_path: Path) -> None:
    key = SigningKey(tmp_path)
    text = key.public.text
    key.path.chmod(0o644)
    assert SigningKey(tmp_path).public.text == text
    assert stat.S_IMODE(key.path.stat().st_mode) == 0o600


def test_a_damaged_key_is_said_with_what_to_do(tmp_path: Path) -> None:
    key = SigningKey(tmp_path)
    assert not key.exists
    key.sign(b"")
    assert key.exists
    key.path.write_bytes(b"short")
    with pytest.raises(RetraiError, match="damaged") as caught:
        SigningKey(tmp_path).sign(b"")
    assert "delete it" in caught.value.hint


@given(message=st.binary(max_size=60), place=st.integers(0, 63), flip=st.integers(1, 255))
def test_a_signature_fits_its_message_and_no_other(message: bytes, place: int, flip: int) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        key = SigningKey(Path(folder))
        public, signature = key.public, key.sign(message)
    assert public.check(PublicKey.encode(signature), message) == signature
    other = bytearray(signature)
    other[place] ^= flip
    for wrong, text in ((bytes(other), message), (signature, message + b"\0"), (b"", message)):
        with pytest.raises(BadSignatureError):
            public.check(PublicKey.encode(wrong), text)


def test_a_key_is_named_by_its_fingerprint_its_text_or_a_file(tmp_path: Path) -> None:
    public = SigningKey(tmp_path).public
    file = tmp_path / "key.pub"
    file.write_text(f"{public.text}\n")
    for named in (public.fingerprint, public.fingerprint + "=", public.text, str(file)):
        assert pinned_fingerprint(named) == public.fingerprint
    (tmp_path / "image.png").write_bytes(b"\x89PNG\xff")
    for wrong in ("", "nonsense", str(tmp_path / "image.png"), str(tmp_path)):
        with pytest.raises(UsageError, match="--key"):
            pinned_fingerprint(wrong)
