"""Compiles a module's syntax tree to what the call resolver needs, as plain lists (JSON).

Only what can carry a callable, or call one, is kept. A module is a list of scopes; scope 0 is the
module. See `Scope` and the constants below for the forms; `python_calls` evaluates them.
"""

from __future__ import annotations

import ast
from typing import Any

# Expressions, each a list that begins with one of these:
(
    NAME,
    CONST,
    ATTR,
    CALL,
    SCOPE,
    LIST,
    TUPLE,
    SET,
    DICT,
    ITEM,
    SLICE,
    UNION,
    EFFECT,
    YIELD,
    YIELD_ALL,
) = range(15)
COMPREHENSION, WALRUS, STAR, CONCAT, STRING = range(16, 21)
# Statements:
ASSIGN, EXPR, RETURN, DEF, CLASS, IMPORT, FROM, BRANCH, LOOP, WITH, RAISE, ANNOTATED = range(21, 33)
# Positions in a scope:
(
    KIND,
    SYMBOL,
    PARENT,
    PARAMS,
    VARARG,
    KWONLY,
    KWARG,
    BODY,
    LOCALS,
    GLOBALS,
    NONLOCALS,
    FLAGS,
    LINE,
) = range(13)
STORED = 13
"""In a module's scope only: the names of the attributes that the module sets."""
MODULE, FUNCTION, CLASS_SCOPE, LAMBDA = range(4)
GENERATOR, STATIC, CLASSMETHOD, PROPERTY, METHOD = 1, 2, 4, 8, 16

Expression = list[Any] | None
MAX_ITEMS = 64
"""Of a literal: a longer one is a table of data, of which only the calls count."""


def compile_facts(tree: ast.Module) -> list[list[Any]]:
    """The scopes of a module.

    Raises:
        RecursionError: an expression is nested too deep.
    """
    compiler = _Compiler()
    scope = compiler.new_scope(MODULE, "", -1, 0)
    compiler.fill(scope, tree.body)
    compiler.scopes[0].append(sorted(compiler.stored))
    return compiler.scopes


