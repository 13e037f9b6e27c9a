"""Reads a file by its tree-sitter grammar, syntax errors or not: definitions, imports, calls.

The facts of these languages are plain: `{"imports": [...], "bases": {class: [names]}, "defs":
[[symbol, kind, parameters, receiver]], "calls": [[caller, name, receiver, arguments, line]]}`.
`by_name` resolves the calls from them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .blocks import block_chunks, last_line, read_blocks
from .languages import CLASS_KINDS, GRAMMARS, Grammar, parser_of
from .model import Chunk, Source

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_SIGNATURE = 400
MAX_DOC = 4000
_COMMENTS = frozenset({"comment", "line_comment", "block_comment"})
_BASE_CLAUSES = frozenset(
    {
        "class_heritage",
        "base_class_clause",
        "superclass",
        "super_interfaces",
        "extends_interfaces",
        "extends_type_clause",
        "trait_bounds",
    }
)
_NAMES = frozenset({"identifier", "type_identifier", "property_identifier"})
_DOTTED = frozenset(
    {
        "member_expression",
        "nested_identifier",
        "nested_type_identifier",
        "qualified_identifier",
        "scoped_identifier",
        "scoped_type_identifier",
    }
)
_NO_BASES = frozenset(
    {"type_arguments", "template_argument_list", "arguments", "lifetime", "type_parameters"}
)
"""What stands in a list of bases and is none: `Item` in `extends Base<Item>`."""
_FUNCTION_VALUES = frozenset(
    {"arrow_function", "function_expression", "function", "generator_function", "class"}
)
_NEED_A_FUNCTION = frozenset(
    {
        "variable_declarator",
        "field_definition",
        "public_field_definition",
        "pair",
        "assignment_expression",
    }
)
_DECLARATIONS = frozenset(
    {
        "lexical_declaration",
        "variable_declaration",
        "const_declaration",
        "field_declaration",
        "declaration",
        "type_declaration",
        "expression_statement",
    }
)
_TYPES_WITH_FIELDS = frozenset({"struct_type", "interface_type"})
_FIELDS = frozenset({"field_declaration_list", "{"})
_NEED_A_NAME = frozenset(
    {
        "variable_declarator",
        "field_definition",
        "public_field_definition",
        "init_declarator",
        "field_declaration",
    }
)
"""They define a constant if the name is in capitals: `MAX_ITEMS`."""
_NEED_A_VALUE = frozenset({"preproc_def", "field_declaration"})
_NEED_A_BODY = frozenset(
    {"struct_specifier", "union_specifier", "enum_specifier", "class_specifier"}
)
_MACROS = re.compile(
    rb"\b(?P<before>[A-Z][A-Z0-9_]+(?:\([^()\n]*\))?\s+)?(?P<kind>(?:class|struct)\s+)"
    rb"(?P<behind>[A-Z_][A-Z0-9_]*(?:\([^()\n]*\))?\s+)?(?=\w+\s*(?:final\s*)?[:{])"
)
"""Around the word that begins a class: `API class EXPORT Cart : public Base {`."""
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*")
_COMMENT_MARKS = re.compile(r"^\s*(?:/\*+|\*+/|\*|//[/!]?|#)\s?|\*/\s*$", re.MULTILINE)


def read_by_grammar(text: str, language: str) -> Source:
    """The chunks and facts of a text, as far as it parses; by blocks if nothing does."""
    data = text.encode("utf-8", "replace")
    tree = parser_of(language).parse(_without_macros(data) if language in ("c", "cpp") else data)
    lines = text.split("\n")
    reader = _Reader(data, lines, GRAMMARS[language])
    reader.visit(tree.root_node)
    if not reader.chunks:
        source = read_blocks(text, language)
        source.parsed = "partly" if tree.root_node.has_error else "whole"
        source.facts = reader.facts if language != "python" else None
        return source
    source = Source(language, line_count=last_line(lines))
    source.parsed = "partly" if tree.root_node.has_error else "whole"
    source.chunks = [*reader.chunks, *_between(lines, reader.chunks)]
    source.chunks.sort(key=lambda chunk: (chunk.start_line, -chunk.end_line))
    if language != "python":  # whose resolver takes what `ast` gives
        source.facts = reader.facts
    return source


def _between(lines: list[str], chunks: list[Chunk]) -> list[Chunk]:
    """Blocks for the lines outside of all definitions."""
    found: list[Chunk] = []
    at = 1
    for chunk in sorted(chunks, key=lambda chunk: chunk.start_line):
        if chunk.start_line > at:
            found += block_chunks(lines, at, chunk.start_line - 1)
        at = max(at, chunk.end_line + 1)
    return found + block_chunks(lines, at, last_line(lines))


class _Reader:
    """Walks a syntax tree without recursion: real files are nested thousands deep."""

    def __init__(self, data: bytes, lines: list[str], grammar: Grammar) -> None:
        self.data = data
        self.lines = lines
        self.grammar = grammar
        self.chunks: list[Chunk] = []
        self.facts: dict[str, Any] = {"imports": [], "bases": {}, "defs": [], "calls": []}
        self.inner: dict[int, list[tuple[int, int]]] = {}

    def visit(self, root: Node) -> None:
        """Collect everything below a node."""
        stack: list[tuple[Node, tuple[str, ...], str, int]] = [(root, (), "", -1)]
        while stack:
            node, scope, kind, owner = stack.pop()
            at = node.type
            if at in self.grammar.imports:
                self.facts["imports"].append(self.text(node)[:300])
                continue
            if at in self.grammar.calls:
                self._call(node, scope)
            elif at in self.grammar.scopes:
                name = self._scope_name(node)
                trait = node.child_by_field_name("trait")
                if trait is not None and all(child.type != "!" for child in node.children):
                    self.facts["bases"].setdefault(name, []).extend(self._last_names(trait))
                scope, kind = (
                    (*scope, name) if name else scope,
                    "class" if at == "impl_item" else "",
                )
            elif at in self.grammar.definitions:
                made = self._definition(node, scope, kind, owner)
                if made is not None:
                    scope, kind, owner = made
            stack += [(child, scope, kind, owner) for child in reversed(node.named_children)]
        for number, chunk in enumerate(self.chunks):
            chunk.body = self._body(chunk, self.inner.get(number, []))

    def text(self, node: Node | None) -> str:
        """The text of a node."""
        if node is None:
            return ""
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def _scope_name(self, node: Node) -> str:
        name = self.text(node.child_by_field_name("name") or node.child_by_field_name("type"))
        return name.partition("<")[0].replace("::", ".")

    def _definition(
        self, node: Node, scope: tuple[str, ...], kind: str, owner: int
    ) -> tuple[tuple[str, ...], str, int] | None:
        if self._is_bound_class(node):
            return None  # defined by what it is bound to
        value = _value(node)
        if node.type in _NEED_A_BODY and node.child_by_field_name("body") is None:
            return None  # only a use of the type
        name, receiver = self._name(node)
        if not name or len(name) > 300:
            return None
        made = self._kind(node, name, value)
        if made == "function" and (kind in CLASS_KINDS or "." in name or receiver):
            made = "method"
        is_constant = made == "constant"
        if not made or (is_constant and kind and kind not in CLASS_KINDS):
            return None
        symbol = ".".join((*scope, receiver, name) if receiver else (*scope, name))
        outer = self._with_decorators(node)
        start, end = outer.start_point[0] + 1, _last_row(node) + 1
        chunk = Chunk(
            made, symbol, start, end, self._signature(node, is_constant), self._doc(outer)
        )
        if owner >= 0:
            self.inner.setdefault(owner, []).append((start, end))
        self.chunks.append(chunk)
        if is_constant:
            for other in node.children_by_field_name("name")[1:]:  # Go: `const First, Last = 1, 9`
                if other.is_named:
                    self.chunks.append(replace(chunk, symbol=".".join((*scope, self.text(other)))))
            return None
        parameters = self._parameters(node)
        self.facts["defs"].append([symbol, made, parameters, start])
        bases = self._bases(value if value is not None and value.type == "class" else node)
        if bases:
            self.facts["bases"].setdefault(symbol, []).extend(bases)
        return tuple(symbol.split(".")), made, len(self.chunks) - 1

    def _is_bound_class(self, node: Node) -> bool:
        parent = node.parent
        if node.type != "class" or parent is None or parent.type not in _NEED_A_FUNCTION:
            return False
        return bool(self._name(parent)[0])

    def _kind(self, node: Node, name: str, value: Node | None) -> str:
        """What a node defines; empty where it defines nothing."""
        made = self.grammar.definitions[node.type]
        if node.type in _NEED_A_FUNCTION and value is not None and value.type in _FUNCTION_VALUES:
            return "class" if value.type == "class" else made
        if name == "_" or (node.type in _NEED_A_VALUE and value is None):
            return ""
        if node.type in _NEED_A_NAME:
            is_exported = self._with_decorators(node).type == "export_statement"
            is_one = _IDENTIFIER.fullmatch(name) and (is_exported or name.isupper())
            return "constant" if is_one and len(name) > 1 else ""
        if node.type in _NEED_A_FUNCTION:
            return ""
        return made

    def _signature(self, node: Node, is_constant: bool) -> str:
        """The head of a definition in one line; a constant with its value."""
        body = node.child_by_field_name("body")
        value = _value(node)
        written = node.child_by_field_name("type")
        if value is not None and not is_constant:
            body = value.child_by_field_name("body") or value
        elif written is not None and written.type in _TYPES_WITH_FIELDS:
            body = next((each for each in written.children if each.type in _FIELDS), None)
        begin = _declaration(node).start_byte
        head = self.data[begin : body.start_byte if body else node.end_byte]
        signature = " ".join(head.decode("utf-8", "replace").split())[:MAX_SIGNATURE]
        return signature.rstrip(" {=;,")

    def _name(self, node: Node) -> tuple[str, str]:
        """A definition's name, and the type that it belongs to where that stands beside it."""
        named = node.child_by_field_name("name") or node.child_by_field_name("key")
        if named is None and node.type == "field_definition":
            named = node.child_by_field_name("property")
        if node.type == "assignment_expression":
            left, right = (node.child_by_field_name(side) for side in ("left", "right"))
            own = right.child_by_field_name("name") if right is not None else None
            return _assigned_name(self.text(left)) or self.text(own), ""
        receiver = node.child_by_field_name("receiver")
        if receiver is not None:  # Go: `func (c *Cart) Total()`
            types = _IDENTIFIER.findall(self.text(receiver).partition("[")[0])
            return self.text(named), types[-1] if types else ""
        if named is None:  # C: the name is deep in the declarator
            named = node.child_by_field_name("declarator")
            for _ in range(20):
                inner = named.child_by_field_name("declarator") if named is not None else None
                if inner is None:
                    break
                named = inner
        name = self.text(named)
        name = re.sub(r"<[^<>]*>", "", name) if "operator" not in name else name
        return name.replace("::", ".").strip("*& \n\"'"), ""

    def _parameters(self, node: Node) -> int:
        """How many parameters it has; -1 if that is not written or varies."""
        at: Node | None = node
        for _ in range(6):
            if at is None:
                return -1
            listed = at.child_by_field_name("parameters")
            if listed is not None:
                return -1 if "..." in self.text(listed) else len(listed.named_children)
            at = at.child_by_field_name("declarator") or at.child_by_field_name("value")
        return -1

    def _bases(self, node: Node) -> list[str]:
        """The names that a class is written to inherit from, without modules and arguments."""
        clauses = [child for child in node.named_children if child.type in _BASE_CLAUSES]
        return [name for clause in clauses for name in self._last_names(clause)][:20]

    def _last_names(self, node: Node) -> Iterator[str]:
        if node.type in _NAMES:
            yield self.text(node)
        elif node.type in _DOTTED:
            yield from self._last_names(node.named_children[-1])
        elif node.type not in _NO_BASES:
            for child in node.named_children:
                yield from self._last_names(child)

    def _with_decorators(self, node: Node) -> Node:
        node = _declaration(node)
        parent = node.parent
        wraps = ("decorated_definition", "export_statement", "template_declaration")
        return parent if parent is not None and parent.type in wraps else node

    def _doc(self, node: Node) -> str:
        """The comment that stands directly above, or else behind it on its line."""
        found: list[str] = []
        before, line = node.prev_named_sibling, node.start_point[0]
        while before is not None and before.type in _COMMENTS and len(found) <= 50:
            above = before.prev_named_sibling
            text = self.text(before)
            gap = 2 if text.startswith("/**") else 1  # an empty line may follow documentation
            if before.end_point[0] < line - gap or _is_behind(before, above):
                break
            found.append(text)
            before, line = above, before.start_point[0]
        after = node.next_named_sibling
        if not found and after is not None and after.type in _COMMENTS and _is_behind(after, node):
            found.append(self.text(after))
        return _COMMENT_MARKS.sub("", "\n".join(reversed(found))).strip()[:MAX_DOC]

    def _body(self, chunk: Chunk, inner: list[tuple[int, int]]) -> str:
        kept: list[str] = []
        at = chunk.start_line
        for start, end in sorted(inner):
            kept += self.lines[at - 1 : start - 1]
            at = max(at, end + 1)
        return "\n".join([*kept, *self.lines[at - 1 : chunk.end_line]])

    def _call(self, node: Node, scope: tuple[str, ...]) -> None:
        called = node.child_by_field_name(self.grammar.calls[node.type])
        if called is None:
            return
        receiver = self.text(node.child_by_field_name("object"))
        text = re.sub(r"<[^<>()]*>", "", self.text(called))
        parts = re.split(r"\.|->|::|\?\.", text)
        name = parts[-1].strip()
        if not _IDENTIFIER.fullmatch(name):
            return
        if len(parts) > 1:
            receiver = ".".join(part.strip() for part in parts[:-1])
        arguments = node.child_by_field_name("arguments")
        count = len(arguments.named_children) if arguments is not None else -1
        line = called.end_point[0] + 1
        self.facts["calls"].append([".".join(scope), name, receiver[-100:], count, line])


