"""Give Python another text for a source file than the one on disk, without writing it."""

from __future__ import annotations

import importlib.machinery
import os
from types import CodeType
from typing import Any, Callable, Dict, cast


class Overrides:
    """Texts that importing sees in place of files; installed once, changed at will."""

    def __init__(self) -> None:
        self.texts: Dict[str, str] = {}
        self._installed = False

    def install(self) -> None:
        """Make every later import look here first."""
        if self._installed:
            return
        self._installed = True
        loader = importlib.machinery.SourceFileLoader
        plain = cast("Callable[[Any, str], CodeType]", loader.get_code)
        texts = self.texts

        def get_code(self: Any, fullname: str) -> CodeType:
            path = os.path.realpath(self.get_filename(fullname))
            text = texts.get(path)
            if text is None:
                return plain(self, fullname)
            return compile(text, self.get_filename(fullname), "exec", dont_inherit=True)

        loader.get_code = get_code  # type: ignore[method-assign,assignment]
