"""The contract of frontends."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar

import click
from click.testing import CliRunner

from retrai_core import RetraiError
from retrai_core.plugins.kinds import Kind

from ..footprint import Footprint
from ..overriding import NotApplicable
from .clear_errors import require_clear_error
from .plugin import PluginConformance, required

_COMMAND_NAME = re.compile(r"[a-z][a-z0-9-]*")


class FrontendConformance(PluginConformance):
    """The contract of a frontend, as tests: inherit it and name the class.

    Attributes:
        bad_arguments: command lines that the command must refuse with one clear line.

    Example:
        >>> from retrai_core import Frontend
        >>> class Hello(Frontend):
        ...     name = "hello"
        ...     summary = "say hello"
        ...     def command(self):
        ...         @click.command("hello")
        ...         def hello():
        ...             "Say hello."
        ...             click.echo("hello")
        ...         return hello
        >>> class TestHello(FrontendConformance):
        ...     plugin = Hello
        ...     bad_arguments = NotApplicable("it takes no arguments")
        >>> TestHello().test_its_help_is_complete()
    """

    kind: ClassVar[Kind] = "frontend"
    bad_arguments: Sequence[Sequence[str]] | NotApplicable | None = None

    def test_it_gives_a_command_of_its_name(self) -> None:
        """`command` gives a click command that is called like the frontend, a new one each time."""
        frontend = self.plugin()
        command = frontend.command()
        assert isinstance(command, click.Command)
        assert command.name == self.plugin.name
        assert _COMMAND_NAME.fullmatch(command.name or ""), "small letters, digits and hyphens"
        assert self.plugin().command() is not command, "two frontends share one command"

    def test_somebody_can_type_it(self) -> None:
        """Its `parent` is a command with subcommands, and no command of retrai has its name."""
        record = self.record()
        assert record.status != "broken", record.error
        assert self.plugin.parent == record.parent, (
            f"write the manifest again: `retrai plugins manifest {record.dist}`"
        )

    def test_its_help_is_complete(self) -> None:
        """`--help` works, says what the command does, and describes every option."""
        command = self.plugin().command()
        shown = CliRunner().invoke(command, ["--help"])
        assert shown.exit_code == 0, shown.output
        assert (command.help or "").strip(), "give the command a docstring"
        silent = [
            str(option.name)
            for option in command.params
            if isinstance(option, click.Option) and not option.hidden and not option.help
        ]
        assert not silent, f"without help: {', '.join(silent)}"

    def test_an_unknown_option_is_a_usage_error(self) -> None:
        """What the command does not know ends it with exit code 2, and a line that says so."""
        refused = CliRunner().invoke(self.plugin().command(), ["--no-such-option"])
        assert refused.exit_code == 2, f"exit code {refused.exit_code}: {refused.output}"
        assert "--no-such-option" in refused.output

    def test_bad_arguments_are_refused_in_one_line(self) -> None:
        """A command line that cannot be met: a click or retrai error, never another exception."""
        for line in required(self.bad_arguments, "give `bad_arguments`: lines to refuse"):
            done = CliRunner().invoke(self.plugin().command(), list(line))
            assert done.exit_code != 0, f"{list(line)} was taken"
            if isinstance(done.exception, RetraiError):
                require_clear_error(done.exception)
            else:
                assert isinstance(done.exception, SystemExit), (
                    f"{list(line)} raises {done.exception!r}"
                )

    def test_showing_help_changes_no_global_state(self) -> None:
        """Making the command and showing its help starts nothing and leaves nothing changed."""

        def use() -> Any:
            return CliRunner().invoke(self.plugin().command(), ["--help"])

        use()  # what is imported late is in now
        before = Footprint(self.package)
        use()
        self.require_unchanged(before.changes())
