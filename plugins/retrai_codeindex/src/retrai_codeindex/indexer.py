"""Brings an index up to date with the project's files, in one transaction."""

from __future__ import annotations

import multiprocessing
import os
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path

from retrai_core import UsageError

from . import files, postings
from .files import Found
from .reading import Read, Reader, read_batch, start_worker
from .store import IndexFile
from .tokens import Tokenizer

POOL_FROM = 150
"""Fewer files are read in this process: starting others costs more."""
BATCH = 24
RECENT_NS = 2_000_000_000
"""A file that changed less than this before it was read may change again within the same time
stamp; its content is compared at the next update, whatever its time stamp says."""

Progress = Callable[[int, int], None]
"""Is called with the files that are done, and all."""


@dataclass(slots=True)
class Update:
    """What an update did.

    Attributes:
        added: new files.
        changed: files with new content.
        removed: files that are gone.
        vendored: folders that were left out.
        seconds: how long it took.
    """

    added: int = 0
    changed: int = 0
    removed: int = 0
    vendored: list[str] = field(default_factory=list[str])
    seconds: float = 0.0

    @property
    def is_empty(self) -> bool:
        """Whether the index was up to date."""
        return not (self.added or self.changed or self.removed)


@dataclass(slots=True)
class _Plan:
    changed: dict[str, Found]
    removed: list[str]
    known: dict[str, tuple[int, int, int, int, bytes]]

    @property
    def is_empty(self) -> bool:
        return not (self.changed or self.removed)


def update_index(
    index: IndexFile,
    root: Path,
    progress: Progress | None = None,
    jobs: int | None = None,
    tokenizer: Tokenizer | None = None,
) -> Update:
    """Read what has changed since the last update.

    Args:
        index: the index file.
        root: the project's folder.
        progress: hears of each batch of files.
        jobs: processes that parse; by default as many as there are processors.
        tokenizer: one that remembers tokens already, for what is read in this process.

    Raises:
        UsageError: the caller is a script that its own worker processes run again.
    """
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise _unguarded()  # the caller's script runs in a worker that starts: it would wait for us
    began = time.monotonic()
    done = Update()
    found = {file.path: file for file in files.walk(root, done.vendored)}
    version = _version(index.db)
    plan = _plan(index.db, found)
    if not plan.is_empty:
        with index.writing() as db:
            if _version(db) != version:  # another process may have done it in the meantime
                plan = _plan(db, found)
            if not plan.is_empty:
                reader = Reader(root, tokenizer)
                _Writer(db, reader, plan, done).run(progress, jobs)
        if done.added > POOL_FROM:
            index.checkpoint()
    done.seconds = time.monotonic() - began
    return done


def _version(db: sqlite3.Connection) -> tuple[int, int]:
    """Another one after each change by another connection."""
    (version,) = db.execute("PRAGMA data_version").fetchone()
    return id(db), version


def _plan(db: sqlite3.Connection, found: dict[str, Found]) -> _Plan:
    rows = db.execute("SELECT path, id, size, mtime_ns, inode, digest FROM file")
    known = {row[0]: row[1:] for row in rows}
    changed = {
        path: file
        for path, file in found.items()
        if path not in known or known[path][1:4] != (file.size, file.mtime_ns, file.inode)
    }
    return _Plan(changed, [path for path in known if path not in found], known)  # pyright: ignore[reportArgumentType] - five columns


