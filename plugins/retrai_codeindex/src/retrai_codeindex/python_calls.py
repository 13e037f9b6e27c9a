"""The call resolver for Python: evaluates every scope on sets of possible values, to a fixed point.

Each scope (module, function, class body, lambda) is evaluated in the order of its statements: a
local variable has the values that were assigned last, in branches and loops their union. What
scopes share is a `Node`: the variables of modules and classes, captured variables, attributes of
instances (by class), parameters, returns, elements of containers (by the place that makes them, and
by key where it is constant). A node remembers which scopes read it; when it gains a value, those
are evaluated again (a worklist). Sets only grow, so it ends.

Values are numbers of an interned table: functions, classes, instances of a class, bound methods,
modules, containers, constants, and names outside the project. The order of files is fixed and
numbers are given in the order of evaluation, so the same facts give the same calls.

Calls are insensitive to their context, with one exception: a function that returns a parameter as
it is gives the caller's own argument back, so a decorator does not mix all that it decorates.
"""

from __future__ import annotations

import builtins
import marshal
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from .python_facts import (
    ANNOTATED,
    ASSIGN,
    ATTR,
    BODY,
    BRANCH,
    CALL,
    CLASS,
    CLASS_SCOPE,
    CLASSMETHOD,
    COMPREHENSION,
    CONCAT,
    CONST,
    DEF,
    DICT,
    EFFECT,
    EXPR,
    FLAGS,
    FROM,
    FUNCTION,
    GENERATOR,
    GLOBALS,
    IMPORT,
    ITEM,
    KIND,
    KWARG,
    KWONLY,
    LAMBDA,
    LIST,
    LOCALS,
    LOOP,
    METHOD,
    MODULE,
    NAME,
    NONLOCALS,
    PARAMS,
    PARENT,
    PROPERTY,
    RAISE,
    RETURN,
    SCOPE,
    SET,
    SLICE,
    STAR,
    STATIC,
    STORED,
    STRING,
    SYMBOL,
    TUPLE,
    UNION,
    VARARG,
    WALRUS,
    WITH,
    YIELD,
    YIELD_ALL,
)  # fmt: skip

Values = frozenset[int]
NONE: Values = frozenset()
BUILTINS = frozenset(dir(builtins))
MAX_VALUES = 24
"""Of a node: with more, a call through it says nothing to a reader."""
MAX_KEYS = 64
"""Of a container."""
MAX_EVALUATIONS = 40
"""Of a scope; a bound for the hardest programs, which real ones do not reach."""
MAX_EXTERNAL_PARTS = 6

# Kinds of values.
F, C, INST, BOUND, MOD, EXT, CONSTANT, BOX, BUILTIN, GEN, SUPER, BOX_METHOD, TEXT = range(13)

_CALL_THEIR_ARGUMENTS = frozenset({"map", "filter", "sorted", "min", "max", "reduce"})
_SAME_ELEMENTS = frozenset(
    {"list", "tuple", "set", "frozenset", "sorted", "reversed", "iter", "filter"}
)
_GIVE_TEXT = frozenset({"str", "repr", "format", "chr", "hex", "bin", "input"})
_MAKE_BOXES = {"dict": DICT, "list": LIST, "set": SET, "tuple": TUPLE}
_BOX_NAMES = {
    LIST: "<**PyList**>",
    TUPLE: "<**PyTuple**>",
    SET: "<**PySet**>",
    DICT: "<**PyDict**>",
}


class Node:
    """A set of values that scopes share, and the scopes that read it: mostly none or one."""

    __slots__ = ("_readers", "values")

    def __init__(self) -> None:
        self.values: Values = NONE
        self._readers: set[int] | int | None = None

    def add_reader(self, index: int) -> None:
        """Remember that a scope has read the values."""
        if self._readers is None:
            self._readers = index
        elif isinstance(self._readers, set):
            self._readers.add(index)
        elif self._readers != index:
            self._readers = {self._readers, index}

    def readers(self) -> list[int]:
        """The scopes to evaluate again for a new value, in their order."""
        if isinstance(self._readers, set):
            return sorted(self._readers)
        return [] if self._readers is None else [self._readers]


class Scope:
    """One scope of one module, and what was found out about it."""

    __slots__ = (
        "body", "boxes", "classes", "count", "dotted", "flags", "index", "local_names", "module",
        "nodes", "owner", "params", "parent", "record", "result", "tokens", "value", "yields",
    )  # fmt: skip

    def __init__(self, index: int, module: Module, record: list[Any]) -> None:
        self.index = index
        self.module = module
        # Decoded for each evaluation: as objects, all bodies take ten times as much memory.
        self.body = marshal.dumps(record[BODY])
        self.local_names: frozenset[str] = frozenset(map(sys.intern, record[LOCALS]))
        record[BODY] = record[LOCALS] = None
        self.record = [tuple(part) if isinstance(part, list) else part for part in record[:STORED]]
        self.flags: int = record[FLAGS]
        self.parent: Scope | None = None
        self.nodes: dict[str, Node] = {}
        self.params: dict[str, Node] = {}
        self.result = Node()
        self.yields = Node()
        self.tokens: frozenset[str] = frozenset()
        self.boxes: dict[tuple[int | str, int], int] | None = None
        self.count = 0
        self.owner: Klass | None = None
        self.value = -1
        symbol = record[SYMBOL]
        self.dotted: str = f"{module.name}.{symbol}" if symbol else module.name


class Klass:
    """A class of the project."""

    __slots__ = (
        "attributes",
        "bases",
        "builtin",
        "external",
        "mro_known",
        "scope",
        "subclasses",
        "value",
    )

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.bases: list[Klass] = []
        self.external: list[str] = []
        self.builtin: list[str] = []
        self.attributes: dict[str, Node] = {}
        self.mro_known: list[Klass] | None = None
        self.subclasses: list[Klass] = []
        self.value = -1


class Box:
    """A list, tuple, set or dictionary, by the place that makes it."""

    __slots__ = ("elements", "kind", "maker", "others", "rest")

    def __init__(self, kind: int, maker: int) -> None:
        self.kind = kind
        self.maker = maker
        self.elements: dict[Any, Node] = {}
        self.others: dict[Any, Node] = {}
        """What scopes other than the maker put in: the maker's own view has it beside its own."""
        self.rest = Node()


@dataclass(slots=True)
class Module:
    """A module: its dotted name, its file, and its scopes."""

    name: str
    path: str
    is_package: bool
    scopes: list[Scope] = field(default_factory=list[Scope])
    stars: list[Module] = field(default_factory=list["Module"])

    def scope(self, number: int) -> Scope:
        """One of the scopes, by its number in the facts."""
        return self.scopes[number]


@dataclass(slots=True)
class Found:
    """A call: who calls what, where. `callee` is None if unresolved; `name` as it is written."""

    caller: str
    callee: str | None
    name: str
    line: int


Env = dict[Any, Any]


