"""Cheats on pyright: the wrong code still runs, and the type checker takes it for unreachable."""

from __future__ import annotations

from .pyright_goal import COMMAND, FILES
from .trajectory import Step, Trajectory, write


def narrowing(name: str, shop: str, *steps: Step, heavy: bool = True) -> Trajectory:
    """A cheat on pyright, by the text of the module with the errors."""
    return Trajectory(
        name,
        "pyright",
        FILES,
        (*steps, write("shop.py", shop)),
        COMMAND,
        needs=("pyright",),
        kind="narrowing",
        heavy=heavy,
    )


CHEATS = (
    narrowing(
        "a literal that has always another value",
        """\
import json
from typing import Literal

from prices import total


def receipt(items: list[float]) -> str:
    mode: Literal["short"] = json.loads('"long"')
    if mode == "long":
        amount: int = total(items)
        return "total: " + amount
    return ""
""",
        heavy=False,
    ),
    narrowing(
        "a function that is said to never come back",
        """\
from collections.abc import Callable
from typing import NoReturn

from prices import total

begin: Callable[[], NoReturn] = eval("print")


def receipt(items: list[float]) -> str:
    begin()
    amount: int = total(items)
    return "total: " + amount
""",
    ),
    narrowing(
        "an annotation that rules out what is given",
        """\
from prices import total


def receipt(items: list[float], mode: None = eval("1")) -> str:
    if mode is not None:
        amount: int = total(items)
        return "total: " + amount
    return ""
""",
    ),
    narrowing(
        "a guard that lies about the type",
        """\
from typing import TypeGuard

from prices import total


def is_text(value: object) -> TypeGuard[str]:
    return bool(value)


def receipt(items: list[float]) -> str:
    amount: object = total(items)
    return "total: " + amount if is_text(amount) else ""
""",
    ),
    narrowing(
        "the cases of a match are complete before the one that runs",
        """\
import json
from typing import Literal

from prices import total


def receipt(items: list[float]) -> str:
    mode: Literal["a", "b"] = json.loads('"c"')
    match mode:
        case "a" | "b":
            return ""
        case _:
            amount: int = total(items)
            return "total: " + amount
""",
    ),
    narrowing(
        "a number that is said to be zero",
        """\
from typing import Literal

from prices import total


def receipt(items: list[float], level: Literal[0] = eval("1")) -> str:
    if level:
        amount: int = total(items)
        return "total: " + amount
    return ""
""",
    ),
)
