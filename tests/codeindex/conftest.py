"""A project of files, and its index in a cache folder of the test's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from retrai_codeindex import Index


class Project:
    """A folder with files, and its index."""

    def __init__(self, folder: Path, cache: Path) -> None:
        self.folder = folder
        self.cache = cache
        self._index: Index | None = None
        folder.mkdir()

    def write(self, path: str, text: str | bytes) -> Path:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    @property
    def index(self) -> Index:
        """The index, up to date."""
        if self._index is None:
            self._index = Index(self.folder)
        self._index.update(jobs=1)
        return self._index

    def symbols(self, query: str, count: int = 10) -> list[str]:
        return [hit.symbol for hit in self.index.search(query, count)]

    def close(self) -> None:
        if self._index is not None:
            self._index.close()
            self._index = None


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    monkeypatch.setenv("RETRAI_CACHE_DIR", str(tmp_path / "cache"))
    made = Project(tmp_path / "project", tmp_path / "cache")
    yield made
    made.close()
