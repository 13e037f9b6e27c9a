"""Dialogs: a text with choices, and a few fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, Label, OptionList, Static
from textual.widgets.option_list import Option

from .lines import Lines
from .text import line_of


@dataclass(frozen=True)
class Answered:
    """What was chosen.

    Attributes:
        choice: the id of the choice.
        text: what was typed beside it.
    """

    choice: str
    text: str = ""


class ChoiceDialog(ModalScreen[Answered | None]):
    """Shows a text and asks for one of several choices; Escape answers nothing.

    Args:
        title: one line.
        body: what it is about; scrolls.
        choices: id and label of each, the first one selected.
        takes_text: offer a field for words beside the choice.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss_it", "Close"),
        Binding("pageup", "scroll(-1)", show=False, priority=True),
        Binding("pagedown", "scroll(1)", show=False, priority=True),
    ]

    def __init__(
        self,
        title: str,
        body: Sequence[Text],
        choices: Mapping[str, str],
        *,
        takes_text: bool = False,
    ) -> None:
        super().__init__()
        self._title = title
        self._body = body
        self._choices = choices
        self._takes_text = takes_text

    def compose(self) -> ComposeResult:
        """The parts."""
        with Vertical(classes="dialog"):
            yield Static(line_of(self._title), classes="title")
            with VerticalScroll(id="body", can_focus=False):
                yield Static(Text("\n").join(self._body))
            if self._takes_text:
                yield Input(placeholder="words beside the answer", compact=True)
            yield Lines(
                *(Option(line_of(label), id=name) for name, label in self._choices.items()),
                compact=True,
            )
            yield Label("Enter answers   PgUp PgDn scroll   Esc closes", classes="hint")

    def on_mount(self) -> None:
        """The choices have the keyboard."""
        self.query_one(Lines).focus()

    @on(OptionList.OptionSelected)
    def _choose(self, event: OptionList.OptionSelected) -> None:
        text = self.query_one(Input).value if self._takes_text else ""
        self.dismiss(Answered(event.option_id or "", text))

    @on(Input.Submitted)
    def _submit(self) -> None:
        self.query_one(Lines).focus()

    def action_dismiss_it(self) -> None:
        """Close it without an answer."""
        self.dismiss(None)

    def action_scroll(self, pages: int) -> None:
        """Scroll the text."""
        body = self.query_one("#body", VerticalScroll)
        body.scroll_relative(y=pages * max(1, body.size.height - 1), animate=False)


@dataclass(frozen=True)
class Field:
    """A field of a form.

    Attributes:
        label: what stands before it.
        value: what it has at first.
        hint: what stands in it while it is empty.
    """

    label: str
    value: str = ""
    hint: str = ""


class FieldsDialog(ModalScreen[dict[str, str] | None]):
    """Asks for a few values; Enter in any field takes them, Escape does not.

    Args:
        title: one line.
        fields: by name.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss_it", "Close"),
        Binding("up", "app.focus_previous", show=False),
        Binding("down", "app.focus_next", show=False),
    ]

    def __init__(self, title: str, fields: Mapping[str, Field]) -> None:
        super().__init__()
        self._title = title
        self._fields = fields

    def compose(self) -> ComposeResult:
        """The parts."""
        with Vertical(classes="dialog"):
            yield Static(line_of(self._title), classes="title")
            for name, field in self._fields.items():
                with Horizontal(classes="field"):
                    yield Label(line_of(field.label))
                    yield Input(field.value, placeholder=field.hint, id=name, compact=True)
            yield Label("Enter takes them   Tab next   Esc closes", classes="hint")

    @on(Input.Submitted)
    def _submit(self) -> None:
        inputs = self.query(Input)
        self.dismiss({field.id or "": field.value.strip() for field in inputs})

    def action_dismiss_it(self) -> None:
        """Close it without values."""
        self.dismiss(None)
