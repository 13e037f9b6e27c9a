"""The tools with which a model asks the index. Each answer follows the files as they are now.

The index knows every file of the project, also one that this run may not read (a hidden test).
Every place is looked up in the run's workspace before it is named.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import ClassVar, Literal, TypeVar

from pydantic import Field

from retrai_core import (
    RunContext,
    Tool,
    ToolArgs,
    ToolOptions,
    ToolResult,
    Workspace,
    WorkspaceError,
)

from .answers import (
    call_lines,
    chain_lines,
    definition_lines,
    hit_lines,
    on_one_line,
    place_of,
    subclass_lines,
    unknown_name,
)
from .graph import Call, Definition
from .index import Index

ArgsT = TypeVar("ArgsT", bound=ToolArgs)
OptionsT = TypeVar("OptionsT", bound=ToolOptions)
_NAME = Field(
    min_length=1,
    max_length=1000,
    description=(
        "A name, as `total`, `Cart.total`, `shop.cart.Cart.total` or `shop/cart.py:Cart.total`."
    ),
)


class NameArgs(ToolArgs):
    """What tools about one function are asked."""

    function_name: str = _NAME


class SearchArgs(ToolArgs):
    """What `search_codebase` is asked."""

    query: str = Field(min_length=1, description="Words, identifiers or a sentence.")
    n_results: int = Field(default=8, ge=1, le=50, description="Maximum number of results.")


class DefinitionArgs(ToolArgs):
    """What `get_symbol_definition` is asked."""

    name: str = _NAME


class ChainArgs(ToolArgs):
    """What `get_call_chain` is asked."""

    function_name: str = _NAME
    direction: Literal["callers", "callees"] = Field(
        default="callees", description="`callees`: what it calls. `callers`: who calls it."
    )
    max_depth: int = Field(default=3, ge=1, le=10, description="Levels to follow.")


class SummaryArgs(ToolArgs):
    """What `get_module_summary` is asked."""

    path: str = Field(description="A file, relative to the project.")


class IndexTool(Tool[ArgsT, OptionsT]):
    """Base of the tools: opens the index when it is first used, updates it before each answer."""

    needs: ClassVar[frozenset[str]] = frozenset({"read"})

    def __init__(self, options: OptionsT, context: RunContext) -> None:
        super().__init__(options, context)
        self._index: Index | None = None
        self._opening = threading.Lock()

    async def run(self, args: ArgsT, context: RunContext) -> ToolResult:
        """Update the index, and answer."""
        return await asyncio.to_thread(self._run, args, context)

    def _run(self, args: ArgsT, context: RunContext) -> ToolResult:
        with self._opening:
            if self._index is None:
                self._index = Index(Path(context.workspace.root), embedder=self.embedder)
            self._index.update()
            notes = self._index.take_warnings()
        lines = [f"[{note}]" for note in notes]
        lines += self.answer(self._index, args, VisibleFiles(context.workspace))
        return ToolResult(_cut(lines, self.max_chars))

    @property
    def embedder(self) -> str | None:
        """Of the index that is opened."""
        return None

    def answer(self, index: Index, args: ArgsT, visible: VisibleFiles) -> list[str]:
        """The lines of the answer."""
        raise NotImplementedError

    async def aclose(self) -> None:
        """Close the index."""
        if self._index is not None:
            self._index.close()


class VisibleFiles:
    """Which files of the index this run may see."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._known: dict[str, bool] = {"": True}

    def path(self, path: str) -> bool:
        """Whether a file may be named."""
        known = self._known.get(path)
        if known is None:
            try:
                known = self._workspace.stat(path) is not None
            except WorkspaceError:
                known = False
            self._known[path] = known
        return known

    def definitions(self, found: Iterable[Definition]) -> list[Definition]:
        """Those in files that may be named."""
        return [each for each in found if self.path(each.path)]

    def calls(self, found: Iterable[Call]) -> list[Call]:
        """Those whose both ends may be named."""
        return [c for c in found if self.path(c.caller.path) and self.path(c.callee.path)]


class SearchOptions(ToolOptions):
    """Options of `search_codebase`, from `plugins: {search_codebase: {...}}`."""

    embedder: str | None = None
    """Ranks by meaning too: `litellm:MODEL`, `local` or `local:FOLDER`."""


class SearchCodebase(IndexTool[SearchArgs, SearchOptions]):
    """Finds definitions and text by words."""

    name: ClassVar[str] = "search_codebase"
    description: ClassVar[str] = (
        "Search the project's definitions and texts by words, identifiers or a sentence. Gives "
        "`path:line-line` with the signature of each hit, best first."
    )

    @property
    def embedder(self) -> str | None:
        """As the options say."""
        return self.options.embedder

    def answer(self, index: Index, args: SearchArgs, visible: VisibleFiles) -> list[str]:
        """The hits."""
        hits = [hit for hit in index.search(args.query, args.n_results) if visible.path(hit.path)]
        return hit_lines(hits) or ["nothing fits this question; try other words, or grep_search"]


