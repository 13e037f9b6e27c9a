"""Frames between retrai and the process that runs LiteLLM: a length, then one JSON object."""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Iterator
from typing import Any, BinaryIO

READ_AT_ONCE = 1 << 20
_LENGTH = struct.Struct(">I")

Frame = dict[str, Any]
"""One JSON object. A request has `id` and `op`; what comes back has the request's `id` and one of
`part`, `done`, `report`, `error`, and after a `done` with `priced` what that cost: `cost_usd`."""


def framed(frame: Frame) -> bytes:
    """The bytes of one frame."""
    # Models write half surrogate pairs; as JSON's own escapes they are plain ASCII.
    body = json.dumps(frame, separators=(",", ":")).encode()
    return _LENGTH.pack(len(body)) + body


class FrameReader:
    """Frames of a pipe for whoever is told by the system that there is something to read."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe
        self._bytes = bytearray()

    def read(self) -> list[Frame] | None:
        """Every frame that has arrived whole; None when the other side is gone."""
        data = os.read(self._pipe, READ_AT_ONCE)
        self._bytes += data
        frames: list[Frame] = []
        while len(self._bytes) >= _LENGTH.size:
            (size,) = _LENGTH.unpack_from(self._bytes)
            end = _LENGTH.size + size
            if len(self._bytes) < end:
                break
            frames.append(json.loads(self._bytes[_LENGTH.size : end]))
            del self._bytes[:end]
        return frames if data else None


def frames_of(file: BinaryIO) -> Iterator[Frame]:
    """Every frame that arrives, until the other side is gone, in the middle of one or not."""
    while len(head := file.read(_LENGTH.size)) == _LENGTH.size:
        (size,) = _LENGTH.unpack(head)
        body = file.read(size)
        if len(body) < size:
            return
        yield json.loads(body)