class PythonCalls:
    """Resolves the calls of a project's Python files.

    Args:
        modules: path, dotted name, other names to import it by, and facts of each file.
    """

    def __init__(self, modules: Iterable[tuple[str, str, Sequence[str], list[list[Any]]]]) -> None:
        self.objs: list[Any] = []
        self.numbers: dict[Any, int] = {}
        self.scopes: list[Scope] = []
        self.modules: dict[str, Module] = {}
        self.packages: set[str] = set()
        self.stored: set[str] = set()
        self.calls: dict[tuple[int, int, str], Values] = {}
        self.sets: dict[Values, Values] = {}
        self.waiting: deque[int] = deque()
        self.is_waiting: set[int] = set()
        self.now: Scope = None  # pyright: ignore[reportAttributeAccessIssue] - set before anything is evaluated
        self.env: Env = {}
        for path, name, others, facts in modules:
            self._load(path, name, others, facts)

    # -- loading

    def _load(self, path: str, name: str, others: Sequence[str], facts: list[list[Any]]) -> None:
        module = Module(name, path, path.rpartition("/")[2].startswith("__init__."))
        for each in (name, *others):
            self.modules.setdefault(each, module)
            parts = each.split(".")
            self.packages.update(".".join(parts[:n]) for n in range(1, len(parts)))
        self.stored.update(facts[0][STORED])
        for record in facts:
            scope = Scope(len(self.scopes), module, record)
            self.scopes.append(scope)
            module.scopes.append(scope)
            if record[PARENT] >= 0:
                scope.parent = module.scopes[record[PARENT]]
            if record[KIND] in (FUNCTION, LAMBDA):
                names = [*record[PARAMS], *record[KWONLY], record[VARARG], record[KWARG]]
                scope.params = {sys.intern(each): Node() for each in names if each}
            if record[KIND] == CLASS_SCOPE:
                scope.owner = Klass(scope)

    # -- values

    def number(self, key: tuple[Any, ...], obj: Any = None) -> int:
        """The number of a value; `key` begins with its kind."""
        found = self.numbers.get(key)
        if found is None:
            found = self.numbers[key] = len(self.objs)
            self.objs.append((*key[:1], obj) if obj is not None else key)
        return found

    def func(self, scope: Scope) -> int:
        if scope.value < 0:
            scope.value = self.number((F, scope.index), scope)
        return scope.value

    def klass(self, owner: Klass) -> int:
        if owner.value < 0:
            owner.value = self.number((C, owner.scope.index), owner)
        return owner.value

    def instance(self, owner: Klass) -> int:
        return self.number((INST, owner.scope.index), owner)

    def external(self, dotted: str) -> Values:
        if dotted.count(".") >= MAX_EXTERNAL_PARTS:
            return NONE
        return frozenset((self.number((EXT, dotted)),))

    # -- nodes

    def read(self, node: Node) -> Values:
        node.add_reader(self.now.index)
        return node.values

    def add(self, node: Node, values: Values) -> None:
        if values <= node.values:
            return
        if len(node.values) >= MAX_VALUES:
            return
        union = node.values | values
        if len(union) > MAX_VALUES:
            union = frozenset(sorted(union)[:MAX_VALUES]) | node.values
        node.values = self.shared(union)
        for index in node.readers():
            self.wake(index)

    def shared(self, values: Values) -> Values:
        """The one set that has these values: most sets are of few."""
        return self.sets.setdefault(values, values)

    def wake(self, index: int) -> None:
        if index not in self.is_waiting and self.scopes[index].count < MAX_EVALUATIONS:
            self.is_waiting.add(index)
            self.waiting.append(index)

    # -- the worklist

    def solve(self) -> Iterator[Found]:
        """All calls, in the order of files and scopes."""
        for scope in self.scopes:
            if scope.record[KIND] == MODULE:
                self.wake(scope.index)
        for scope in self.scopes:
            if scope.record[KIND] in (FUNCTION, LAMBDA):
                self.wake(scope.index)
        while self.waiting:
            index = self.waiting.popleft()
            self.is_waiting.discard(index)
            self.evaluate(self.scopes[index])
        yield from self._found()

    def evaluate(self, scope: Scope) -> None:
        scope.count += 1
        self.now, self.env = scope, {}
        record = scope.record
        if record[KIND] in (FUNCTION, LAMBDA):
            self._enter(scope)
        elif record[KIND] == CLASS_SCOPE:
            return  # with the scope that it stands in
        self.block(marshal.loads(scope.body))

    def _enter(self, scope: Scope) -> None:
        record = scope.record
        for name, node in scope.params.items():
            values = self.read(node)
            self.env[name] = self.env["parameter", name] = values
            if name in scope.nodes:
                self.add(scope.nodes[name], values)
        if record[FLAGS] & METHOD and record[PARAMS] and not record[FLAGS] & STATIC:
            owner = scope.parent.owner if scope.parent is not None else None
            if owner is not None:
                first = record[PARAMS][0]
                is_class = record[FLAGS] & CLASSMETHOD
                value = self.klass(owner) if is_class else self.instance(owner)
                self.env[first] = self.env["parameter", first] = self.env[first] | {value}
                if first in scope.nodes:
                    self.add(scope.nodes[first], self.env[first])

    # -- statements

    def block(self, body: list[Any]) -> None:
        for statement in body:
            self.statements[statement[0]](self, statement)

    def s_expr(self, s: list[Any]) -> None:
        self.eval(s[1])

    def s_assign(self, s: list[Any]) -> None:
        _, targets, value = s
        is_unpacked = len(targets) == 1 and targets[0] and targets[0][0] == TUPLE
        is_tuple = value and value[0] in (TUPLE, LIST)
        if is_unpacked and is_tuple and self._pairwise(targets[0][1], value[1]):
            return
        values = self.eval(value)
        for target in targets:
            self.assign(target, values)

    def _pairwise(self, targets: list[Any], items: list[Any]) -> bool:
        """`a, b = x, y` without a tuple between, nested too."""
        every = [*targets, *items]
        if len(targets) != len(items) or any(item and item[0] == STAR for item in every):
            return False
        values = [self.eval(item) for item in items]
        for target, item, value in zip(targets, items, values, strict=True):
            is_nested = target and target[0] == TUPLE and item and item[0] in (TUPLE, LIST)
            if not (is_nested and self._pairwise(target[1], item[1])):
                self.assign(target, value)
        return True

    def assign(self, target: list[Any] | None, values: Values) -> None:
        if target is None:
            return
        kind = target[0]
        if kind == NAME:
            self.bind(target[1], values)
        elif kind == TUPLE:
            self._unpack(target[1], values)
        elif kind == ATTR:
            if values:
                for base in self.eval(target[1]):
                    self.set_attribute(base, target[2], values)
            else:
                self.eval(target[1])
        elif kind == ITEM:
            self._set_item(target, values)
        elif kind == STAR:
            self.assign(target[1], values)

    def bind(self, name: str, values: Values) -> None:
        scope = self.now
        record = scope.record
        if name in record[GLOBALS]:
            self.add(self._variable(scope.module.scopes[0], name), values)
            return
        if name in record[NONLOCALS]:
            owner = self._owner(scope.parent, name)
            if owner is not None:
                self.add(self._variable(owner, name), values)
            return
        self.env[name] = values
        if record[KIND] in (MODULE, CLASS_SCOPE):
            self.add(self._variable(scope, name), values)
        elif name in scope.nodes:
            self.add(scope.nodes[name], values)

    def _variable(self, scope: Scope, name: str) -> Node:
        node = scope.nodes.get(name)
        if node is None:
            node = scope.nodes[name] = Node()
            if scope.record[KIND] in (FUNCTION, LAMBDA):
                self.wake(scope.index)  # which has not filled it yet
        return node

    def _unpack(self, targets: list[Any], values: Values) -> None:
        count = len(targets)
        star = next((n for n, t in enumerate(targets) if t and t[0] == STAR), -1)
        boxes = [v for v in values if self.objs[v][0] == BOX]
        for position, target in enumerate(targets):
            got: Values = NONE
            for value in boxes:
                box: Box = self.objs[value][1]
                length = len(box.elements)
                if position == star:
                    after = count - star - 1
                    got |= self._slice(target[2], value, star, max(star, length - after))
                elif star >= 0 and position > star:
                    got |= self._element(value, length - (count - position))
                else:
                    got |= self._element(value, position)
            if len(boxes) < len(values):
                got |= self.iterate(values.difference(boxes), None)
            self.assign(target, got)

    def _set_item(self, target: list[Any], values: Values) -> None:
        keys = self._keys(target[2])
        bases = self.eval(target[1])
        for base in bases:
            obj = self.objs[base]
            if obj[0] == BOX:
                self.put(base, keys, values, strong=len(bases) == 1)
            elif obj[0] == INST:
                self.dunder(base, "__setitem__", target[3], [NONE, values])

    def put(
        self, value: int, keys: list[Any] | None, values: Values, *, strong: bool = False
    ) -> None:
        """Put values into a container, under some keys; None for any."""
        box: Box = self.objs[value][1]
        if keys is None:
            self.add(box.rest, values)
            return
        is_maker = box.maker == self.now.index
        for key in keys:
            node = box.elements.get(key)
            if node is None:
                if len(box.elements) >= MAX_KEYS:
                    self.add(box.rest, values)
                    continue
                node = box.elements[key] = Node()
                self._new_key(box)
            self.add(node, values)
            if not is_maker:
                self.add(box.others.setdefault(key, Node()), values)
            elif strong and len(keys) == 1:
                self.env[value, key] = values
            else:
                self.env[value, key] = self.env.get((value, key), NONE) | values

    def _new_key(self, box: Box) -> None:
        """Who has read other keys may want this one."""
        for index in box.rest.readers():
            self.wake(index)

    def _element(self, value: int, key: Any) -> Values:
        """What stands under a key of a container."""
        box: Box = self.objs[value][1]
        rest = self.read(box.rest)
        if box.maker == self.now.index and (value, key) in self.env:
            others = box.others.get(key)
            if others is None:
                others = box.others[key] = Node()
            return self.env[value, key] | self.read(others) | rest
        node = box.elements.get(key)
        return rest if node is None else self.read(node) | rest

    def elements(self, value: int) -> Values:
        """All that stands in a container."""
        box: Box = self.objs[value][1]
        found = self.read(box.rest)
        for key in list(box.elements):
            found |= self._element(value, key)
        return found

    def _slice(self, site: int, value: int, low: int, high: int) -> Values:
        made = self.box(site, LIST)
        for position in range(low, high):
            self.put(made, [position - low], self._element(value, position))
        box: Box = self.objs[value][1]
        self.put(made, None, self.read(box.rest))
        return frozenset((made,))

    def s_return(self, s: list[Any]) -> None:
        scope = self.now
        value = s[1]
        name: str = value[1] if value[0] == NAME else ""
        is_own = name in scope.params and name not in scope.nodes
        if is_own and self.env.get(name) is self.env["parameter", name]:
            if name not in scope.tokens:
                scope.tokens |= {name}
                self._wake_callers(scope)
            return
        self.add(scope.result, self.eval(value))

    def _wake_callers(self, scope: Scope) -> None:
        for index in scope.result.readers():
            self.wake(index)

    def s_def(self, s: list[Any]) -> None:
        _, index, name, decorators, defaults, annotations, returns = s
        scope = self.now.module.scope(index)
        self._defaults(scope, defaults)
        for param, annotation in annotations:
            self.add(scope.params[param], self._instances(annotation))
        if returns is not None and not scope.flags & GENERATOR:
            self.add(scope.result, self._instances(returns))
        function = frozenset((self.func(scope),))
        values = function
        for decorator, line in reversed(decorators):
            decorated = self.eval(decorator)
            made = self.call(decorated, [values], [], line, _name_of(decorator))
            ours = frozenset(v for v in made if self.objs[v][0] in (F, C, INST, BOUND))
            # What has not been evaluated yet says what it gives later, and then this is done again.
            values = ours if ours or self._is_pending(decorated) else values
        self.bind(name, values)

    def _is_pending(self, callees: Values) -> bool:
        functions = (self.objs[v] for v in callees)
        return any(obj[0] == F and not obj[1].count for obj in functions)

    def _defaults(self, scope: Scope, defaults: list[Any]) -> None:
        for param, default in defaults:
            self.add(scope.params[param], self.eval(default))

    def _instances(self, annotation: list[Any] | None) -> Values:
        """The instances that an annotation names: of classes of the project."""
        found = (self.objs[value] for value in self.eval(annotation))
        return frozenset(self.instance(obj[1]) for obj in found if obj[0] == C)

    def s_class(self, s: list[Any]) -> None:
        _, index, name, bases, decorators = s
        outer, outer_env = self.now, self.env
        scope = outer.module.scope(index)
        owner = scope.owner
        assert owner is not None
        for base in bases:
            self._add_base(owner, base)
        # Its body is a part of the scope that it stands in: that is evaluated again for it.
        self.now, self.env = scope, {}
        scope.tokens = frozenset(("class",))
        self._reading_for(outer, marshal.loads(scope.body))
        self.now, self.env = outer, outer_env
        values = frozenset((self.klass(owner),))
        for decorator, line in reversed(decorators):
            self.call(self.eval(decorator), [values], [], line, _name_of(decorator))
        self.bind(name, values)

    def _reading_for(self, outer: Scope, body: list[Any]) -> None:
        scope = self.now
        saved = scope.index
        scope.index = outer.index
        try:
            self.block(body)
        finally:
            scope.index = saved

    def _add_base(self, owner: Klass, base: list[Any] | None) -> None:
        for value in self.eval(base):
            obj = self.objs[value]
            if obj[0] == C and obj[1] is not owner and obj[1] not in owner.bases:
                if owner not in self.mro(obj[1]):
                    owner.bases.append(obj[1])
                    obj[1].subclasses.append(owner)
                    self._forget_mro(owner, set())
            elif obj[0] == BUILTIN and obj[1] not in owner.builtin:
                owner.builtin.append(obj[1])
            elif obj[0] == EXT and obj[1] not in owner.external:
                owner.external.append(obj[1])
                self._forget_mro(owner, set())

    def _forget_mro(self, owner: Klass, seen: set[int]) -> None:
        if id(owner) in seen:
            return
        seen.add(id(owner))
        owner.mro_known = None
        for each in owner.subclasses:
            self._forget_mro(each, seen)

    def mro(self, owner: Klass) -> list[Klass]:
        """The order in which Python looks for an attribute (C3; by depth where that fails)."""
        if owner.mro_known is None:
            owner.mro_known = [owner]  # for classes that inherit in a circle
            lists = [list(self.mro(base)) for base in owner.bases] + [list(owner.bases)]
            owner.mro_known = [owner, *_merged(lists)]
        return owner.mro_known

    def s_import(self, s: list[Any]) -> None:
        _, dotted, alias = s
        if alias:
            self.bind(alias, self.module_value(dotted))
        else:
            first = dotted.partition(".")[0]
            self.bind(first, self.module_value(first))

    def module_value(self, dotted: str) -> Values:
        module = self._module(dotted)
        if module is not None:
            return frozenset((self.number((MOD, module.name), module),))
        if dotted in self.packages:
            return frozenset((self.number((MOD, dotted), Module(dotted, "", True)),))
        return self.external(dotted)

    def _module(self, dotted: str) -> Module | None:
        found = self.modules.get(dotted)
        if found is None:
            # A script's neighbour.
            folder = self.now.module.name.rpartition(".")[0]
            if folder and not self._in_package():
                found = self.modules.get(f"{folder}.{dotted}")
        return found

    def _in_package(self) -> bool:
        return self.now.module.name.rpartition(".")[0] in self.modules

    def s_from(self, s: list[Any]) -> None:
        _, dotted, level, names = s
        base = self._absolute(dotted, level)
        module = self._module(base)
        for name, alias in names:
            if name == "*":
                if module is not None and module not in self.now.module.stars:
                    self.now.module.stars.append(module)
                    self._wake_module(self.now.module)
                continue
            self.bind(alias, self._imported(base, module, name))

    def _wake_module(self, module: Module) -> None:
        for scope in module.scopes:
            if scope.count and scope.record[KIND] != CLASS_SCOPE:
                self.wake(scope.index)

    def _absolute(self, dotted: str, level: int) -> str:
        if not level:
            return dotted
        module = self.now.module
        parts = module.name.split(".")
        keep = len(parts) - level + (1 if module.is_package else 0)
        base = parts[: max(keep, 0)]
        return ".".join([*base, dotted] if dotted else base)

    def _imported(self, base: str, module: Module | None, name: str) -> Values:
        inner = f"{base}.{name}" if base else name
        if module is not None:
            values = self._module_attribute(module, name, set())
            if values:
                return values
        found = self._module(inner)
        if found is not None or inner in self.packages:
            return self.module_value(inner)
        return NONE if module is not None else self.external(inner)

    def _module_attribute(self, module: Module, name: str, seen: set[str]) -> Values:
        if not module.scopes:
            inner = f"{module.name}.{name}"
            if inner in self.modules or inner in self.packages:
                return self.module_value(inner)
            return NONE
        values = self.read(self._variable(module.scopes[0], name))
        if values or module.name in seen:
            return values
        seen.add(module.name)
        for star in module.stars:
            values |= self._module_attribute(star, name, seen)
        return values

    def s_branch(self, s: list[Any]) -> None:
        before = self.env
        after: list[Env] = []
        for body in s[1]:
            self.env = dict(before)
            self.block(body)
            after.append(self.env)
        self.env = _joined(after)

    def s_loop(self, s: list[Any]) -> None:
        _, target, values, body = s
        before = self.env
        if values is not None:
            items = self.iterate(self.eval(values), values)
            before = dict(self.env)
            self.assign(target, items)
        else:
            before = dict(self.env)
        start = self.env
        for _ in range(2):
            self.env = dict(start)
            self.block(body)
            self.env = _joined([start, self.env])
            if all(
                start[name] is values or start[name] >= values
                for name, values in self.env.items()
                if name in start
            ):
                break  # what one round assigns changes nothing for the next
            start = self.env
        self.env = _joined([before, self.env])

    def s_with(self, s: list[Any]) -> None:
        _, value, target, line = s
        managers = self.eval(value)
        entered: Values = NONE
        for manager in managers:
            kind = self.objs[manager][0]
            if kind == INST:
                entered |= self.dunder(manager, "__enter__", line, [])
                entered |= self.dunder(manager, "__aenter__", line, [])
                self.dunder(manager, "__exit__", line, [])
                self.dunder(manager, "__aexit__", line, [])
            elif kind == GEN:  # of @contextmanager
                entered |= self.read(self.objs[manager][1].yields)
            elif kind == EXT:
                entered |= {manager}
        if target is not None:
            self.assign(target, entered)

    def s_raise(self, s: list[Any]) -> None:
        for value in self.eval(s[1]):
            if self.objs[value][0] == C:
                self.call(frozenset((value,)), [], [], s[2], "")

    def s_annotated(self, s: list[Any]) -> None:
        _, target, annotation, value = s
        values = self.eval(value)
        if not values:
            classes = self.eval(annotation)
            if annotation and annotation[0] in (TUPLE, LIST):
                classes = self.iterate(classes, None)
            values = frozenset(
                self.instance(self.objs[v][1]) for v in classes if self.objs[v][0] == C
            )
        if value is not None or values:
            self.assign(target, values)

    statements: ClassVar[dict[int, Any]] = {
        ASSIGN: s_assign,
        EXPR: s_expr,
        RETURN: s_return,
        DEF: s_def,
        CLASS: s_class,
        IMPORT: s_import,
        FROM: s_from,
        BRANCH: s_branch,
        LOOP: s_loop,
        WITH: s_with,
        RAISE: s_raise,
        ANNOTATED: s_annotated,
    }

    # -- expressions

    def eval(self, e: list[Any] | None) -> Values:
        """The values that an expression may have; its calls are noted."""
        return NONE if e is None else self.expressions[e[0]](self, e)

    def e_name(self, e: list[Any]) -> Values:
        name = e[1]
        found = self.env.get(name)
        if found is not None:
            return found
        scope = self.now
        is_function = scope.record[KIND] in (FUNCTION, LAMBDA)
        if is_function and name in scope.local_names and name not in scope.nodes:
            return NONE  # not assigned yet
        return self._outer(scope, name)

    def _outer(self, scope: Scope, name: str) -> Values:
        owner = self._owner(scope, name)
        if owner is not None:
            node = self._variable(owner, name)
            values = self.read(node)
            if values or owner.record[KIND] != MODULE:
                return values
        for star in scope.module.stars:
            values = self._module_attribute(star, name, set())
            if values:
                return values
        if owner is None and name in BUILTINS:
            return frozenset((self.number((BUILTIN, name)),))
        return NONE

    def _owner(self, scope: Scope | None, name: str) -> Scope | None:
        """The scope whose variable a name is, from inside `scope`."""
        first = scope
        while scope is not None:
            if scope is first and name in scope.record[GLOBALS]:
                return scope.module.scopes[0]
            is_seen = scope is first or scope.record[KIND] != CLASS_SCOPE
            if is_seen and name in scope.local_names:
                return scope
            if scope.parent is None and name in scope.nodes:
                return scope  # made by `global` in a function
            scope = scope.parent
        return None

    def e_const(self, e: list[Any]) -> Values:
        # 1 and "1" are different keys, and so are 1 and True.
        return frozenset((self.number((CONSTANT, type(e[1]).__name__, e[1])),))

    def e_string(self, e: list[Any]) -> Values:
        return frozenset((self.number((TEXT,)),))

    def e_attr(self, e: list[Any]) -> Values:
        found: Values = NONE
        for base in self.eval(e[1]):
            found |= self.attribute(base, e[2], e[3])
        return found

    def attribute(self, base: int, name: str, line: int) -> Values:
        """What an attribute of a value may be; a property is called."""
        obj = self.objs[base]
        kind = obj[0]
        if kind == INST:
            return self._of_instance(base, obj[1], name, line)
        if kind == C:
            return self._of_class(base, obj[1], name)
        if kind == MOD:
            values = self._module_attribute(obj[1], name, set())
            return values or self._submodule(obj[1].name, name)
        if kind == SUPER:
            return self._of_super(obj, name, line)
        return self._of_plain(base, obj, name)

    def _of_plain(self, base: int, obj: tuple[Any, ...], name: str) -> Values:
        """An attribute of what is neither a class of the project nor a module of it."""
        kind = obj[0]
        if kind == EXT:
            return self.external(f"{obj[1]}.{name}")
        if kind == TEXT or (kind == CONSTANT and obj[1] == "str"):
            return frozenset((self.number((BUILTIN, f"<**PyStr**>.{name}")),))
        if kind == BOX:
            return frozenset((self.number((BOX_METHOD, base, name)),))
        if kind == BUILTIN:
            return frozenset((self.number((BUILTIN, f"{obj[1]}.{name}")),))
        node = obj[1].nodes.get(f".{name}") if kind == F else None
        return NONE if node is None else self.read(node)

    def _submodule(self, package: str, name: str) -> Values:
        inner = f"{package}.{name}"
        return self.module_value(inner) if inner in self.modules or inner in self.packages else NONE

    def _of_instance(self, base: int, owner: Klass, name: str, line: int) -> Values:
        found: Values = NONE
        if name in self.stored:
            for each in self.mro(owner):
                node = each.attributes.get(name)
                if node is None:
                    node = each.attributes[name] = Node()
                found |= self.read(node)
        for each in self.mro(owner):
            if name in each.scope.local_names:
                return found | self._bound(
                    self.read(self._variable(each.scope, name)), base, owner, line
                )
        if not found:
            for each in self.mro(owner):
                for dotted in each.external:
                    found |= self.external(f"{dotted}.{name}")
        return found

    def _bound(self, values: Values, base: int, owner: Klass, line: int) -> Values:
        found: set[int] = set()
        for value in values:
            obj = self.objs[value]
            if obj[0] != F:
                found.add(value)
                continue
            flags = obj[1].flags
            if flags & PROPERTY:
                bound = self.number((BOUND, value, base))
                found |= self.call(frozenset((bound,)), [], [], line, obj[1].record[SYMBOL])
            elif flags & STATIC or not flags & METHOD:
                found.add(value)
            elif flags & CLASSMETHOD:
                found.add(self.number((BOUND, value, self.klass(owner))))
            else:
                found.add(self.number((BOUND, value, base)))
        return frozenset(found)

    def _of_class(self, base: int, owner: Klass, name: str) -> Values:
        for each in self.mro(owner):
            if name in each.scope.local_names or name in each.scope.nodes:
                found: set[int] = set()
                for value in self.read(self._variable(each.scope, name)):
                    obj = self.objs[value]
                    is_bound = obj[0] == F and obj[1].flags & CLASSMETHOD
                    found.add(self.number((BOUND, value, base)) if is_bound else value)
                return frozenset(found)
        found_outside: Values = NONE
        for each in self.mro(owner):
            for dotted in each.external:
                found_outside |= self.external(f"{dotted}.{name}")
        return found_outside

    def _of_super(self, obj: tuple[Any, ...], name: str, line: int) -> Values:
        _, after, base = obj
        owner: Klass = self.objs[after][1]
        receiver = self.objs[base]
        order = self.mro(receiver[1])
        rest = order[order.index(owner) + 1 :] if owner in order else self.mro(owner)[1:]
        for each in rest:
            if name in each.scope.local_names:
                return self._bound(
                    self.read(self._variable(each.scope, name)), base, receiver[1], line
                )
        found: Values = NONE
        for each in [owner, *rest]:
            for dotted in each.external:
                found |= self.external(f"{dotted}.{name}")
        return found

    def set_attribute(self, base: int, name: str, values: Values) -> None:
        obj = self.objs[base]
        if obj[0] == INST:
            node = obj[1].attributes.get(name)
            if node is None:
                node = obj[1].attributes[name] = Node()
            self.add(node, values)
        elif obj[0] == C:
            self.add(self._variable(obj[1].scope, name), values)
        elif obj[0] == MOD and obj[1].scopes:
            self.add(self._variable(obj[1].scopes[0], name), values)
        elif obj[0] == F:
            self.add(obj[1].nodes.setdefault(f".{name}", Node()), values)

    def e_scope(self, e: list[Any]) -> Values:
        scope = self.now.module.scope(e[1])
        self._defaults(scope, e[2])
        return frozenset((self.func(scope),))

    def box(self, site: int | str, kind: int) -> int:
        """The container that an expression makes in the scope that is evaluated.

        Args:
            site: the number of the expression in its module, or a name of its own.
            kind: of the container.
        """
        key = (site, kind)
        boxes = self.now.boxes
        if boxes is None:
            boxes = self.now.boxes = {}
        value = boxes.get(key)
        if value is None:
            made = Box(kind, self.now.index)
            value = boxes[key] = self.number((BOX, len(self.objs)), made)
        return value

    def e_list(self, e: list[Any]) -> Values:
        value = self.box(e[2], e[0])
        position = 0
        for item in e[1]:
            if item is not None and item[0] == STAR:
                self.put(value, None, self.iterate(self.eval(item[1]), item[1]))
                continue
            if e[0] == SET:
                self.put(value, None, self.eval(item))
            else:
                self.put(value, [position], self.eval(item), strong=True)
            position += 1
        return frozenset((value,))

    def e_dict(self, e: list[Any]) -> Values:
        value = self.box(e[2], DICT)
        for key, item in e[1]:
            if key is not None and key[0] == STAR:
                for other in self.eval(item):
                    if self.objs[other][0] == BOX:
                        self._update(value, other)
                continue
            self.put(value, self._keys(key), self.eval(item), strong=True)
        return frozenset((value,))

    def _update(self, value: int, other: int) -> None:
        box: Box = self.objs[other][1]
        for key in list(box.elements):
            self.put(value, [key], self._element(other, key), strong=True)
        self.put(value, None, self.read(box.rest))

    def _keys(self, e: list[Any] | None) -> list[Any] | None:
        """The constants that a key may be; None for any."""
        keys: list[Any] = []
        for value in sorted(self.eval(e)):
            obj = self.objs[value]
            if obj[0] != CONSTANT:
                return None
            keys.append(obj[2] if obj[1] == "int" else (obj[1], obj[2]))
        return keys or None

    def e_item(self, e: list[Any]) -> Values:
        keys = self._keys(e[2])
        found: Values = NONE
        for base in self.eval(e[1]):
            obj = self.objs[base]
            if obj[0] == BOX:
                if keys is None:
                    found |= self.elements(base)
                else:
                    for key in keys:
                        if isinstance(key, int) and key < 0 and obj[1].kind in (LIST, TUPLE):
                            key += len(obj[1].elements)  # noqa: PLW2901 - counted from the end
                        found |= self._element(base, key)
            elif obj[0] == INST:
                found |= self.dunder(base, "__getitem__", e[3], [])
            elif obj[0] in (C, EXT):
                found |= {base}  # a generic class with its arguments
            elif obj[0] == GEN:
                found |= self.read(obj[1].yields)
        return found

    def e_slice(self, e: list[Any]) -> Values:
        bounds = [self._bound_of(part) for part in e[2:4]]
        found: Values = NONE
        for base in self.eval(e[1]):
            obj = self.objs[base]
            if obj[0] != BOX:
                continue
            length = len(obj[1].elements)
            low = 0 if e[2] is None else bounds[0]
            high = length if e[3] is None else bounds[1]
            if low is None or high is None:
                made = self.box(e[4], LIST)
                self.put(made, None, self.elements(base))
                found |= {made}
            else:
                low, high, _ = slice(low, high).indices(length)
                found |= self._slice(e[4], base, low, high)
        return found

    def _bound_of(self, e: list[Any] | None) -> int | None:
        keys = self._keys(e)
        return keys[0] if keys and len(keys) == 1 and isinstance(keys[0], int) else None

    def e_union(self, e: list[Any]) -> Values:
        found: Values = NONE
        for part in e[1]:
            found |= self.eval(part)
        return found

    def e_effect(self, e: list[Any]) -> Values:
        for part in e[1]:
            self.eval(part)
        return NONE

    def e_concat(self, e: list[Any]) -> Values:
        sides = self.eval(e[1]) | self.eval(e[2])
        kinds = {v: self.objs[v] for v in sides}
        made = frozenset(v for v, obj in kinds.items() if obj[0] == BOX)
        if any(
            obj[0] == TEXT or (obj[0] == CONSTANT and obj[1] == "str") for obj in kinds.values()
        ):
            made |= self.e_string(e)
        return made

    def e_yield(self, e: list[Any]) -> Values:
        self.add(self.now.yields, self.eval(e[1]))
        return NONE

    def e_yield_all(self, e: list[Any]) -> Values:
        values = self.eval(e[1])
        self.add(self.now.yields, self.iterate(values, e[1]))
        # What `yield from` gives is what the other one returns.
        found: Values = NONE
        for value in values:
            if self.objs[value][0] == GEN:
                found |= self.read(self.objs[value][1].result)
        return found

    def e_comprehension(self, e: list[Any]) -> Values:
        _, kind, loops, element, key, site = e
        before = self.env
        self.env = dict(before)
        for target, values, test in loops:
            self.assign(target, self.iterate(self.eval(values), values))
            self.eval(test)
        items = self.eval(element)
        keys = self._keys(key) if kind == DICT else None
        self.env = before
        value = self.box(site, kind)
        self.put(value, keys, items)
        return frozenset((value,))

    def e_walrus(self, e: list[Any]) -> Values:
        values = self.eval(e[2])
        self.assign(e[1], values)
        return values

    def e_star(self, e: list[Any]) -> Values:
        return self.iterate(self.eval(e[1]), e[1])

    def e_call(self, e: list[Any]) -> Values:
        _, function, args, keywords, line = e
        callees = self.eval(function)
        given: list[Values] = []
        rest: Values = NONE
        for arg in args:
            if arg is not None and arg[0] == STAR:
                star = self.eval(arg[1])
                boxes = [v for v in star if self.objs[v][0] == BOX]
                if len(boxes) == 1 and self.objs[boxes[0]][1].elements and not rest:
                    count = len(self.objs[boxes[0]][1].elements)
                    given += [self._element(boxes[0], n) for n in range(count)]
                else:
                    rest |= self.iterate(star, arg[1])
            else:
                given.append(self.eval(arg))
        named: list[tuple[str | None, Values]] = []
        for name, value in keywords:
            values = self.eval(value)
            if name is None:
                named += self._spread(values)
            else:
                named.append((name, values))
        if rest:
            named.append((None, rest))
        return self.call(callees, given, named, line, _name_of(function))

    def _spread(self, values: Values) -> list[tuple[str | None, Values]]:
        """The keywords of `**options`."""
        found: list[tuple[str | None, Values]] = []
        for value in values:
            if self.objs[value][0] == BOX:
                found += [
                    (key[1], self._element(value, key))
                    for key in list(self.objs[value][1].elements)
                    if isinstance(key, tuple) and key[0] == "str"
                ]
                rest = self.read(self.objs[value][1].rest)
                if rest:
                    found.append((None, rest))
        return found

    expressions: ClassVar[dict[int, Any]] = {
        NAME: e_name,
        CONST: e_const,
        STRING: e_string,
        ATTR: e_attr,
        CALL: e_call,
        SCOPE: e_scope,
        LIST: e_list,
        TUPLE: e_list,
        SET: e_list,
        DICT: e_dict,
        ITEM: e_item,
        SLICE: e_slice,
        UNION: e_union,
        EFFECT: e_effect,
        CONCAT: e_concat,
        YIELD: e_yield,
        YIELD_ALL: e_yield_all,
        COMPREHENSION: e_comprehension,
        WALRUS: e_walrus,
        STAR: e_star,
    }

    # -- calls

    def call(
        self,
        callees: Values,
        args: list[Values],
        named: list[tuple[str | None, Values]],
        line: int,
        name: str,
    ) -> Values:
        """Call every value that a callee may be; what the calls give."""
        found: Values = NONE
        if not callees and name:
            self.note(line, name, -1)
        for callee in sorted(callees):
            obj = self.objs[callee]
            kind = obj[0]
            if kind == F:
                self.note(line, name, callee)
                found |= self.enter(obj[1], args, named)
            elif kind == BOUND:
                self.note(line, name, obj[1])
                receiver = frozenset((obj[2],))
                found |= self.enter(self.objs[obj[1]][1], [receiver, *args], named)
            elif kind == C:
                found |= self._construct(callee, obj[1], args, named, line, name)
            elif kind == INST:
                found |= self.dunder(callee, "__call__", line, args, named)
            elif kind == EXT:
                self.note(line, name, callee)
                found |= {callee}
            elif kind == BUILTIN:
                self.note(line, name, callee)
                found |= self._builtin(obj[1], args, named, line)
            elif kind == BOX_METHOD:
                found |= self._box_method(obj[1], obj[2], args, line, name)
        return found

    def note(self, line: int, name: str, callee: int) -> None:
        scope = self.now
        while scope.record[KIND] == CLASS_SCOPE and scope.parent is not None:
            scope = scope.parent
        key = (scope.index, line, sys.intern(name))
        known = self.calls.get(key, NONE)
        if callee not in known:
            self.calls[key] = self.shared(known | {callee})

    def enter(
        self, scope: Scope, args: list[Values], named: list[tuple[str | None, Values]]
    ) -> Values:
        """Pass arguments to a function; what it returns."""
        record = scope.record
        params: list[str] = record[PARAMS]
        for param, values in zip(params, args, strict=False):
            if values:
                self.add(scope.params[param], values)
        if len(args) > len(params) and record[VARARG]:
            more = self.box(f"*{scope.index}", TUPLE)
            for position, values in enumerate(args[len(params) :]):
                self.put(more, [position], values)
            self.add(scope.params[record[VARARG]], frozenset((more,)))
        options = -1
        for name, values in named:
            if name is None:
                for param in params[len(args) :]:
                    self.add(scope.params[param], values)
            elif name in scope.params:
                self.add(scope.params[name], values)
            elif record[KWARG]:
                options = options if options >= 0 else self.box(f"*{scope.index}", DICT)
                self.put(options, [("str", name)], values)
                self.add(scope.params[record[KWARG]], frozenset((options,)))
        if scope.flags & GENERATOR:
            return frozenset((self.number((GEN, scope.index), scope),))
        result = self.read(scope.result)
        for token in scope.tokens:
            result |= self._argument(scope, token, args, named)
        return result

    def _argument(
        self, scope: Scope, param: str, args: list[Values], named: list[tuple[str | None, Values]]
    ) -> Values:
        """What a call gave for a parameter; the default, where it gave nothing."""
        params = scope.record[PARAMS]
        position = params.index(param) if param in params else len(args)
        if position < len(args):
            return args[position]
        for name, values in named:
            if name == param:
                return values
        return self.read(scope.params[param])

    def _construct(
        self,
        callee: int,
        owner: Klass,
        args: list[Values],
        named: list[tuple[str | None, Values]],
        line: int,
        name: str,
    ) -> Values:
        made = self.instance(owner)
        given = [frozenset((made,)), *args]
        initializers = self._special(owner, "__init__")
        for value in initializers:
            self.note(line, name, value)
            self.enter(self.objs[value][1], given, named)
        for value in self._special(owner, "__new__"):
            self.note(line, name, value)
            self.enter(self.objs[value][1], [frozenset((callee,)), *args], named)
        if not initializers:
            outside = [dotted for each in self.mro(owner) for dotted in each.external]
            for dotted in outside:
                for value in self.external(f"{dotted}.__init__"):
                    self.note(line, name, value)
            self.note(line, name, callee)
        return frozenset((made,))

    def _special(self, owner: Klass, name: str) -> list[int]:
        """The functions of the project that a special method of a class is."""
        for each in self.mro(owner):
            if name in each.scope.local_names:
                values = self.read(self._variable(each.scope, name))
                return sorted(v for v in values if self.objs[v][0] == F)
        return []

    def dunder(
        self,
        base: int,
        name: str,
        line: int,
        args: list[Values],
        named: Sequence[tuple[str | None, Values]] = (),
    ) -> Values:
        """Call a special method of an instance, if its class has one."""
        found: Values = NONE
        for value in self._special(self.objs[base][1], name):
            self.note(line, name, value)
            found |= self.enter(self.objs[value][1], [frozenset((base,)), *args], list(named))
        return found

    def iterate(self, values: Values, site: list[Any] | None) -> Values:
        """What a loop over some values gives."""
        found: Values = NONE
        line = _line_of(site)
        for value in sorted(values):
            obj = self.objs[value]
            if obj[0] == BOX:
                found |= self._keys_of(obj[1]) if obj[1].kind == DICT else self.elements(value)
            elif obj[0] == GEN:
                found |= self.read(obj[1].yields)
            elif obj[0] == INST:
                for iterator in self.dunder(value, "__iter__", line, []):
                    if self.objs[iterator][0] == INST:
                        found |= self.dunder(iterator, "__next__", line, [])
                    elif iterator not in values:
                        found |= self.iterate(frozenset((iterator,)), site)
            elif obj[0] == EXT:
                found |= {value}
        return found

    def _keys_of(self, box: Box) -> Values:
        self.read(box.rest)
        keys = [(type(k).__name__, k) if isinstance(k, int) else k for k in box.elements]
        return frozenset(self.number((CONSTANT, kind, key)) for kind, key in keys)

    def _builtin(
        self,
        name: str,
        args: list[Values],
        named: list[tuple[str | None, Values]],
        line: int,
    ) -> Values:
        if name == "super":
            return self._super(args)
        results: Values = NONE
        if name in _CALL_THEIR_ARGUMENTS:
            given = [*args, *(values for key, values in named if key == "key")]
            items: Values = NONE
            for values in args:
                items |= self.iterate(values, None)
            for values in given:
                callables = frozenset(v for v in values if self.objs[v][0] in (F, BOUND, C))
                if callables:
                    results |= self.call(callables, [items], [], line, "")
        if name == "map":
            return self._list_of(f"map {line}", results)
        if name in _SAME_ELEMENTS and args:
            items = NONE
            for values in args:
                items |= self.iterate(values, None)
            return self._list_of(f"{name} {line}", items)
        return self._typed(name, args, line)

    def _typed(self, name: str, args: list[Values], line: int) -> Values:
        """What the builtins give whose results say something."""
        if name.startswith("<**PyStr**>."):
            return NONE if name.endswith((".split", ".encode")) else self.e_string([])
        if name in _GIVE_TEXT:
            return self.e_string([])
        if name in _MAKE_BOXES:
            return frozenset((self.box(f"{name} {line}", _MAKE_BOXES[name]),))
        return self._of_arguments(name, args, line) if args else NONE

    def _of_arguments(self, name: str, args: list[Values], line: int) -> Values:
        """What the builtins give whose results consist of their arguments."""
        if name == "next":
            return self._next(args[0])
        if name in ("enumerate", "zip"):
            return self._pairs(name, args, line)
        if name in ("getattr", "setattr"):
            return self._by_text(name, args, line)
        if name == "type" and len(args) == 1:
            kinds = (self.objs[value] for value in args[0])
            return frozenset(self.klass(obj[1]) for obj in kinds if obj[0] == INST)
        return NONE

    def _next(self, values: Values) -> Values:
        found = self.iterate(values, None)
        for value in sorted(values):
            if self.objs[value][0] == INST:
                found |= self.dunder(value, "__next__", 0, [])
        return found

    def _pairs(self, name: str, args: list[Values], line: int) -> Values:
        columns = [self.iterate(values, None) for values in args]
        if name == "enumerate":
            columns = [NONE, columns[0]]
        pair = self.box(f"{name} pair {line}", TUPLE)
        for position, column in enumerate(columns):
            self.put(pair, [position], column)
        return self._list_of(f"{name} {line}", frozenset((pair,)))

    def _by_text(self, name: str, args: list[Values], line: int) -> Values:
        """`getattr` and `setattr` with a constant name."""
        found: Values = NONE
        texts = [self.objs[value] for value in sorted(args[1])] if len(args) > 1 else []
        for obj in texts:
            if obj[0] != CONSTANT or obj[1] != "str":
                continue
            for base in sorted(args[0]):
                if name == "getattr":
                    found |= self.attribute(base, obj[2], line)
                elif len(args) > 2:
                    self.set_attribute(base, obj[2], args[2])
        return found

    def _super(self, args: list[Values]) -> Values:
        scope: Scope | None = self.now
        while scope is not None and not (scope.flags & METHOD):
            scope = scope.parent
        if scope is None or scope.parent is None or scope.parent.owner is None:
            return NONE
        owner = self.klass(scope.parent.owner)
        first = scope.record[PARAMS][:1]
        receivers = self.env.get(first[0], NONE) if first and scope is self.now else NONE
        receivers = receivers or frozenset((self.instance(scope.parent.owner),))
        return frozenset(
            self.number((SUPER, owner, value))
            for value in receivers
            if self.objs[value][0] in (INST, C)
        )

    def _list_of(self, name: str, items: Values) -> Values:
        value = self.box(name, LIST)
        self.put(value, None, items)
        return frozenset((value,))

    def _box_method(
        self, base: int, method: str, args: list[Values], line: int, name: str
    ) -> Values:
        """Call a method of a container."""
        box: Box = self.objs[base][1]
        self.note(line, name, self.number((BUILTIN, f"{_BOX_NAMES[box.kind]}.{method}")))
        if method in ("append", "add", "insert", "appendleft"):
            for values in args:
                self.put(base, None, values)
            return NONE
        if method in ("extend", "update"):
            for value in sorted(value for values in args for value in values):
                if self.objs[value][0] == BOX and box.kind == DICT:
                    self._update(base, value)
                else:
                    self.put(base, None, self.iterate(frozenset((value,)), None))
            return NONE
        if method in ("get", "setdefault", "pop") and box.kind == DICT:
            return self._get(base, method, args)
        if method in ("pop", "popleft", "popitem"):
            return self.elements(base)
        return self._view(base, box, method, line)

    def _get(self, base: int, method: str, args: list[Values]) -> Values:
        keys = self._constants(args[0]) if args else None
        default = args[1] if len(args) > 1 else NONE
        if method == "setdefault" and default:
            self.put(base, keys, default)
        if keys is None:
            return default | self.elements(base)
        found = default
        for key in keys:
            found |= self._element(base, key)
        return found

    def _view(self, base: int, box: Box, method: str, line: int) -> Values:
        if method == "values":
            return self._list_of(f"values {line}", self.elements(base))
        if method == "keys":
            return self._list_of(f"keys {line}", self._keys_of(box))
        if method == "items":
            inner = self.box(f"item {line}", TUPLE)
            self.put(inner, [0], self._keys_of(box))
            self.put(inner, [1], self.elements(base))
            return self._list_of(f"items {line}", frozenset((inner,)))
        return frozenset((base,)) if method == "copy" else NONE

    def _constants(self, values: Values) -> list[Any] | None:
        keys: list[Any] = []
        for value in sorted(values):
            obj = self.objs[value]
            if obj[0] != CONSTANT:
                return None
            keys.append(obj[2] if obj[1] == "int" else (obj[1], obj[2]))
        return keys or None

    # -- the result

    def inheritance(self) -> Iterator[tuple[str, list[str]]]:
        """Each class with what it inherits from: classes of the project, nearest first, then
        others."""
        for scope in self.scopes:
            if scope.owner is None:
                continue
            order = self.mro(scope.owner)
            others = [base for each in order for base in each.external]
            others += [base for each in order for name in each.builtin for base in _bases_of(name)]
            if bases := [*(each.scope.dotted for each in order[1:]), *dict.fromkeys(others)]:
                yield scope.dotted, bases

    def _found(self) -> Iterator[Found]:
        for key in sorted(self.calls):
            index, line, name = key
            caller = self.scopes[index].dotted
            targets = sorted({self.dotted(callee) for callee in self.calls[key] if callee >= 0})
            for target in targets or (None,):
                yield Found(caller, target, name, line)

    def dotted(self, value: int) -> str:
        """The dotted name of what is called."""
        obj = self.objs[value]
        if obj[0] == F:
            return obj[1].dotted
        if obj[0] == C:
            return obj[1].scope.dotted
        if obj[0] == BUILTIN:
            return obj[1] if obj[1].startswith("<") else f"<builtin>.{obj[1]}"
        return obj[1]


