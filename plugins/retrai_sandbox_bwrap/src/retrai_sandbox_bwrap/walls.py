"""What of the machine commands do not see, and what of that they do: decided once for a run."""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from retrai_core import RunContext

from .home import secrets_of_home, shown_of_home
from .interpreters import editable_sources, interpreter_folders, program_folder
from .kernel import controls, traces
from .options import BwrapOptions
from .owner import Owner
from .places import outermost, within

_TEMPORARY = ("/tmp", "/var/tmp", "/run")
_SYSTEM_SECRETS = (
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/krb5.keytab",
    "/etc/security/opasswd",
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ssl/private",
    "/etc/wireguard",
    "/etc/NetworkManager/system-connections",
    "/etc/rancher",
    "/var/backups",
    "/var/cache/debconf/passwords.dat",
    "/var/lib/docker",
    "/var/lib/rancher",
    "/var/spool/cron",
)
"""Readable for root alone; as root, commands run as the owner of root's files."""
_WITH_NETWORK = (
    "/run/systemd/resolve",
    "/run/resolvconf",
    "/run/NetworkManager",
    "/run/postgresql",
    "/run/mysqld",
    "/var/lib/mysql",
)
"""Where names are looked up, and where databases listen."""
_FOLDER_VARIABLES = (
    "BUN_INSTALL",
    "CARGO_HOME",
    "CONDA_PREFIX",
    "GOMODCACHE",
    "GOPATH",
    "GOROOT",
    "JAVA_HOME",
    "NVM_BIN",
    "NVM_DIR",
    "PYENV_ROOT",
    "RUSTUP_HOME",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "VIRTUAL_ENV",
)
_PATH_VARIABLES = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "PKG_CONFIG_PATH")


@dataclass(frozen=True)
class Walls:
    """What stands between commands and the machine, outside the project.

    Attributes:
        homes: the user's home folder and those where homes stand; none of a service's (`/`).
        hidden: folders that are empty for commands, outer ones first.
        shown: what is mounted there all the same, to be read.
        secrets: files and folders that are empty wherever they would be seen.
        sockets: where services listen, outside of what is hidden: a read-only mount stops no
            `connect`.
        network: what is shown where there is a network.
        controls: what of /proc is read-only, beside the processes.
        environment: folders of the interpreter that lie in the project; a copy of it has none.
    """

    homes: list[Path]
    hidden: list[Path]
    shown: list[Path]
    secrets: list[Path]
    sockets: list[Path]
    network: list[Path]
    controls: list[Path]
    environment: list[Path]

    def hide(self, path: Path) -> bool:
        """Whether `path` lies in what is hidden."""
        return any(within(path, folder) for folder in self.hidden)

    def holds_hidden(self, path: Path) -> bool:
        """Whether showing `path` would show a whole hidden folder."""
        return any(within(folder, path) for folder in (*self.hidden, *self.homes))


def build_walls(
    context: RunContext,
    options: BwrapOptions,
    environ: Mapping[str, str],
    owner: Owner | None = None,
) -> Walls:
    """Look at the machine as it is; nothing is run.

    Args:
        context: the run.
        options: what the user shows and hides.
        environ: the variables of the user.
        owner: who commands are, where that is not whoever runs retrai.
    """
    homes = _homes(environ)
    state = [state_folder(context.run_dir)]
    roots = [*homes, *(Path(folder) for folder in _TEMPORARY)]
    if owner is not None:
        # Empty but for what is mounted there, a folder can be entered on the way to that.
        folders = [*interpreter_folders(context.python), *_named_folders(environ)]
        roots.extend(owner.closed([context.project, *homes, *folders]))
    hidden = [path for path in outermost([*roots, *state]) if _is_folder(path)]
    walls = Walls(
        homes=homes,
        hidden=hidden,
        shown=[],
        secrets=[
            path
            for path in (*map(Path, _SYSTEM_SECRETS), *Path("/etc/ssh").glob("ssh_host_*_key"))
            if os.access(path, os.R_OK)
        ],
        sockets=sorted(
            {
                path
                for path in _listening()
                if not any(within(path, place) for place in _existing(options.show))
            }
        ),
        network=[path for path in map(Path, _WITH_NETWORK) if os.path.exists(path)],
        controls=controls(),
        environment=[
            path
            for path in outermost(interpreter_folders(context.python))
            if within(path, context.project) and path != context.project and os.path.isdir(path)
        ],
    )
    for home in homes:
        walls.secrets.extend(secrets_of_home(home))
    walls.secrets.extend([*traces(), *_existing(options.hide)])
    # The run's folder may stand in one that is shown; the baseline in it is not for commands.
    walls.secrets.extend(path for path in state if os.path.exists(path) and path not in hidden)
    wanted = [
        *(path for home in homes for path in shown_of_home(home)),
        *interpreter_folders(context.python),
        *editable_sources(context.python, context.project),
        *_named_folders(environ),
        *_repository(context.project),
    ]
    narrow = [
        path
        for path in wanted
        if os.path.exists(path)
        and walls.hide(path)
        and not walls.holds_hidden(path)
        and not within(path, context.project)
        # git fails at a configuration that it cannot read, not at one that is not there.
        and (owner is None or owner.may_read(path))
    ]
    walls.shown.extend(outermost([*narrow, *_existing(options.show)]))
    return walls


