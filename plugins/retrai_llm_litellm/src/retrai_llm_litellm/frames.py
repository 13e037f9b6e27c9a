"""Frames between retrai and the process that runs LiteLLM: a length, then one JSON object."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from typing import Any, BinaryIO

_LENGTH = struct.Struct(">I")

Frame = dict[str, Any]
"""One JSON object. A request has `id` and `op`; what comes back has the request's `id` and one of
`part`, `done`, `report`, `error`."""


def framed(frame: Frame) -> bytes:
    """The bytes of one frame."""
    # Models write half surrogate pairs; as JSON's own escapes they are plain ASCII.
    body = json.dumps(frame, separators=(",", ":")).encode()
    return _LENGTH.pack(len(body)) + body


def frames_of(file: BinaryIO) -> Iterator[Frame]:
    """Every frame that arrives, until the other side is gone, in the middle of one or not."""
    while len(head := file.read(_LENGTH.size)) == _LENGTH.size:
        (size,) = _LENGTH.unpack(head)
        body = file.read(size)
        if len(body) < size:
            return
        yield json.loads(body)