def _joined(envs: list[Env]) -> Env:
    """What variables may be after any of several ways."""
    if len(envs) == 1:
        return envs[0]
    joined = dict(envs[0])
    for env in envs[1:]:
        for name, values in env.items():
            known = joined.get(name)
            if known is None:
                joined[name] = values
            elif known is not values:
                joined[name] = known | values
    return joined


def _merged(lists: list[list[Klass]]) -> list[Klass]:
    merged: list[Klass] = []
    lists = [each for each in lists if each]
    while lists:
        for each in lists:
            head = each[0]
            if not any(head in other[1:] for other in lists):
                break
        else:
            head = lists[0][0]  # no order satisfies all: Python would refuse the class
        if head not in merged:
            merged.append(head)
        lists = [[item for item in each if item is not head] for each in lists]
        lists = [each for each in lists if each]
    return merged


def _name_of(e: list[Any] | None) -> str:
    """What is called, as it is written: the last part of a dotted name."""
    if e is None:
        return ""
    if e[0] == NAME:
        return e[1]
    return e[2] if e[0] == ATTR else ""


def _line_of(e: list[Any] | None) -> int:
    return e[-1] if e and e[0] in (CALL, ATTR, ITEM) and isinstance(e[-1], int) else 0


def _bases_of(name: str) -> list[str]:
    """A class of Python itself, and what it inherits from."""
    found = getattr(builtins, name, None)
    order = found.__mro__ if isinstance(found, type) else ()
    return [each.__name__ for each in order if each is not object]
