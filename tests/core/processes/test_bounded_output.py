"""What is kept of a command's output."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from retrai_core.workspace.processes.output import BoundedOutput


@given(st.lists(st.binary(max_size=40)), st.integers(2, 60))
def test_beginning_and_end_are_kept_and_the_rest_is_counted(
    pieces: list[bytes], max_bytes: int
) -> None:
    output = BoundedOutput(max_bytes)
    for piece in pieces:
        output.feed(piece.hex().encode())
    whole = "".join(piece.hex() for piece in pieces)

    text = output.text()

    half = max_bytes // 2
    if len(whole) <= 2 * half:
        assert text == whole
    else:
        found = re.fullmatch(r"(\w*)\n\[(\d+) bytes left out\]\n(\w*)", text)
        assert found is not None
        assert found.group(1) == whole[:half]
        assert found.group(3) == whole[-half:]
        assert int(found.group(2)) == len(whole) - 2 * half


def test_a_character_that_the_cut_goes_through_is_left_out() -> None:
    output = BoundedOutput(7)
    output.feed("ääää".encode())

    assert output.text() == "ä\n[2 bytes left out]\nä"
