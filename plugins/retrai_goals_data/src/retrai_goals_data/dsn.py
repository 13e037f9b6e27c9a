"""A database as the user names it: an address as SQLAlchemy takes it, with variables filled in."""

from __future__ import annotations

import difflib
import os
import re
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from .database.jobs import Dialect, Target

_ADDRESS = re.compile(r"^(?P<scheme>[\w+]+)://(?P<rest>.*)$", re.DOTALL)
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_DIALECTS: dict[str, Dialect] = {
    "sqlite": "sqlite",
    "duckdb": "duckdb",
    "postgresql": "postgresql",
    "postgres": "postgresql",
}
_DRIVERS: dict[Dialect, tuple[str, ...]] = {
    "sqlite": (),
    "duckdb": ("duckdb", "duckdb_engine"),
    "postgresql": ("psycopg",),
}
MEMORY = ":memory:"


@dataclass(frozen=True)
class Dsn:
    """An address, parsed.

    Attributes:
        text: as it was written; variables stand there by name, so it can be shown.
        dialect: which kind of database it is.
        rest: what follows `://`.
    """

    text: str
    dialect: Dialect
    rest: str

    @classmethod
    def parse(cls, text: str) -> Dsn:
        """Read an address.

        Raises:
            ValueError: it is none, or of a database that is not supported.

        Example:
            >>> Dsn.parse("sqlite:///shop.db").file_name
            'shop.db'
        """
        match = _ADDRESS.match(text.strip())
        if match is None:
            raise ValueError("must be an address like sqlite:///shop.db")
        name, _, driver = match["scheme"].partition("+")
        dialect = _DIALECTS.get(name)
        if dialect is None:
            near = difflib.get_close_matches(name, _DIALECTS, 1)
            meant = f"; did you mean {near[0]}?" if near else ""
            known = "sqlite, duckdb, postgresql"
            raise ValueError(f"{name} is not supported ({known} are){meant}")
        if driver and (dialect, driver) != ("postgresql", "psycopg"):
            raise ValueError(f"the driver {driver} is not used here; write {name}://...")
        found = cls(text.strip(), dialect, match["rest"])
        if dialect != "postgresql":
            if not match["rest"].startswith("/"):
                raise ValueError(f"needs three slashes before the file: {name}:///shop.db")
            if dialect == "sqlite" and found.file_name in ("", MEMORY):
                raise ValueError("a SQLite database in memory holds nothing; name a file")
        return found

    @property
    def file_name(self) -> str:
        """The file as it was written; empty for a server."""
        return "" if self.dialect == "postgresql" else self.rest[1:].partition("?")[0]

    @property
    def shown(self) -> str:
        """For people and the model: without a password."""
        return re.sub(r"(://[^:/@]*):[^@]*@", r"\1:***@", self.text)

    def file(self, project: Path, folder: Path) -> Path | None:
        """The database's file; None for a server and in memory.

        Args:
            project: where relative names begin, and what a copy is made of.
            folder: the project, or a copy of it: a file of the project is looked for there.
        """
        name = self.file_name
        if name in ("", MEMORY):
            return None
        path = Path(os.path.normpath(project / Path(name).expanduser()))
        if path.is_relative_to(project):
            return folder / path.relative_to(project)
        return path

    def target(self, project: Path, folder: Path, *, files: bool = False) -> Target:
        """What the measuring process opens.

        Args:
            project, folder: see `file`.
            files: DuckDB may read the files that a query names.

        Raises:
            ValueError: a variable in the address is not set.
        """
        if self.dialect == "postgresql":
            return Target(self.dialect, url=f"postgresql+psycopg://{_filled_in(self.rest)}")
        return Target(self.dialect, path=str(self.file(project, folder) or ""), files=files)

    def missing_driver(self) -> str | None:
        """What is not installed, and how it is; None when all is there."""
        missing = [name for name in _DRIVERS[self.dialect] if find_spec(name) is None]
        if not missing:
            return None
        return (
            f"the driver for {self.dialect} is not installed; "
            f"`retrai plugins install 'retrai-goals-data[{self.dialect}]'` or pip, beside retrai"
        )


def _filled_in(text: str) -> str:
    """`${NAME}` replaced by the environment variable, so that no password stands in a file."""
    from urllib.parse import quote

    def value(match: re.Match[str]) -> str:
        found = os.environ.get(match[1])
        if found is None:
            raise ValueError(f"the environment variable {match[1]} in the dsn is not set")
        return quote(found, safe="")

    return _VARIABLE.sub(value, text)
