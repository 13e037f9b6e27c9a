"""The type arguments of a plugin's class: its models of arguments and options."""

from __future__ import annotations

from typing import Any, ClassVar, get_args, get_origin

from pydantic import BaseModel
from typing_extensions import TypeVar

OptionsT = TypeVar("OptionsT", bound=BaseModel, default=Any)
"""The model of a plugin's options; a contract without brackets leaves it open."""


class TakesModels:
    """Base of the contracts: `Tool[CountArgs, CountOptions]` sets `Args` and `Options`.

    Example:
        >>> from retrai_core import EventSink, SinkOptions
        >>> class DoneOptions(SinkOptions):
        ...     file: str
        >>> class Done(EventSink[DoneOptions]):
        ...     def on_event(self, event):
        ...         pass
        >>> Done.Options.__name__
        'DoneOptions'
    """

    _models: ClassVar[tuple[str, ...]] = ("Options",)
    """The attributes that the brackets give, in their order."""

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        for base in vars(cls).get("__orig_bases__", ()):
            origin = get_origin(base)
            if isinstance(origin, type) and issubclass(origin, TakesModels):
                for name, model in zip(cls._models, get_args(base), strict=False):
                    known = isinstance(model, type) and issubclass(model, BaseModel)
                    if known and name not in vars(cls):
                        setattr(cls, name, model)