class _Writer:
    def __init__(self, db: sqlite3.Connection, reader: Reader, plan: _Plan, done: Update) -> None:
        self.db = db
        self.reader = reader
        self.plan = plan
        self.done = done
        self.began_ns = time.time_ns()
        self.builder = None if plan.known or postings.has_lists(db) else postings.Builder()

    def run(self, progress: Progress | None, jobs: int | None) -> None:
        for path in self.plan.removed:
            self._remove(self.plan.known[path][0])
            self.done.removed += 1
        paths = sorted(self.plan.changed)
        for number, read in enumerate(_read_all(self.reader, paths, jobs), 1):
            self._store(read)
            if progress is not None and (number % 20 == 0 or number == len(paths)):
                progress(number, len(paths))
        if self.builder is not None:
            self.builder.write(self.db)
        if self.done.is_empty:
            return
        (chunks,) = self.db.execute("SELECT count(*) FROM chunk").fetchone()
        if self.builder is None and self._merge_is_due(chunks):
            postings.merge(self.db)
        set_meta(self.db, "chunks", str(chunks))
        set_meta(self.db, "graph", "stale")

    def _store(self, read: Read) -> None:
        found = self.plan.changed[read.path]
        known = self.plan.known.get(read.path)
        mtime_ns = found.mtime_ns if found.mtime_ns < self.began_ns - RECENT_NS else -1
        if known is not None and known[4] == read.digest and read.skipped != "vanished":
            self.db.execute(
                "UPDATE file SET size = ?, mtime_ns = ?, inode = ? WHERE id = ?",
                (found.size, mtime_ns, found.inode, known[0]),
            )
            return
        if known is not None:
            self._remove(known[0])
        if read.skipped == "vanished":
            self.done.removed += known is not None
            return
        if known is None:
            self.done.added += 1
        else:
            self.done.changed += 1
        terms = postings.packed_terms(read.weights)
        db = self.db
        cursor = db.execute(
            "INSERT INTO file (path, size, mtime_ns, inode, digest, language, parsed, skipped,"
            " line_count, facts, terms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(read.path, found.size, mtime_ns, found.inode, read.digest, read.language),
                *(read.parsed, read.skipped, read.line_count, read.facts, terms),
            ),
        )
        file = cursor.lastrowid or 0
        ids: list[int] = []
        for kind, symbol, start, end, signature, doc in read.chunks:
            cursor.execute(
                "INSERT INTO chunk (file, kind, symbol, name, start_line, end_line, signature, doc)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (file, kind, symbol, symbol.rpartition(".")[2], start, end, signature, doc),
            )
            ids.append(cursor.lastrowid or 0)
        pairs = zip(ids, read.weights, strict=True)
        if self.builder is None:
            postings.add_delta(db, file, pairs)
        else:
            for chunk, weights in pairs:
                self.builder.add(chunk, weights)

    def _remove(self, file: int) -> None:
        db = self.db
        (terms,) = db.execute("SELECT terms FROM file WHERE id = ?", (file,)).fetchone()
        chunks = [chunk for (chunk,) in db.execute("SELECT id FROM chunk WHERE file = ?", (file,))]
        postings.remove(db, file, terms, chunks)
        db.execute("DELETE FROM chunk WHERE file = ?", (file,))
        db.execute("DELETE FROM file WHERE id = ?", (file,))

    def _merge_is_due(self, chunks: int) -> bool:
        (dead,) = self.db.execute("SELECT count(*) FROM dead").fetchone()
        (rows,) = self.db.execute("SELECT count(*) FROM delta").fetchone()
        return dead + rows / 30 > max(postings.MIN_MERGED, postings.MERGE_SHARE * chunks)


def set_meta(db: sqlite3.Connection, key: str, value: str) -> None:
    """Set one of the index's own values."""
    db.execute(
        "INSERT INTO meta (key, value) VALUES (?, ?)"
        " ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (key, value),
    )


def _read_all(reader: Reader, paths: list[str], jobs: int | None) -> Iterator[Read]:
    jobs = jobs or usable_processors()
    if jobs == 1 or len(paths) < POOL_FROM:
        yield from map(reader.read, paths)
        return
    yield from _read_in_processes(reader.root, paths, jobs)


def _read_in_processes(root: Path, paths: list[str], jobs: int) -> Iterator[Read]:
    """Read in worker processes; a file that kills its worker is read by blocks."""
    batches = deque(paths[at : at + BATCH] for at in range(0, len(paths), BATCH))
    while batches:
        in_flight: dict[Future[list[Read]], list[str]] = {}
        with _pool(root, jobs) as pool:
            try:
                pool.submit(os.getpid).result()
            except BrokenProcessPool:
                raise _unguarded() from None
            try:
                # Only a few at a time: what has been read and not yet written is in memory.
                while batches or in_flight:
                    while batches and len(in_flight) < 2 * jobs:
                        batch = batches.popleft()
                        in_flight[pool.submit(read_batch, os.fspath(root), batch)] = batch
                    ready, _ = wait(in_flight, return_when=FIRST_COMPLETED)
                    for future in ready:
                        reads = future.result()
                        del in_flight[future]
                        yield from reads
            except BrokenProcessPool:
                suspects = [path for batch in in_flight.values() for path in batch]
            else:
                return
        yield from _read_one_by_one(root, suspects)


def _read_one_by_one(root: Path, paths: list[str]) -> Iterator[Read]:
    """Find the file that kills its worker: each is read alone, in a process that may die."""
    pool = _pool(root, 1)
    try:
        for path in paths:
            try:
                yield from pool.submit(read_batch, os.fspath(root), [path]).result()
            except BrokenProcessPool:
                pool.shutdown()
                pool = _pool(root, 1)
                yield Reader(root).read(path, parse=False)
    finally:
        pool.shutdown(cancel_futures=True)


def _pool(root: Path, jobs: int) -> ProcessPoolExecutor:
    # Not `fork`: this process may have threads, and its locks would be copied as they are.
    return ProcessPoolExecutor(
        jobs,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=start_worker,
        initargs=(os.fspath(root),),
    )


def _unguarded() -> UsageError:
    return UsageError(
        "the processes that read files cannot start",
        hint="in a script, write the work below `if __name__ == '__main__':`",
    )


def usable_processors() -> int:
    """The processors that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # macOS
        return os.cpu_count() or 1
