"""The items of Rust source: functions, types and modules with their attributes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import tree_sitter_rust
from tree_sitter import Language, Node, Parser

from ..syntax_tree import text_of_node

_COMMENTS = frozenset({"line_comment", "block_comment"})
_ATTRIBUTES = frozenset({"attribute_item", "inner_attribute_item"})


@dataclass(frozen=True, slots=True)
class Item:
    """One item of a module.

    Attributes:
        path: the modules inside the file that it is in, and its name (`tests::adds`).
        attributes: its own and those of the modules around it, as written.
        node: the item without its attributes.
    """

    path: str
    attributes: str
    node: Node

    @property
    def kind(self) -> str:
        """What it is: `fn`, `struct`, `use`, ..."""
        return "fn" if self.node.type == "function_item" else self.node.type.partition("_")[0]


def parse_rust(source: str) -> Node:
    """The syntax tree of a file; what cannot be parsed is an `ERROR` in it."""
    return Parser(Language(tree_sitter_rust.language())).parse(source.encode()).root_node


def items(module: Node, path: str = "", around: str = "") -> Iterator[Item]:
    """Every item of a module, those inside its modules too (functions are not looked into).

    Args:
        module: a file, or the body of a module.
        path: of the module, with `::` behind it.
        around: the attributes of the module and those around it.

    Example:
        >>> found = items(parse_rust("mod a { #[test] fn b() {} }"))
        >>> [(item.kind, item.path, item.attributes) for item in found]
        [('mod', 'a', ''), ('fn', 'a::b', '#[test]\\n')]
    """
    attributes = around
    for node in module.named_children:
        if node.type in _COMMENTS:
            continue
        if node.type in _ATTRIBUTES:
            attributes += f"{text_of_node(node)}\n"
            continue
        if node.type == "ERROR":
            # What is broken there is no item, and what can be read in it stands in this module.
            yield from items(node, path, attributes)
            continue
        named = node.child_by_field_name("name")
        # An `impl` or a macro call is known by its first line.
        name = text_of_node(named) if named else text_of_node(node).partition("{")[0]
        item = Item(path + " ".join(name.split()), attributes, node)
        yield item
        if node.type == "mod_item" and (body := node.child_by_field_name("body")):
            yield from items(body, f"{item.path}::", attributes)
        attributes = around