def places_of_program(program: str, walls: Walls, writable: Sequence[Path]) -> list[Path]:
    """What is hidden of the installation of a program that is called by its absolute path.

    Nothing of one in a folder that commands can write; what the project's own interpreter needs was
    found before the first of them.
    """
    if not os.path.isabs(program) or not walls.hide(Path(program)):
        return []
    places = interpreter_folders(program, writable)
    wanted = outermost(path for path in places if os.path.exists(path))
    return [path for path in wanted if walls.hide(path) and not walls.holds_hidden(path)]


def _homes(environ: Mapping[str, str]) -> list[Path]:
    """The user's home first, then the folders where homes stand."""
    named = [environ.get("HOME", "")]
    with suppress(KeyError):  # a container's user may have no entry
        named.append(pwd.getpwuid(os.getuid()).pw_dir)
    found: list[Path] = []
    for name in (*named, "/home", "/root"):
        path = Path(os.path.realpath(name)) if os.path.isabs(name) else None
        # `/`, `/nonexistent`, `/usr/share/...`: the homes of services, which are the system's.
        ours = path is not None and len(path.parts) > 1 and path.parts[1] not in _SYSTEM
        if path is not None and ours and _is_folder(path) and path not in found:
            found.append(path)
    return found


_SYSTEM = frozenset({"bin", "dev", "etc", "lib", "lib64", "proc", "sbin", "sys", "usr", "nix"})


def _is_folder(path: Path) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)


def state_folder(run_dir: Path) -> Path:
    """The state folder with the baselines of all runs and the signing key, or this run's alone."""
    runs = run_dir.parent
    return runs.parent if runs.name == "runs" else run_dir


def _listening() -> Iterator[Path]:
    """The sockets in the file system that somebody has bound, from /proc/net/unix (proc(5))."""
    with suppress(OSError):
        for line in Path("/proc/net/unix").read_text(errors="surrogateescape").splitlines()[1:]:
            *_, name = line.split(maxsplit=7)
            if name.startswith("/") and os.access(name, os.W_OK):
                yield Path(os.path.realpath(name))


def _existing(names: list[str]) -> list[Path]:
    paths = [Path(os.path.realpath(Path(name).expanduser())) for name in names]
    return [path for path in paths if os.path.exists(path)]


def _named_folders(environ: Mapping[str, str]) -> Iterator[Path]:
    """Folders that variables name, as commands get those variables."""
    for name in _FOLDER_VARIABLES:
        if os.path.isabs(environ.get(name, "")):
            yield Path(os.path.normpath(environ[name]))
    for name in _PATH_VARIABLES:
        for part in environ.get(name, "").split(os.pathsep):
            if os.path.isabs(part):
                folder = Path(os.path.normpath(part))
                yield program_folder(folder) if name == "PATH" else folder
                yield from map(partial(_aimed_at, folder), _links(folder) if name == "PATH" else ())


def _links(folder: Path) -> list[str]:
    try:
        return [entry.name for entry in os.scandir(folder) if os.path.islink(entry)]
    except OSError:
        return []


def _aimed_at(folder: Path, name: str) -> Path:
    """The installation of the program that a symlink leads to (`~/.local/bin/node`)."""
    return program_folder(Path(os.path.realpath(folder / name)).parent)


def _repository(project: Path) -> Iterator[Path]:
    """The repository around the project, and where a worktree's objects are kept: to be read."""
    for folder in (project, *project.parents):
        mark = folder / ".git"
        if not os.path.exists(mark):
            continue
        if folder != project:
            yield folder
        if os.path.isfile(mark):
            yield from _worktree(mark)
        return


def _worktree(mark: Path) -> Iterator[Path]:
    with suppress(OSError):
        text = mark.read_text(encoding="utf-8", errors="replace")
        place = text.partition("gitdir:")[2].strip()
        if place:
            own = Path(os.path.normpath(mark.parent / place))
            yield own
            common = (own / "commondir").read_text(encoding="utf-8", errors="replace").strip()
            yield Path(os.path.normpath(own / common))