class GetSymbolDefinition(IndexTool[DefinitionArgs, ToolOptions]):
    """Shows where a name is defined."""

    name: ClassVar[str] = "get_symbol_definition"
    description: ClassVar[str] = (
        "Show where a function, method, class or constant is defined: `path:line-line`, signature "
        "and docstring, and the subclasses of a class. All definitions are listed if several have "
        "the name."
    )

    def answer(self, index: Index, args: DefinitionArgs, visible: VisibleFiles) -> list[str]:
        """The definitions; similar names where there is none."""
        found = visible.definitions(index.definition(args.name))
        below = visible.definitions(index.subclasses(args.name))
        if not (found or below):
            return _unknown(index, args.name, visible)
        lines = [f"{len(found)} definitions have this name:"] if len(found) > 1 else []
        lines += [line for each in found for line in definition_lines(each)]
        return lines + subclass_lines(args.name, found, below)


class GetCallers(IndexTool[NameArgs, ToolOptions]):
    """Shows who calls a function."""

    name: ClassVar[str] = "get_callers"
    description: ClassVar[str] = (
        "Show which functions call a function, each as `path:line-line` with the lines of the "
        "calls. Calls of that name whose target is not known are listed apart."
    )

    def answer(self, index: Index, args: NameArgs, visible: VisibleFiles) -> list[str]:
        """The callers."""
        return _calls(index, args.function_name, visible, index.callers, up=True)


class GetCallees(IndexTool[NameArgs, ToolOptions]):
    """Shows what a function calls."""

    name: ClassVar[str] = "get_callees"
    description: ClassVar[str] = (
        "Show which functions a function calls, each as `path:line-line`; functions outside the "
        "project by name."
    )

    def answer(self, index: Index, args: NameArgs, visible: VisibleFiles) -> list[str]:
        """The callees."""
        return _calls(index, args.function_name, visible, index.callees, up=False)


class GetCallChain(IndexTool[ChainArgs, ToolOptions]):
    """Follows calls over several levels."""

    name: ClassVar[str] = "get_call_chain"
    description: ClassVar[str] = (
        "Follow the calls of a function over several levels, as an indented tree of "
        "`path:line-line`."
    )

    def answer(self, index: Index, args: ChainArgs, visible: VisibleFiles) -> list[str]:
        """The tree."""
        up = args.direction == "callers"
        chain = index.call_chain(args.function_name, up=up, max_depth=args.max_depth)
        shown = [(depth, each) for depth, each in chain if visible.path(each.path)]
        return chain_lines(shown) or _unknown(index, args.function_name, visible)


class GetModuleSummary(IndexTool[SummaryArgs, ToolOptions]):
    """Outlines a file."""

    name: ClassVar[str] = "get_module_summary"
    description: ClassVar[str] = (
        "Outline a file: its docstring, and its definitions with lines and signatures."
    )

    def answer(self, index: Index, args: SummaryArgs, visible: VisibleFiles) -> list[str]:
        """The outline."""
        path = args.path.removeprefix("./")
        found = index.module_summary(path) if visible.path(path) else []
        if not found:
            known = [each for each in index.files() if each.endswith(path) and visible.path(each)]
            hint = f"; did you mean {', '.join(known[:5])}?" if known else ""
            return [f"the index has no definitions of {path!r}{hint}"]
        lines: list[str] = []
        for each in found:
            indent = "    " * (each.symbol.count(".") + 1 if each.symbol else 0)
            head = on_one_line(each.signature) or each.symbol or path
            lines.append(f"{indent}{head}  {place_of(each)}")
            if summary := on_one_line(each.doc.strip().partition("\n")[0]):
                lines.append(f"{indent}    {summary}")
        return lines


def _calls(
    index: Index,
    name: str,
    visible: VisibleFiles,
    ask: Callable[[str], list[Call]],
    *,
    up: bool,
) -> list[str]:
    definitions = visible.definitions(index.definition(name))
    if not definitions:
        return _unknown(index, name, visible)
    return call_lines(definitions, visible.calls(ask(name)), up=up)


def _unknown(index: Index, name: str, visible: VisibleFiles) -> list[str]:
    return [unknown_name(name, visible.definitions(index.similar(name)))]


def _cut(lines: Sequence[str], max_chars: int) -> str:
    """As many whole lines as an answer may have, and how many are left."""
    room = max_chars - 40
    kept: list[str] = []
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    if len(kept) < len(lines):
        kept.append(f"[... {len(lines) - len(kept)} more lines]")
    return "\n".join(kept)
