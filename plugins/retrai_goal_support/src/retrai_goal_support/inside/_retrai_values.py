"""Values as texts that are equal where the values are: what a call was given and what it answered.

Used in the project's pytest and in the program that plays calls outside of it. Nothing but the
standard library is used, of Python 3.7 on.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import sys
import types
from typing import Any, Callable, Dict, List, Optional, Tuple, cast

MAX_TEXT = 400
MAX_ITEMS = 1000
"""So many items of one collection are looked at."""
MAX_DEPTH = 10
MAX_VALUES = 3000
"""Values within one value that are looked at; whatever comes after counts by its type alone."""
PLAIN = (type(None), bool, int, float, complex, str, bytes)
# For a type checker any types, since nothing more is known of what they hold.
BASES: Tuple[Any, ...] = (int, float, str, bytes)
MAPPING = cast("Any", dict)
SEQUENCES: Tuple[Any, ...] = (list, tuple, set, frozenset)
NAMED: Tuple[Any, ...] = (type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType)
BRACKETS: Dict[Any, str] = {list: "[]", tuple: "()"}
TEST_NAME = re.compile(r"(^|/)(tests?|testing)(/|$)|(^|/)(test_[^/]*|[^/]*_tests?|conftest)\.py$")
_BUILT_IN = type(object.__repr__)
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{4,}\b")

OwnFile = Callable[[str], bool]
Pairs = List[Tuple[str, Any]]
"""Arguments by the names of their parameters."""


class Values:
    """Renders values.

    Args:
        is_own: whether a file is the project's. Objects of its classes are shown by what they hold,
            so that no code of the project decides how an answer looks.
    """

    def __init__(self, is_own: OwnFile) -> None:
        self.is_own_file = is_own
        self._own_types: Dict[type, bool] = {}
        self._path: List[int] = []
        self._left = 0
        self.rendered = 0

    def text(self, value: Any) -> str:
        """One line of at most `MAX_TEXT` characters; what is longer ends in a hash of the whole."""
        self._left = MAX_VALUES
        try:
            shown = self._render(value, MAX_DEPTH)
        except Exception:  # noqa: BLE001 - any object's own code
            shown = "<%s>" % type(value).__qualname__
        self.rendered += MAX_VALUES - self._left
        if len(shown) <= MAX_TEXT:
            return shown
        digest = hashlib.sha256(shown.encode("utf-8", "surrogatepass")).hexdigest()
        return "%s... (%s)" % (shown[:MAX_TEXT], digest[:16])

    def call(self, name: str, args: List[Any], named: Dict[str, Any]) -> str:
        """A call as one would write it; equal calls have equal texts."""
        shown = [self.text(one) for one in args]
        shown += ["%s=%s" % (one, self.text(named[one])) for one in sorted(named)]
        return "%s(%s)" % (name, ", ".join(shown))

    def error(self, error: BaseException) -> str:
        """What was raised."""
        self._left = MAX_VALUES
        return "raises %s%s" % (type(error).__qualname__, self._render(error.args, 2))

    def _render(self, value: Any, depth: int) -> str:
        kind = cast("Any", type(value))
        self._left -= 1
        if kind in PLAIN:
            return repr(value)
        if depth <= 0 or self._left < 0 or id(value) in self._path:
            return "<%s>" % kind.__qualname__
        self._path.append(id(value))
        try:
            return self._compound(value, kind, depth)
        finally:
            self._path.pop()

    def _compound(self, value: Any, kind: Any, depth: int) -> str:
        if isinstance(value, BASES):
            base = next(one for one in BASES if isinstance(value, one))
            shown = "%s(%s)" % (kind.__qualname__, base.__repr__(value))
        elif isinstance(value, MAPPING):
            shown = self._pairs(value, depth)
        elif isinstance(value, SEQUENCES):
            shown = self._items(value, depth)
        elif isinstance(value, NAMED):
            name = getattr(value, "__qualname__", getattr(value, "__name__", ""))
            shown = "%s.%s" % (getattr(value, "__module__", ""), name)
        elif isinstance(value, BaseException):
            shown = "%s%s" % (kind.__qualname__, self._render(value.args, depth - 1))
        elif self._is_own(kind) or kind.__repr__ is object.__repr__:
            shown = self._object(value, depth)
        else:
            shown = _ADDRESS.sub("0x", repr(value).replace(str(id(value)), "0x"))
        return shown

    def _pairs(self, value: Any, depth: int) -> str:
        pairs: List[Tuple[Any, Any]] = list(MAPPING.items(value))
        shown = [
            "%s: %s" % (self._render(key, depth - 1), self._render(one, depth - 1))
            for key, one in pairs[:MAX_ITEMS]
        ]
        return _held_in(value, "{%s}" % _joined(shown, len(pairs)), dict)

    def _items(self, value: Any, depth: int) -> str:
        base = next(one for one in SEQUENCES if isinstance(value, one))
        items: List[Any] = list(base.__iter__(value))
        shown = [self._render(item, depth - 1) for item in items[:MAX_ITEMS]]
        if base in (set, frozenset):
            shown.sort()
        left, right = BRACKETS.get(base, "{}")
        return _held_in(value, left + _joined(shown, len(items)) + right, list, tuple, set)

    def _object(self, value: Any, depth: int) -> str:
        kind = cast("Any", type(value))
        held: Dict[str, Any] = {}
        shown: List[str] = []
        for base in kind.__mro__:
            is_value = base is complex or base.__module__ in ("decimal", "datetime")
            if is_value and isinstance(base.__dict__.get("__repr__"), _BUILT_IN):
                # The value of a number or a time is in no attribute.
                shown = shown or [base.__repr__(value)]
            slots = base.__dict__.get("__slots__", ())
            for name in (slots,) if isinstance(slots, str) else tuple(slots):
                slot = base.__dict__.get(name)
                if isinstance(slot, types.MemberDescriptorType):
                    held[name] = _slot(slot, value)
        held.update(getattr(value, "__dict__", {}))
        shown += ["%s=%s" % (one, self._render(held[one], depth - 1)) for one in sorted(held)]
        return "%s(%s)" % (kind.__qualname__, ", ".join(shown))

    def _is_own(self, kind: type) -> bool:
        known = self._own_types.get(kind)
        if known is None:
            module = sys.modules.get(kind.__module__)
            file = getattr(module, "__dict__", {}).get("__file__")
            known = isinstance(file, str) and self.is_own_file(file)
            self._own_types[kind] = known
        return known


def pairs_of(code: types.CodeType, args: List[Any], named: Dict[str, Any]) -> Pairs:
    """The arguments of a call with the names that the function gives them."""
    names = code.co_varnames[: code.co_argcount]
    pairs = [(names[at] if at < len(names) else "*", one) for at, one in enumerate(args)]
    return pairs + [(one, named[one]) for one in sorted(named)]


def changes(values: Values, pairs: Pairs, before: List[str]) -> str:
    """What a call changed in its arguments, to be added to its answer."""
    found = ""
    for (name, value), old in zip(pairs, before):
        now = values.text(value)
        if now != old:
            found += "; %s: %s" % (name, now)
    return found


def find_function(module: str, name: str, code: Optional[types.CodeType] = None) -> Optional[Any]:
    """The function of that qualified name; None where there is none, or it has other code."""
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        if isinstance(found, type):
            owners = [base.__dict__ for base in found.__mro__]
            found = next((held[part] for held in owners if part in held), None)
        elif isinstance(found, types.ModuleType):
            # What stands for a module may have its names from elsewhere.
            found = found.__dict__.get(part) or getattr(found, part, None)
        else:
            return None
    found = getattr(found, "fget", None) or getattr(found, "__func__", found)
    if not isinstance(found, types.FunctionType):
        return None
    return found if code is None or found.__code__ is code else None


def own_files(root: str) -> OwnFile:
    """Whether a file lies below `root` and in no environment there; answers are kept."""
    base = os.path.realpath(root) + os.sep
    prefixes = [os.path.realpath(prefix) + os.sep for prefix in (sys.prefix, sys.exec_prefix)]
    environments = tuple(prefix for prefix in prefixes if prefix.startswith(base))

    @functools.lru_cache(maxsize=None)
    def is_own(file: str) -> bool:
        real = "" if file[:1] == "<" else os.path.realpath(file)
        is_below = real.startswith(base) and not real.startswith(environments)
        return is_below and "site-packages" not in real

    return is_own


def _slot(slot: Any, value: Any) -> Any:
    try:
        return slot.__get__(value)
    except AttributeError:  # not set
        return None


def _held_in(value: Any, items: str, *plain: type) -> str:
    kind = cast("Any", type(value))
    return items if kind in plain else "%s(%s)" % (kind.__qualname__, items)


def _joined(shown: List[str], count: int) -> str:
    return ", ".join([*shown, "... %d" % count] if count > len(shown) else shown)
