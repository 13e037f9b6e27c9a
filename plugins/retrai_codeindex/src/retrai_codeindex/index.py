"""`Index`: the public library API."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Self, TypeVar

from retrai_core import UsageError

from .embedders import embedder_of
from .graph import Call, Definition, Graph, read_graph
from .indexer import Progress, Update, update_index
from .meanings import Meanings
from .search import Hit, Searcher
from .store import IndexFile, index_path, is_damaged
from .tokens import Tokenizer
from .vectors import Vectors

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Stats:
    """What an index holds.

    Attributes:
        files: files that are searched.
        lines: their lines.
        chunks: definitions and blocks.
        definitions: definitions.
        languages: files by language.
        skipped: files that are not searched, by reason.
        partly: files with syntax errors, which are indexed as far as they parse.
        calls: calls in the code, once the call graph was asked for.
        resolved: those with a known target.
        size_bytes: of the index file.
        path: of the index file.
    """

    files: int
    lines: int
    chunks: int
    definitions: int
    languages: dict[str, int]
    skipped: dict[str, int]
    partly: int
    calls: int
    resolved: int
    size_bytes: int
    path: str


class Index:
    """The code index of one project. Use it as a context manager; methods may be called by threads.

    `open` makes the index if there is none, and brings it up to date. Every other method answers
    from the index as it is: call `update` before, if files may have changed.

    Example:
        >>> import tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> text = "def half(price):\\n    return price / 2\\n\\n\\ndef sale():\\n    half(8)\\n"
        >>> _ = (folder / "shop.py").write_text(text)
        >>> with Index.open(folder, path=folder / "index.sqlite") as index:
        ...     print([hit.symbol for hit in index.search("half of the price")])
        ...     print([call.caller.name for call in index.callers("half")])
        ['half', '', 'sale']
        ['shop.sale']
    """

    def __init__(
        self, project: Path, path: Path | None = None, *, embedder: str | None = None
    ) -> None:
        self.project = Path(os.path.realpath(project))
        if not self.project.is_dir():
            raise UsageError(f"{str(project)!r} is not a folder", hint="name the project with -C")
        self._file = IndexFile(path or index_path(self.project))
        self._tokenizer = Tokenizer()
        self._meanings = Meanings()
        self._vectors = (
            Vectors(self._file, self.project, embedder_of(embedder)) if embedder else None
        )
        self._lock = threading.RLock()

    @classmethod
    def open(
        cls,
        project: Path,
        *,
        path: Path | None = None,
        progress: Progress | None = None,
        jobs: int | None = None,
        embedder: str | None = None,
    ) -> Self:
        """The up-to-date index of a project.

        Args:
            project: its folder.
            path: the index file; by default in the user's cache folder.
            progress: hears of the files that are read: done, and all.
            jobs: processes that parse; by default as many as there are processors.
            embedder: ranks hits by meaning too: `litellm:MODEL`, `local` or `local:FOLDER`.

        Raises:
            UsageError: there is no such folder, or no such embedder.
            IndexUnavailableError: the cache folder cannot be written, or the disk is full.
        """
        index = cls(project, path, embedder=embedder)
        index.update(progress=progress, jobs=jobs)
        return index

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the index file."""
        with self._lock:
            self._file.close()

    @property
    def path(self) -> Path:
        """The index file."""
        return self._file.path

    def take_warnings(self) -> list[str]:
        """What a person should hear about, once: a damaged file that was made anew, say."""
        warnings, self._file.warnings = self._file.warnings, []
        return warnings

    def update(self, *, progress: Progress | None = None, jobs: int | None = None) -> Update:
        """Read what has changed in the project.

        Raises:
            IndexUnavailableError: the index file cannot be written.
        """
        return self._do(
            lambda: update_index(self._file, self.project, progress, jobs, self._tokenizer),
            renew=False,
        )

    def search(self, query: str, count: int = 10) -> list[Hit]:
        """The chunks that fit a question or a name, best first.

        Args:
            query: words, identifiers, a sentence.
            count: the largest number of hits.
        """
        return self._do(
            lambda: Searcher(self._file.db, self._tokenizer, self._meanings, self._vectors).search(
                query, count
            )
        )

    def embed(self, *, progress: Progress | None = None) -> int:
        """Embed every chunk that has no vector yet, so that `search` finds what only meaning finds.

        Without it, `search` embeds only the best hits by words.

        Returns:
            how many were embedded.

        Raises:
            UsageError: the index was opened without an embedder, or it failed.
        """
        vectors = self._vectors
        if vectors is None:
            raise UsageError("there is no embedder", hint="`--embedder litellm:MODEL` or `local`")
        return self._do(lambda: vectors.embed_all(progress))

    def definition(self, name: str) -> list[Definition]:
        """The definitions that a name means.

        Args:
            name: `total`, `Cart.total`, `shop.cart.Cart.total` or `shop/cart.py:Cart.total`.
        """

        def work() -> list[Definition]:
            graph = self._graph()
            return [graph.definition(number) for number in graph.find(name)]

        return self._do(work)

    def similar(self, name: str) -> list[Definition]:
        """Definitions with similar names, the most similar first."""

        def work() -> list[Definition]:
            graph = self._graph()
            return [graph.definition(number) for number in graph.similar(name)]

        return self._do(work)

    def subclasses(self, name: str) -> list[Definition]:
        """The classes of the project that inherit from those that a name means.

        Args:
            name: as for `definition`; of a class outside the project too, as `ValueError`.
        """

        def work() -> list[Definition]:
            graph = self._graph()
            return graph.subclasses(graph.find(name) or graph.others(name))

        return self._do(work)

    def callers(self, name: str) -> list[Call]:
        """The calls of all definitions that a name means; then unresolved calls of that name."""

        def work() -> list[Call]:
            graph = self._graph()
            return graph.callers(graph.find(name))

        return self._do(work)

    def callees(self, name: str) -> list[Call]:
        """The calls in all definitions that a name means; unresolved ones last."""

        def work() -> list[Call]:
            graph = self._graph()
            return graph.callees(graph.find(name))

        return self._do(work)

    def call_chain(
        self, name: str, *, up: bool = False, max_depth: int = 3, max_nodes: int = 200
    ) -> list[tuple[int, Definition]]:
        """What a definition calls, and what that calls, as a tree.

        Args:
            name: as for `definition`.
            up: who calls it instead.
            max_depth: levels below the definition.
            max_nodes: the largest number of entries.

        Returns:
            depth and definition, in the order of a walk from the top; one that has been listed
            above is not opened again.
        """

        def work() -> list[tuple[int, Definition]]:
            graph = self._graph()
            found: list[tuple[int, Definition]] = []
            seen: set[int] = set()
            stack = [(0, number) for number in reversed(graph.find(name))]
            while stack and len(found) < max_nodes:
                depth, number = stack.pop()
                found.append((depth, graph.definition(number)))
                if number in seen or depth >= max_depth:
                    continue
                seen.add(number)
                below = graph.neighbours(number, up=up)
                stack += [(depth + 1, each) for each in reversed(below)]
            return found

        return self._do(work)

    def call_path(self, source: str, target: str) -> list[Definition]:
        """A shortest chain of calls from one definition to another; empty if there is none."""

        def work() -> list[Definition]:
            graph = self._graph()
            chain = graph.path(graph.find(source), graph.find(target))
            return [graph.definition(number) for number in chain]

        return self._do(work)

    def graph(self) -> dict[str, list[str]]:
        """Every definition with what it calls, by dotted names, sorted.

        Functions of Python itself are `<builtin>.len`, methods of its types `<**PyStr**>.join`.
        """
        return self._do(lambda: self._graph().edges())

    def module_summary(self, path: str) -> list[Definition]:
        """The definitions of a file, by line; the module itself first.

        Args:
            path: the file, relative to the project.
        """

        def work() -> list[Definition]:
            rows = self._file.db.execute(
                "SELECT c.symbol, c.kind, c.start_line, c.end_line, c.signature, c.doc FROM chunk c"
                " JOIN file f ON f.id = c.file WHERE f.path = ? AND c.kind != 'text'"
                " ORDER BY c.start_line, c.symbol",
                (path,),
            )
            return [Definition(symbol or path, path, symbol, *rest) for symbol, *rest in rows]

        return self._do(work)

    def files(self) -> dict[str, str]:
        """The language of each file that is searched, by path."""

        def work() -> dict[str, str]:
            query = "SELECT path, language FROM file WHERE skipped = '' ORDER BY path"
            return dict(self._file.db.execute(query).fetchall())

        return self._do(work)

    def stats(self) -> Stats:
        """What the index holds; makes the call graph if it is not up to date."""

        def work() -> Stats:
            calls, resolved = self._graph().counts()
            db = self._file.db
            one = "SELECT count(*), coalesce(sum(line_count), 0) FROM file WHERE skipped = ''"
            files, lines = db.execute(one).fetchone()
            (chunks,) = db.execute("SELECT count(*) FROM chunk").fetchone()
            (definitions,) = db.execute("SELECT count(*) FROM chunk WHERE symbol != ''").fetchone()
            partly = "SELECT count(*) FROM file WHERE parsed = 'partly'"
            by = "SELECT {0}, count(*) FROM file WHERE skipped {1} '' GROUP BY 1 ORDER BY 2 DESC"
            return Stats(
                files,
                lines,
                chunks,
                definitions,
                dict(db.execute(by.format("language", "=")).fetchall()),
                dict(db.execute(by.format("skipped", "!=")).fetchall()),
                db.execute(partly).fetchone()[0],
                calls,
                resolved,
                self.path.stat().st_size,
                str(self.path),
            )

        return self._do(work)

    def _do(self, work: Callable[[], T], *, renew: bool = True) -> T:
        """Do it; a damaged index is made anew, and it is done once more."""
        with self._lock:
            try:
                return work()
            except sqlite3.DatabaseError as error:
                if not is_damaged(error):
                    raise
            self._file.set_aside()
            if renew:
                update_index(self._file, self.project)
            return work()

    def _graph(self) -> Graph:
        return read_graph(self._file)