def _without_macros(data: bytes) -> bytes:
    """C++ without macros that stand around the word `class`, which no grammar knows; each byte
    keeps its place."""

    def blank(match: re.Match[bytes]) -> bytes:
        before, kind, behind = (match[name] or b"" for name in ("before", "kind", "behind"))
        return re.sub(rb"\S", b" ", before) + kind + re.sub(rb"\S", b" ", behind)

    return _MACROS.sub(blank, data)


def _declaration(node: Node) -> Node:
    """The statement that declares this alone; the node itself where it declares more."""
    parent = node.parent
    if parent is None or parent.type not in _DECLARATIONS:
        return node
    alike = [child for child in parent.named_children if child.type == node.type]
    return parent if len(alike) == 1 else node


def _value(node: Node) -> Node | None:
    """What a name is bound to."""
    found = (node.child_by_field_name(name) for name in ("value", "right", "default_value"))
    return next((each for each in found if each is not None), None)


def _assigned_name(written: str) -> str:
    """The name of a function that is assigned: `exports.load` is `load`; empty for no name."""
    name = re.sub(r"^(?:module\.)?exports\.|^this\.", "", written).replace(".prototype.", ".")
    return name if re.fullmatch(r"[\w$]+(?:\.[\w$]+)*", name) and name != "module.exports" else ""


def _last_row(node: Node) -> int:
    """The row of its last character; some nodes have the end of their line too."""
    row, column = node.end_point
    return row if column else row - 1


def _is_behind(comment: Node, before: Node | None) -> bool:
    """Whether a comment stands behind code on the same line."""
    if before is None or before.type in _COMMENTS:
        return False
    return _last_row(before) == comment.start_point[0]
