"""Syntax trees of tree-sitter: their nodes, and what these say."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tree_sitter import Node


def descendants(node: Node, skip: Callable[[Node], bool] = lambda _: False) -> Iterator[Node]:
    """A node and every named node below it, in the text's order, but nothing of what is skipped."""
    left = [node]
    while left:
        node = left.pop()
        if not skip(node):
            yield node
            left += reversed(node.named_children)


def text_of_node(node: Node) -> str:
    """The source of a part of the tree."""
    return (node.text or b"").decode()
