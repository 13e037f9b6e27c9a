"""The subcommands of `retrai plugins`; each imports its own module only when it is run."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, ClassVar

from retrai_core import Frontend

if TYPE_CHECKING:
    import click


class _Subcommand(Frontend):
    """The command `name` in `module`."""

    parent: ClassVar[str] = "plugins"
    module: ClassVar[str]

    def command(self) -> click.Command:
        """The command."""
        return getattr(import_module(self.module, __package__), self.name)


class New(_Subcommand):
    """Writes a plugin distribution to begin with."""

    name: ClassVar[str] = "new"
    summary: ClassVar[str] = "create a distribution with a working plugin and its tests"
    needs: ClassVar[frozenset[str]] = frozenset({"write"})
    module: ClassVar[str] = ".new_command"


class ManifestCommand(_Subcommand):
    """Writes manifests from classes."""

    name: ClassVar[str] = "manifest"
    summary: ClassVar[str] = "write a package's retrai.toml from its classes"
    needs: ClassVar[frozenset[str]] = frozenset({"write"})
    module: ClassVar[str] = ".manifest_command"


class Doctor(_Subcommand):
    """Looks for what is wrong with the plugins."""

    name: ClassVar[str] = "doctor"
    summary: ClassVar[str] = "find problems and show what a run would use"
    needs: ClassVar[frozenset[str]] = frozenset({"read"})
    module: ClassVar[str] = ".doctor_command"


class Install(_Subcommand):
    """Installs distributions."""

    name: ClassVar[str] = "install"
    summary: ClassVar[str] = "install plugin distributions into this environment"
    needs: ClassVar[frozenset[str]] = frozenset({"network", "run", "write"})
    module: ClassVar[str] = ".install_command"


class Uninstall(_Subcommand):
    """Removes distributions."""

    name: ClassVar[str] = "uninstall"
    summary: ClassVar[str] = "remove plugin distributions from this environment"
    needs: ClassVar[frozenset[str]] = frozenset({"run", "write"})
    module: ClassVar[str] = ".install_command"


class Lock(_Subcommand):
    """Writes `retrai.lock`."""

    name: ClassVar[str] = "lock"
    summary: ClassVar[str] = "write retrai.lock, which pins the project's plugins"
    needs: ClassVar[frozenset[str]] = frozenset({"read", "write"})
    module: ClassVar[str] = ".lock_command"
