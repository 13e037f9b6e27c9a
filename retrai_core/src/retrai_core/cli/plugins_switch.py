"""`retrai plugins disable` and `enable`: write `disabled_plugins` in a configuration file."""

from __future__ import annotations

import errno
import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import click

from ..config_files import PROJECT_FILE, read_plugin_settings, read_text, user_config_path
from ..errors import UsageError
from ..plugins.kinds import normalised
from .completion import complete_switch
from .output import echo

_NAME = click.argument("name", shell_complete=complete_switch)
_USER = click.option("--user", "user", is_flag=True, help="In your own config.yml.")
_PROJECT = click.option("--project", "project", is_flag=True, help="In .retrai.yml, here.")


@click.command()
@_NAME
@_USER
@_PROJECT
def disable(name: str, user: bool, project: bool) -> None:
    """Do not use the plugin or distribution NAME (or NAME@DIST) from now on.

    Without --project it is off everywhere. Nothing is uninstalled, and nothing is imported.
    """
    from ..plugins.disabling import with_disabled

    _require_known(name)
    for path in _files(user or not project, project):
        text = _text_of(path)
        edited = with_disabled(text, name, str(path))
        if edited == text:
            echo(f"{name} is switched off in {path} already")
        else:
            with _own_word(path):
                _write(path, edited)
            echo(f"{name} is switched off in {path}")


@click.command()
@_NAME
@_USER
@_PROJECT
def enable(name: str, user: bool, project: bool) -> None:
    """Use the plugin or distribution NAME again.

    Without --user or --project it is switched on in both files.
    """
    from ..plugins.disabling import without_disabled

    both = not user and not project
    changed = False
    for path in _files(user or both, project or both):
        text = _text_of(path)
        edited = without_disabled(text, name, str(path))
        if edited != text:
            with _own_word(path):
                _write(path, edited)
            echo(f"{name} is switched on in {path}")
            changed = True
    if not changed:
        _require_known(name)
        echo(f"{name} is not switched off there")
    still = read_plugin_settings().disabled.get(name)
    if still:
        echo(f"it is still switched off in {still}")
    elif name in os.environ.get("RETRAI_DISABLE_PLUGINS", "").split(","):
        echo("it is still switched off by RETRAI_DISABLE_PLUGINS")


@contextmanager
def _own_word(path: Path) -> Generator[None]:
    """What the user changes in a project that is trusted is the user's own word."""
    if path != Path(PROJECT_FILE):
        yield
        return
    from ..settings import load_settings
    from ..trust import agree, claims_of, is_agreed

    before = load_settings(Path())
    trusted = is_agreed(before)
    yield
    after = load_settings(Path())
    if trusted and (claims := claims_of(after)):
        agree(after.config.cwd, claims)


def _require_known(name: str) -> None:
    from ..plugins.catalog import Catalog

    catalog = Catalog.configured()
    wanted = normalised(name)
    if any(normalised(record.dist) == wanted for record in catalog.records()):
        return
    if not catalog.matching(name):
        raise catalog.unknown(name)


def _files(user: bool, project: bool) -> list[Path]:
    files = [Path(user_config_path())] if user else []
    return [*files, Path(PROJECT_FILE)] if project else files


def _text_of(path: Path) -> str:
    return read_text(str(path)) or ""


def _write(path: Path, text: str) -> None:
    """Replace the file at once, where a symlink leads; its mode stays."""
    target = path.resolve()
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        mode = target.stat().st_mode & 0o777 if target.exists() else None
        if mode is not None and not mode & 0o222:
            # A rename would succeed all the same; the owner has said no.
            raise PermissionError(errno.EACCES, "its mode allows nobody to write")
        with temporary.open("w", encoding="utf-8", newline="") as file:
            file.write(text)
        if mode is not None:
            temporary.chmod(mode)
        temporary.replace(target)
    except OSError as error:
        with suppress(OSError):  # it may not even have been made
            temporary.unlink()
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error
