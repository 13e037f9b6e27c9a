"""The subcommands of `retrai plugins`; each imports its own module only when it is run."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from retrai_core import Frontend

if TYPE_CHECKING:
    import click


class New(Frontend):
    """Writes a plugin distribution to begin with."""

    name: ClassVar[str] = "new"
    parent: ClassVar[str] = "plugins"
    summary: ClassVar[str] = "create a distribution with a working plugin and its tests"
    needs: ClassVar[frozenset[str]] = frozenset({"write"})

    def command(self) -> click.Command:
        """The command."""
        from .new_command import new

        return new


class ManifestCommand(Frontend):
    """Writes manifests from classes."""

    name: ClassVar[str] = "manifest"
    parent: ClassVar[str] = "plugins"
    summary: ClassVar[str] = "write a package's retrai.toml from its classes"
    needs: ClassVar[frozenset[str]] = frozenset({"write"})

    def command(self) -> click.Command:
        """The command."""
        from .manifest_command import manifest

        return manifest


class Doctor(Frontend):
    """Looks for what is wrong with the plugins."""

    name: ClassVar[str] = "doctor"
    parent: ClassVar[str] = "plugins"
    summary: ClassVar[str] = "find problems and show what a run would use"
    needs: ClassVar[frozenset[str]] = frozenset({"read"})

    def command(self) -> click.Command:
        """The command."""
        from .doctor_command import doctor

        return doctor


class Install(Frontend):
    """Installs distributions."""

    name: ClassVar[str] = "install"
    parent: ClassVar[str] = "plugins"
    summary: ClassVar[str] = "install plugin distributions into this environment"
    needs: ClassVar[frozenset[str]] = frozenset({"network", "run", "write"})

    def command(self) -> click.Command:
        """The command."""
        from .install_command import install

        return install


class Uninstall(Frontend):
    """Removes distributions."""

    name: ClassVar[str] = "uninstall"
    parent: ClassVar[str] = "plugins"
    summary: ClassVar[str] = "remove plugin distributions from this environment"
    needs: ClassVar[frozenset[str]] = frozenset({"run", "write"})

    def command(self) -> click.Command:
        """The command."""
        from .install_command import uninstall

        return uninstall


class Lock(Frontend):
    """Writes `retrai.lock`."""

    name: ClassVar[str] = "lock"
    parent: ClassVar[str] = "plugins"
    summary: ClassVar[str] = "write retrai.lock, which pins the project's plugins"
    needs: ClassVar[frozenset[str]] = frozenset({"read", "write"})

    def command(self) -> click.Command:
        """The command."""
        from .lock_command import lock

        return lock