class _Compiler:
    def __init__(self) -> None:
        self.scopes: list[list[Any]] = []
        self.lambdas: dict[int, int] = {}
        self.stored: set[str] = set()
        self.current = 0
        self.locals: set[str] = set()
        self.sites = 0

    def site(self) -> int:
        """The number of an expression that makes a container, unique in the module."""
        self.sites += 1
        return self.sites

    def new_scope(self, kind: int, symbol: str, parent: int, line: int) -> int:
        self.scopes.append([kind, symbol, parent, [], None, [], None, [], [], [], [], 0, line])
        return len(self.scopes) - 1

    def fill(self, scope: int, body: list[ast.stmt]) -> None:
        outer, outer_locals = self.current, self.locals
        self.current, self.locals = scope, set()
        record = self.scopes[scope]
        self.locals.update(record[PARAMS], record[KWONLY])
        self.locals.update(name for name in (record[VARARG], record[KWARG]) if name)
        record[BODY] = self.block(body)
        left = self.locals.difference(record[GLOBALS], record[NONLOCALS])
        record[LOCALS] = sorted(left)
        self.current, self.locals = outer, outer_locals

    # -- statements

    def block(self, body: list[ast.stmt]) -> list[Any]:
        found: list[Any] = []
        for node in body:
            method = _STATEMENTS.get(type(node))
            if method is not None:
                method(self, node, found)
        return found

    def effect(self, node: ast.expr | None, found: list[Any]) -> None:
        """An expression whose value is not used; nothing where it does nothing."""
        value = self.expr(node)
        if value is not None and value[0] not in (NAME, CONST, STRING):
            found.append([EXPR, value])

    def assign(self, node: ast.Assign, found: list[Any]) -> None:
        value = self.expr(node.value)
        found.append([ASSIGN, [self.target(target) for target in node.targets], value])

    def aug_assign(self, node: ast.AugAssign, found: list[Any]) -> None:
        value = self.expr(node.value)
        if value is None:
            return
        target = self.target(node.target)
        read = self.expr(node.target)
        found.append([ASSIGN, [target], [CONCAT, read, value]])

    def ann_assign(self, node: ast.AnnAssign, found: list[Any]) -> None:
        found.append(
            [
                ANNOTATED,
                self.target(node.target),
                self.annotation(node.annotation),
                self.expr(node.value),
            ]
        )

    def annotation(self, node: ast.expr | None) -> Expression:
        """Of `Cart`, `shop.Cart`, `"Cart"`, `Cart | None` and `Optional[Cart]`, the classes."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            try:
                return self.annotation(ast.parse(node.value, mode="eval").body)
            except (SyntaxError, ValueError):
                return None
        if isinstance(node, (ast.Name, ast.Attribute)):
            return self.expr(node)
        if isinstance(node, ast.BinOp):
            sides = [self.annotation(node.left), self.annotation(node.right)]
            return _union([side for side in sides if side is not None])
        if isinstance(node, ast.Subscript):
            head = node.value
            name = head.id if isinstance(head, ast.Name) else getattr(head, "attr", "")
            return self.annotation(node.slice) if name == "Optional" else None
        return None

    def expr_statement(self, node: ast.Expr, found: list[Any]) -> None:
        self.effect(node.value, found)

    def return_statement(self, node: ast.Return, found: list[Any]) -> None:
        value = self.expr(node.value)
        if value is not None:
            found.append([RETURN, value])

    def definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef, found: list[Any]) -> None:
        outer = self.scopes[self.current]
        symbol = f"{outer[SYMBOL]}.{node.name}" if outer[SYMBOL] else node.name
        flags = METHOD if outer[KIND] == CLASS_SCOPE else 0
        decorators: list[Any] = []
        for decorator in node.decorator_list:
            flag = _decorator_flag(decorator)
            flags |= flag
            if not flag:
                decorators.append([self.expr(decorator), decorator.lineno])
        if node.name in ("__new__", "__init_subclass__", "__class_getitem__"):
            flags |= CLASSMETHOD if node.name != "__new__" else STATIC
        defaults, annotations = self.arguments(node.args)
        scope = self.new_scope(FUNCTION, symbol, self.current, node.lineno)
        record = self.scopes[scope]
        record[FLAGS] = flags
        _set_params(record, node.args)
        returns = self.annotation(node.returns)
        self.locals.add(node.name)
        found.append([DEF, scope, node.name, decorators, defaults, annotations, returns])
        self.fill(scope, node.body)

    def arguments(self, args: ast.arguments) -> tuple[list[Any], list[Any]]:
        """The defaults and the annotations of parameters, as (name, expression)."""
        every = [*args.posonlyargs, *args.args]
        pairs = list(zip(every[len(every) - len(args.defaults) :], args.defaults, strict=True))
        pairs += [(a, d) for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True) if d]
        defaults = [[arg.arg, self.expr(default)] for arg, default in pairs]
        annotated = [
            [arg.arg, self.annotation(arg.annotation)]
            for arg in [*every, *args.kwonlyargs]
            if arg.annotation is not None
        ]
        return [d for d in defaults if d[1] is not None], [a for a in annotated if a[1] is not None]

    def class_definition(self, node: ast.ClassDef, found: list[Any]) -> None:
        outer = self.scopes[self.current]
        symbol = f"{outer[SYMBOL]}.{node.name}" if outer[SYMBOL] else node.name
        bases = [self.expr(base) for base in node.bases]
        decorators = [[self.expr(item), item.lineno] for item in node.decorator_list]
        for keyword in node.keywords:
            self.effect(keyword.value, found)
        scope = self.new_scope(CLASS_SCOPE, symbol, self.current, node.lineno)
        self.locals.add(node.name)
        found.append([CLASS, scope, node.name, bases, decorators])
        self.fill(scope, node.body)

    def import_statement(self, node: ast.Import, found: list[Any]) -> None:
        for alias in node.names:
            self.locals.add(alias.asname or alias.name.partition(".")[0])
            found.append([IMPORT, alias.name, alias.asname])

    def from_statement(self, node: ast.ImportFrom, found: list[Any]) -> None:
        names = [[alias.name, alias.asname or alias.name] for alias in node.names]
        self.locals.update(name for _, name in names if name != "*")
        found.append([FROM, node.module or "", node.level, names])

    def if_statement(self, node: ast.If, found: list[Any]) -> None:
        self.effect(node.test, found)
        _branch(found, [self.block(node.body), self.block(node.orelse)])

    def loop(self, node: ast.For | ast.AsyncFor, found: list[Any]) -> None:
        values = self.expr(node.iter)
        target = self.target(node.target)
        body = self.block(node.body)
        if values is not None or body:
            found.append([LOOP, target, values, body])
        found += self.block(node.orelse)

    def while_loop(self, node: ast.While, found: list[Any]) -> None:
        body: list[Any] = []
        self.effect(node.test, body)
        body += self.block(node.body)
        if body:
            found.append([LOOP, None, None, body])
        found += self.block(node.orelse)

    def try_statement(self, node: ast.Try | ast.TryStar, found: list[Any]) -> None:
        found += self.block(node.body)
        handlers: list[list[Any]] = []
        for handler in node.handlers:
            body: list[Any] = []
            if handler.name:
                self.locals.add(handler.name)
                kinds = self.expr(handler.type)
                if kinds is not None:
                    body.append([ANNOTATED, [NAME, handler.name], kinds, None])
            handlers.append(body + self.block(handler.body))
        _branch(found, [*handlers, []])
        found += self.block(node.orelse)
        found += self.block(node.finalbody)

    def with_statement(self, node: ast.With | ast.AsyncWith, found: list[Any]) -> None:
        for item in node.items:
            value = self.expr(item.context_expr)
            target = self.target(item.optional_vars) if item.optional_vars else None
            if value is not None:
                found.append([WITH, value, target, node.lineno])
        found += self.block(node.body)

    def raise_statement(self, node: ast.Raise, found: list[Any]) -> None:
        value = self.expr(node.exc)
        if value is not None:
            found.append([RAISE, value, node.lineno])
        self.effect(node.cause, found)

    def names_statement(self, node: ast.Global | ast.Nonlocal, found: list[Any]) -> None:
        where = GLOBALS if isinstance(node, ast.Global) else NONLOCALS
        record = self.scopes[self.current]
        record[where] = sorted({*record[where], *node.names})

    def match_statement(self, node: ast.Match, found: list[Any]) -> None:
        self.effect(node.subject, found)
        bodies: list[list[Any]] = []
        for case in node.cases:
            body: list[Any] = []
            for inner in ast.walk(case.pattern):
                name = getattr(inner, "name", None) or getattr(inner, "rest", None)
                if isinstance(name, str):
                    self.locals.add(name)
            self.effect(case.guard, body)
            bodies.append(body + self.block(case.body))
        _branch(found, [*bodies, []])

    def effects_statement(self, node: ast.Assert, found: list[Any]) -> None:
        self.effect(node.test, found)
        self.effect(node.msg, found)

    # -- expressions

    def target(self, node: ast.expr) -> Expression:
        if isinstance(node, ast.Name):
            self.locals.add(node.id)
            return [NAME, node.id]
        if isinstance(node, (ast.Tuple, ast.List)):
            return [TUPLE, [self.target(item) for item in node.elts]]
        if isinstance(node, ast.Starred):
            return [STAR, self.target(node.value), self.site()]
        if isinstance(node, ast.Attribute):
            self.stored.add(node.attr)
        return self.expr(node)

    def expr(self, node: ast.expr | None) -> Expression:
        method = _EXPRESSIONS.get(type(node))
        return method(self, node) if method is not None else None

    def name(self, node: ast.Name) -> Expression:
        return [NAME, node.id]

    def constant(self, node: ast.Constant) -> Expression:
        value = node.value
        if isinstance(value, str):
            return [CONST, value] if len(value) <= MAX_ITEMS else [STRING]
        return [CONST, value] if isinstance(value, int) and abs(value) < 1 << 31 else None

    def attribute(self, node: ast.Attribute) -> Expression:
        value = self.expr(node.value)
        return [ATTR, value, node.attr, node.lineno]

    def call(self, node: ast.Call) -> Expression:
        args = [self.expr(arg) for arg in node.args]
        while args and args[-1] is None:
            args.pop()
        keywords: list[Any] = []
        for keyword in node.keywords:
            value = self.expr(keyword.value)
            if value is not None:
                keywords.append([keyword.arg, value])
        return [CALL, self.expr(node.func), args, keywords, node.lineno]

    def lambda_expression(self, node: ast.Lambda) -> Expression:
        outer = self.scopes[self.current]
        number = self.lambdas[self.current] = self.lambdas.get(self.current, 0) + 1
        prefix = f"{outer[SYMBOL]}." if outer[SYMBOL] else ""
        defaults, _ = self.arguments(node.args)
        scope = self.new_scope(LAMBDA, f"{prefix}<lambda{number}>", self.current, node.lineno)
        _set_params(self.scopes[scope], node.args)
        outer_scope, outer_locals = self.current, self.locals
        self.current = scope
        record = self.scopes[scope]
        names = [*record[PARAMS], *record[KWONLY], record[VARARG], record[KWARG]]
        self.locals = {name for name in names if name}
        value = self.expr(node.body)
        record[BODY] = [] if value is None else [[RETURN, value]]
        record[LOCALS] = sorted(self.locals)
        self.current, self.locals = outer_scope, outer_locals
        return [SCOPE, scope, defaults]

    def sequence(self, node: ast.List | ast.Tuple | ast.Set) -> Expression:
        kind = {ast.List: LIST, ast.Tuple: TUPLE, ast.Set: SET}[type(node)]
        if len(node.elts) > MAX_ITEMS:
            return _effect([self.expr(item) for item in node.elts]) or [kind, [], self.site()]
        return [kind, [self.expr(item) for item in node.elts], self.site()]

    def dictionary(self, node: ast.Dict) -> Expression:
        if len(node.keys) > MAX_ITEMS:
            values = [item for value in node.values if (item := self.expr(value)) is not None]
            kept = [[None, value] for value in values if value[0] not in (CONST, STRING)]
            return [DICT, kept, self.site()]
        pairs = [
            [[STAR] if key is None else self.expr(key), self.expr(value)]
            for key, value in zip(node.keys, node.values, strict=True)
        ]
        return [DICT, pairs, self.site()]

    def subscript(self, node: ast.Subscript) -> Expression:
        value = self.expr(node.value)
        if isinstance(node.slice, ast.Slice):
            bounds = [self.expr(part) for part in (node.slice.lower, node.slice.upper)]
            return None if value is None else [SLICE, value, *bounds, self.site()]
        key = self.expr(node.slice)
        if value is None:
            return _effect([key])
        return [ITEM, value, key, node.lineno]

    def conditional(self, node: ast.IfExp) -> Expression:
        test = _effect([self.expr(node.test)])
        return _union(
            [part for part in (self.expr(node.body), self.expr(node.orelse), test) if part]
        )

    def boolean(self, node: ast.BoolOp) -> Expression:
        return _union([part for value in node.values if (part := self.expr(value))])

    def binary(self, node: ast.BinOp) -> Expression:
        left, right = self.expr(node.left), self.expr(node.right)
        if left is None and right is None:
            return None
        if isinstance(node.op, ast.Mod) and left is not None and left[0] in (CONST, STRING):
            effect = _effect([right])
            return [STRING] if effect is None else [UNION, [[STRING], effect]]
        return [CONCAT, left, right]

    def operation(self, node: ast.expr) -> Expression:
        parts = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
        return _effect([self.expr(part) for part in parts])

    def joined(self, node: ast.JoinedStr) -> Expression:
        effect = _effect(
            [
                self.expr(getattr(part, "value", None))
                for part in node.values
                if isinstance(part, ast.FormattedValue)
            ]
        )
        return [STRING] if effect is None else [UNION, [[STRING], effect]]

    def yield_expression(self, node: ast.Yield | ast.YieldFrom) -> Expression:
        self.scopes[self.current][FLAGS] |= GENERATOR
        value = self.expr(node.value)
        return [YIELD_ALL if isinstance(node, ast.YieldFrom) else YIELD, value]

    def await_expression(self, node: ast.Await) -> Expression:
        return self.expr(node.value)

    def comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
    ) -> Expression:
        loops: list[Any] = []
        for loop in node.generators:
            values = self.expr(loop.iter)
            target = self.target(loop.target)
            loops.append([target, values, _effect([self.expr(test) for test in loop.ifs])])
        if isinstance(node, ast.DictComp):
            parts = [DICT, loops, self.expr(node.value), self.expr(node.key)]
        else:
            parts = [LIST, loops, self.expr(node.elt), None]
        return [COMPREHENSION, *parts, self.site()]

    def walrus(self, node: ast.NamedExpr) -> Expression:
        value = self.expr(node.value)
        return [WALRUS, self.target(node.target), value]

    def starred(self, node: ast.Starred) -> Expression:
        return [STAR, self.expr(node.value)]


def _set_params(record: list[Any], args: ast.arguments) -> None:
    record[PARAMS] = [arg.arg for arg in (*args.posonlyargs, *args.args)]
    record[VARARG] = args.vararg.arg if args.vararg else None
    record[KWONLY] = [arg.arg for arg in args.kwonlyargs]
    record[KWARG] = args.kwarg.arg if args.kwarg else None


def _decorator_flag(node: ast.expr) -> int:
    """What the decorators that Python itself has make of a function."""
    if isinstance(node, ast.Name):
        return {
            "staticmethod": STATIC,
            "classmethod": CLASSMETHOD,
            "property": PROPERTY,
            "cached_property": PROPERTY,
        }.get(node.id, 0)
    if isinstance(node, ast.Attribute):
        # `@name.setter`; `abc.abstractproperty` and the like stay decorators.
        return PROPERTY if node.attr in ("setter", "getter", "deleter", "cached_property") else 0
    return 0


def _branch(found: list[Any], bodies: list[list[Any]]) -> None:
    if any(bodies):
        found.append([BRANCH, bodies])


def _union(parts: list[Any]) -> Expression:
    return parts[0] if len(parts) == 1 else [UNION, parts] if parts else None


def _effect(parts: list[Expression]) -> Expression:
    kept = [part for part in parts if part is not None and part[0] not in (NAME, CONST, STRING)]
    return [EFFECT, kept] if kept else None


_STATEMENTS: dict[type, Any] = {
    ast.Assign: _Compiler.assign,
    ast.AugAssign: _Compiler.aug_assign,
    ast.AnnAssign: _Compiler.ann_assign,
    ast.Expr: _Compiler.expr_statement,
    ast.Return: _Compiler.return_statement,
    ast.FunctionDef: _Compiler.definition,
    ast.AsyncFunctionDef: _Compiler.definition,
    ast.ClassDef: _Compiler.class_definition,
    ast.Import: _Compiler.import_statement,
    ast.ImportFrom: _Compiler.from_statement,
    ast.If: _Compiler.if_statement,
    ast.For: _Compiler.loop,
    ast.AsyncFor: _Compiler.loop,
    ast.While: _Compiler.while_loop,
    ast.Try: _Compiler.try_statement,
    ast.TryStar: _Compiler.try_statement,
    ast.With: _Compiler.with_statement,
    ast.AsyncWith: _Compiler.with_statement,
    ast.Raise: _Compiler.raise_statement,
    ast.Global: _Compiler.names_statement,
    ast.Nonlocal: _Compiler.names_statement,
    ast.Match: _Compiler.match_statement,
    ast.Assert: _Compiler.effects_statement,
}
_EXPRESSIONS: dict[type, Any] = {
    ast.Name: _Compiler.name,
    ast.Constant: _Compiler.constant,
    ast.Attribute: _Compiler.attribute,
    ast.Call: _Compiler.call,
    ast.Lambda: _Compiler.lambda_expression,
    ast.List: _Compiler.sequence,
    ast.Tuple: _Compiler.sequence,
    ast.Set: _Compiler.sequence,
    ast.Dict: _Compiler.dictionary,
    ast.Subscript: _Compiler.subscript,
    ast.IfExp: _Compiler.conditional,
    ast.BoolOp: _Compiler.boolean,
    ast.BinOp: _Compiler.binary,
    ast.UnaryOp: _Compiler.operation,
    ast.Compare: _Compiler.operation,
    ast.JoinedStr: _Compiler.joined,
    ast.Yield: _Compiler.yield_expression,
    ast.YieldFrom: _Compiler.yield_expression,
    ast.Await: _Compiler.await_expression,
    ast.ListComp: _Compiler.comprehension,
    ast.SetComp: _Compiler.comprehension,
    ast.GeneratorExp: _Compiler.comprehension,
    ast.DictComp: _Compiler.comprehension,
    ast.NamedExpr: _Compiler.walrus,
    ast.Starred: _Compiler.starred,
}
