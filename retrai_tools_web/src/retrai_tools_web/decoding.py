"""A body that comes compressed, decoded no further than is wanted."""

from __future__ import annotations

import zlib

from retrai_core import ToolError

ACCEPTED = "gzip, deflate"


class BoundedDecoder:
    """Undoes gzip or deflate, at most `max_bytes` of it: a bomb of a few kB stays one.

    Args:
        encoding: the `Content-Encoding`; empty for none.
        max_bytes: the most that is ever given out.

    Raises:
        ToolError: an encoding that was not asked for.
    """

    def __init__(self, encoding: str, max_bytes: int) -> None:
        known = {"": None, "identity": None, "gzip": 31, "x-gzip": 31, "deflate": 47}
        if encoding not in known:
            raise ToolError(f"the page comes compressed as {encoding!r}, which was not asked for")
        bits = known[encoding]
        self._stream = None if bits is None else zlib.decompressobj(bits)
        self._left = max_bytes

    @property
    def is_full(self) -> bool:
        """Whether the limit has been reached."""
        return self._left <= 0

    def feed(self, data: bytes) -> bytes:
        """What `data` stands for, as far as there is room.

        Raises:
            ToolError: it is no such compressed data.
        """
        if self._left <= 0:
            return b""
        if self._stream is None:
            plain = data[: self._left]
        else:
            try:
                plain = self._stream.decompress(data, self._left)
            except zlib.error as error:
                raise ToolError(f"the page's compressed data are damaged: {error}") from error
        self._left -= len(plain)
        return plain
