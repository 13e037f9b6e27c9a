"""Finding a LangChain tool by its dotted name, and making it."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, cast

from langchain_core.tools import BaseTool, BaseToolkit

from retrai_core import UsageError

from .settings import OneTool

_COMMUNITY = "langchain_community"


def load(one: OneTool) -> list[BaseTool]:
    """The tool; of a toolkit all of its tools.

    Raises:
        UsageError: nothing has that name, it cannot be made, or it is no LangChain tool.
    """
    found = _found(one.name)
    made = found
    if not isinstance(found, (BaseTool, BaseToolkit)):
        if not callable(found):
            raise UsageError(f"{one.name} is a {type(found).__name__}, no LangChain tool")
        made = _made(one, found)
    elif one.args:
        raise UsageError(f"{one.name} is made already, so it takes no `args`")
    if isinstance(made, BaseToolkit):
        return made.get_tools()
    if not isinstance(made, BaseTool):
        raise UsageError(f"{one.name} makes a {type(made).__name__}, no LangChain tool")
    return [made]


def _found(name: str) -> object:
    module_name, _, attribute = name.rpartition(".")
    try:
        return getattr(import_module(module_name), attribute)
    except ModuleNotFoundError as error:
        package = name.partition(".")[0]
        hint = f"install the package that brings {package}, beside retrai"
        if package == _COMMUNITY:
            hint = "`pip install 'retrai-tools-langchain[community]'`"
        raise UsageError(f"{name} cannot be imported: {error}", hint=hint) from error
    except AttributeError as error:
        raise UsageError(f"{module_name} has no {attribute}") from error
    except (Exception, SystemExit) as error:
        why = f"{type(error).__name__}: {error}"
        raise UsageError(f"{name} cannot be imported: {why}") from error


def _made(one: OneTool, make: object) -> object:
    try:
        return cast("Callable[..., Any]", make)(**one.args)
    except (Exception, SystemExit) as error:
        why = (str(error).strip().splitlines() or [""])[0]
        raise UsageError(
            f"{one.name} cannot be made with args {one.args}: {type(error).__name__}: {why}"
        ) from error
