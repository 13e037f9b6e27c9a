"""The stores of this repository keep the contract of stores, by the kit that strangers use."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from retrai_core import FilesStore, RunStore
from retrai_testkit import NotApplicable, RunStoreConformance, RunStoreTests

EXAMPLE = Path(__file__).parents[2] / "examples" / "frontends" / "memory_store.py"


def module_of(path: Path) -> Any:
    """A module that is not on the import path."""
    spec = spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[path.stem] = module  # where dataclasses look their annotations up
    spec.loader.exec_module(module)
    return module


example = module_of(EXAMPLE)


class TestFilesStore(RunStoreConformance):
    plugin = FilesStore

    def open_store(self, place: Path) -> FilesStore:
        return FilesStore(state=place / "state")

    def in_another_process(self, place: Path) -> str:
        imports = "from pathlib import Path; from retrai_core import FilesStore"
        return f"{imports}; store = FilesStore(state=Path({str(place / 'state')!r}))"


class TestStoreInMemory(RunStoreTests):
    """The example, whose claims are lost after a lease."""

    expires = True
    _places: dict[Path, Any]

    def open_store(self, place: Path) -> RunStore:
        places = self.__dict__.setdefault("_places", {})
        return example.InMemory(place=places.setdefault(place, example.Place()))

    def in_another_process(self, place: Path) -> NotApplicable:
        return NotApplicable("another process has another memory")
