"""Results of a search over the project: those of the request, or those of retrai-codeindex."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from .files import Snippet
from .schemas import VectorResult

MAX_RESULTS = 10
_INDEX_MODULE = "retrai_codeindex"


class SearchError(Exception):
    """The project cannot be searched; the message says why."""


def best_results(results: Sequence[VectorResult | str]) -> list[Snippet]:
    """The first ten results, the highest score first where all have one."""
    found = [VectorResult(content=each) if isinstance(each, str) else each for each in results]
    if found and all(each.score is not None for each in found):
        found.sort(key=lambda each: each.score or 0.0, reverse=True)
    return [_snippet(each) for each in found[:MAX_RESULTS]]


def _snippet(result: VectorResult) -> Snippet:
    more = result.model_extra or {}
    path = result.path or more.get("filePath") or more.get("file_path") or "search result"
    content = result.content or more.get("text") or more.get("snippet") or ""
    return Snippet(str(path)[:4_096], str(content))


def search_project(folder: Path, query: str, n: int = MAX_RESULTS) -> list[Snippet]:
    """What retrai-codeindex finds; it is imported only here.

    Raises:
        SearchError: it is not installed, or fails.
    """
    if find_spec(_INDEX_MODULE) is None:
        raise SearchError(
            "vector_search needs retrai-codeindex, which is not installed: "
            "`pip install retrai-codeindex`"
        )
    try:
        with import_module(_INDEX_MODULE).Index.open(folder, jobs=1) as index:
            return [_hit(folder, hit) for hit in index.search(query, n)]
    except Exception as error:  # another distribution's: the step goes on without it
        raise SearchError(f"the search failed: {type(error).__name__}") from error


def _hit(folder: Path, hit: Any) -> Snippet:
    """A hit has `path`, `start_line` and `end_line`; its text is in the file."""
    from .files import ProjectFiles

    text = ProjectFiles(folder).lines(hit.path, hit.start_line, hit.end_line)
    return Snippet(f"{hit.path}:{hit.start_line}-{hit.end_line}", text)
