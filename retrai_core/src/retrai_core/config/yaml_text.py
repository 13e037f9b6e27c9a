"""Reads YAML; what would take too long to process, and a key given twice, is refused."""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import yaml

_MAX_DEPTH = 50
_TOO_DEEP = f"nested more than {_MAX_DEPTH} levels deep"
_MAX_REPEATED = 100_000
"""Values and characters that aliases may add: what works with the values meets each one again."""


class YamlLimitError(yaml.MarkedYAMLError):
    """YAML that is refused, though it is valid.

    Args:
        problem: what is wrong.
        mark: where.
        hint: what to do instead.

    Attributes:
        where: the line and the problem, for people.
    """

    def __init__(
        self,
        problem: str,
        mark: yaml.Mark,
        hint: str = "write the values out instead of nesting aliases",
    ) -> None:
        super().__init__(problem=problem, problem_mark=mark)
        self.hint = hint
        self.where = f"line {mark.line + 1}: {problem}"


def parse_yaml(text: str) -> Any:
    """The value of a YAML text.

    Raises:
        YamlLimitError: it nests too deep, its aliases repeat too much, or it gives a key twice.
        yaml.YAMLError: it is not YAML.
        ValueError: it has a value that is none (a date, say).
    """
    return cast(Any, yaml).load(text, Loader=_Loader)


class _Measure(NamedTuple):
    """The size of a value with all its aliases written out.

    Attributes:
        size: its values, and the characters of its texts.
        depth: the levels of its lists and mappings.
    """

    size: int
    depth: int = 0


class _Loader(yaml.SafeLoader):
    """PyYAML's safe loader, with limits on what it composes."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._known: dict[int, _Measure] = {}
        self._open = 0
        self._repeated = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """As PyYAML does it; called for each value, and for each alias of one."""
        event = cast("yaml.Event", cast(Any, self).peek_event())
        mark: yaml.Mark = cast(Any, event).start_mark
        if isinstance(event, yaml.CollectionStartEvent):
            self._open += 1
            if self._open > _MAX_DEPTH:  # PyYAML calls itself for each level
                raise YamlLimitError(_TOO_DEEP, mark)
        node = cast("yaml.Node", super().compose_node(parent, index))
        if isinstance(event, yaml.AliasEvent):
            if id(node) not in self._known:
                raise YamlLimitError("an alias refers to a value that contains it", mark)
            self._repeated += self._known[id(node)].size
            if self._repeated > _MAX_REPEATED:
                raise YamlLimitError(f"aliases repeat more than {_MAX_REPEATED:,} values", mark)
        elif isinstance(node, yaml.ScalarNode):
            self._known[id(node)] = _Measure(1 + len(cast(str, node.value)))
        else:
            self._open -= 1
            self._known[id(node)] = self._measure(node)
        return node

    def _measure(self, node: yaml.Node) -> _Measure:
        if isinstance(node, yaml.MappingNode):
            pairs = cast("list[tuple[yaml.Node, yaml.Node]]", node.value)
            _refuse_twice([key for key, _ in pairs])
            parts = [part for pair in pairs for part in pair]
        else:
            parts = cast("list[yaml.Node]", node.value)
        known = [self._known[id(part)] for part in parts]
        depth = 1 + max((part.depth for part in known), default=0)
        if depth > _MAX_DEPTH:
            raise YamlLimitError(_TOO_DEEP, cast(Any, node).start_mark)
        return _Measure(1 + sum(part.size for part in known), depth)


def _refuse_twice(keys: list[yaml.Node]) -> None:
    """PyYAML takes the last of two values for one key (two pins, say), and is silent."""
    seen: set[tuple[object, object]] = set()
    for key in keys:
        if isinstance(key, yaml.ScalarNode) and key.value != "<<":
            name = (cast(Any, key).tag, cast(str, key.value))
            if name in seen:
                problem = f"`{name[1]}` is given twice"
                raise YamlLimitError(problem, cast(Any, key).start_mark, "leave out one of the two")
            seen.add(name)
