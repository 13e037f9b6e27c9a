"""The plugins of this environment: scanned, selected by name, loaded one at a time."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from .. import __version__
from ..config.files import read_plugin_settings
from ..errors import PluginError, UsageError
from .conflicts import Offer, settle_names
from .hints import Hints, read_hints
from .inspection import DistributionPlugins
from .kinds import CALLED_ALL, KINDS, Kind, normalised
from .record import PluginRecord
from .scan import scan_distributions
from .standard_names import SANDBOXES_TO_TRY
from .switches import Switches

if TYPE_CHECKING:
    from pathlib import Path

    from ..config.sources import Settings
    from .detect import DetectedGoal


class Catalog:
    """The installed plugins, their names, and whether they can be used.

    Nothing is imported before `load`; metadata and manifests are read for the kinds asked for.
    A catalog belongs to one command or run: it does not see what is installed after `scan`.

    Example:
        >>> catalog = Catalog.scan()
        >>> catalog.find("store", "files").dist
        'retrai-core'
    """

    def __init__(
        self,
        distributions: Sequence[DistributionPlugins],
        pins: Mapping[str, str],
        hints: Hints,
    ) -> None:
        self._distributions = distributions
        self._hints = hints
        self._pins = {name: normalised(dist) for name, dist in pins.items()}
        self._loading: tuple[PluginRecord, float] | None = None
        self._by_kind: dict[Kind, list[PluginRecord]] = {}
        self._contested: dict[Offer, list[PluginRecord]] = {}

    @classmethod
    def scan(
        cls,
        *,
        disabled: Iterable[str] | Mapping[str, str] = (),
        pins: Mapping[str, str] | None = None,
        paths: Sequence[str] | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> Catalog:
        """Read what is installed; imports no plugin and raises nothing for a broken one.

        Args:
            disabled: distributions, entry-point names or `name@dist` not to use, beside those of
                `RETRAI_DISABLE_PLUGINS`; by each name the file that says so, where that is known.
            pins: the distribution to take where several offer one name: `{name: distribution}`.
            paths: the folders to look in; what an import would use when left out.
            environ: the environment variables; the process's own when left out.
        """
        switches = Switches.read(os.environ if environ is None else environ, disabled=disabled)
        found = scan_distributions(paths)
        plugins = [DistributionPlugins(dist, switches, __version__, paths) for dist in found]
        return cls(plugins, pins or {}, read_hints(dist.entry_points for dist in found))

    @classmethod
    def configured(cls, project: str | os.PathLike[str] = ".") -> Catalog:
        """Scan with what the user's and the project's configuration say about plugins.

        Raises:
            UsageError: a configuration file that names plugins cannot be read.
        """
        settings = read_plugin_settings(project)
        return cls.scan(disabled=settings.disabled, pins=settings.pins)

    @classmethod
    def of(cls, settings: Settings) -> Catalog:
        """Scan as a merged configuration wants it."""
        config, origins = settings.config, settings.origins
        disabled = {
            name: origins.get(f"disabled_plugins.{name}", "") for name in config.disabled_plugins
        }
        return cls.scan(pins=config.pins, disabled=disabled)

    def records(self, kind: Kind | None = None) -> list[PluginRecord]:
        """The records of one kind or all, sorted by name, kind and distribution.

        These are the catalog's own: loading a plugin changes its record.
        """
        if kind is not None:
            return list(self._of_kind(kind))
        return sorted((record for each in KINDS for record in self._of_kind(each)), key=_order)

    def names(self, kind: Kind | None = None) -> list[tuple[str, str]]:
        """Name and distribution of each plugin that is not switched off, for TAB.

        From the entry points alone: whether a plugin can be used is its record's to say.
        """
        return [
            (name, dist.found.name) for dist in self._distributions for name in dist.names(kind)
        ]

    def matching(self, name: str, kind: Kind | None = None) -> list[PluginRecord]:
        """Every record that `name` or `name@dist` may mean, usable or not."""
        records = self.records(kind)
        exact = [record for record in records if record.name == name]
        if exact:
            return exact
        entry, at, dist = name.rpartition("@")
        wanted = normalised(dist)
        return [r for r in records if at and r.name == entry and normalised(r.dist) == wanted]

    def find(self, kind: Kind, name: str, parent: str = "") -> PluginRecord:
        """The plugin of this kind that `name` or `name@dist` means; it may still fail to load.

        Of frontends, those that are a part of the command `parent` are looked through.

        Raises:
            UsageError: nothing has this name; the hint says the nearest one and where the list is.
            PluginError: it is blocked or incompatible, or several distributions offer it.
        """
        matching = self.matching(name, kind)
        if kind == "frontend":
            matching = [record for record in matching if record.parent == parent]
        if not matching:
            raise self.unknown(name, kind)
        pinned = self._pins.get(name)
        if pinned and not any(normalised(record.dist) == pinned for record in matching):
            raise UsageError(
                f"the {kind} `{name}` is pinned to {pinned}, which does not offer it",
                hint=f"offered by {', '.join(record.dist for record in matching)}",
            )
        rivals = self._contested.get((kind, name, parent))
        if rivals:
            raise PluginError(
                f"the {kind} `{name}` is offered by {' and '.join(r.dist for r in rivals)}",
                hint=f"write `{rivals[0].full_name}`, or pin one of them in the configuration",
            )
        usable = [record for record in matching if record.is_usable]
        if usable:
            return usable[0]
        # A broken one is handed out: loading it says what is wrong, and `show` explains it.
        broken = [record for record in matching if record.status == "broken"]
        if broken:
            return broken[0]
        raise matching[0].problem()

    def why_without(self, kind: Kind, names: Iterable[str]) -> list[str]:
        """Why none of these can be used: a line for each reason, with the names that it is of."""
        of_reason: dict[str, list[str]] = {}
        for name in names:
            found = self.matching(name, kind)
            why = f"{found[0].dist} is {found[0].status}: {found[0].error}" if found else ""
            of_reason.setdefault(why or "not installed", []).append(name)
        return [f"{', '.join(of_reason[why])} ({why})" for why in of_reason]

    def load(self, record: PluginRecord) -> object:
        """Import the plugin and return the object behind its entry point.

        The record's status, load time and error say what became of it.

        Raises:
            PluginError: it cannot be used; names the plugin, its distribution, what happened and
                the command that fixes it.
        """
        from .registry import load_plugin  # stevedore is for those who load

        self._loading = (record, time.monotonic())
        try:
            return load_plugin(record)
        finally:
            self._loading = None

    @property
    def loading(self) -> tuple[PluginRecord, float] | None:
        """What another thread is importing right now, and for how many seconds."""
        now = self._loading
        return None if now is None else (now[0], time.monotonic() - now[1])

    def provider_for(self, model: str, *, loads: bool = True) -> PluginRecord:
        """The provider that serves `model`, by the manifests' patterns.

        Args:
            model: its name.
            loads: import providers without a manifest, which only then say what they serve.

        Raises:
            UsageError: no provider serves it.
            PluginError: two serve it equally well, or the only one that does is switched off.
        """
        from .providers import choose_provider, provider_that_is_off

        usable = [record for record in self.records("llm") if record.is_usable]
        for record in usable:
            if loads and record.entry is None:
                # Without a manifest only the class knows its patterns.
                try:
                    self.load(record)
                except PluginError:
                    continue  # the record says why; another provider may serve the model
        try:
            return choose_provider((record for record in usable if record.is_usable), model)
        except UsageError as error:
            off = provider_that_is_off(self.records("llm"), model)
            if off is None:
                raise
            raise off.problem() from error

    def of_distribution(self, name: str, kind: Kind | None = None) -> list[PluginRecord]:
        """The plugins that a distribution brings, by its name however that is spelt."""
        wanted = normalised(name)
        return [record for record in self.records(kind) if normalised(record.dist) == wanted]

    def detect(self, project: Path) -> list[DetectedGoal]:
        """The goals that `project` shows a marker of, the lowest priority first; imports none."""
        from .detect import detect_goals

        usable = (record for record in self.records("goal") if record.is_usable)
        return detect_goals(usable, project)

    def installable_for(self, project: Path) -> list[str]:
        """Distributions not installed that offer goals for what lies at the project's root."""
        installed = {dist.found.name for dist in self._distributions}
        brings = {
            self._hints.markers[name] for name in self._hints.markers if (project / name).exists()
        }
        return sorted(brings - installed)

    def brings(self, name: str, kind: Kind | None) -> str:
        """The distribution, not installed, that would bring this plugin; empty when none is known.

        Args:
            name: the plugin's.
            kind: its kind; None for any.
        """
        installed = {dist.found.name for dist in self._distributions}
        kinds = self._hints.plugins if kind is None else (kind,)
        known = (self._hints.plugins.get(one, {}).get(name, "") for one in kinds)
        return next((dist for dist in known if dist and dist not in installed), "")

    def no_goal_for(self, project: Path, command: str = "retrai run GOAL") -> UsageError:
        """The error that says that no installed goal fits, and what to install or to type.

        Args:
            project: the project's folder.
            command: the one that names a goal.
        """
        from .detect import detect_goals, marker_examples

        goals = self.records("goal")
        if not goals:
            return UsageError("no goal is installed", hint="`pip install retrai-goals-python`")
        usable = [record for record in goals if record.is_usable]
        off = [record for record in goals if not record.is_usable]
        fitting = [hit.record for hit in detect_goals(off, project)]
        if fitting or not usable:
            first = (fitting or goals)[0].problem()
            return UsageError(f"no installed goal can be used: {first.message}", hint=first.hint)
        if brings := " ".join(self.installable_for(project)):
            hint = f"`pip install {brings}` brings goals for what lies there"
        else:
            found_by = ", ".join(f"{file} ({name})" for file, name in marker_examples(usable))
            or_add = f", or add a file that one is found by: {found_by}" if found_by else ""
            names = ", ".join(record.name for record in usable)
            hint = f"name one, as in `{command}`{or_add}; installed: {names}"
        return UsageError(f"no installed goal fits {project}", hint=hint)

    def unknown(
        self, name: str, kind: Kind | None = None, others: Iterable[str] = ()
    ) -> UsageError:
        """The error that says that no plugin has this name, which is nearest, and where all are.

        `others` are names beside the plugins' that would be known too.
        """
        import difflib

        names = sorted({*others, *(record.name for record in self.records(kind))})
        near = difflib.get_close_matches(name, names, n=1)
        first = f"did you mean `{near[0]}`? " if near else ""
        if brings := self.brings(name, kind):
            first = f"`pip install {brings}` brings it; "
        elif kind == "sandbox" and name in SANDBOXES_TO_TRY:
            first = f"`pip install retrai-sandbox-{name}` brings it; "
        elif kind == "goal" and os.path.exists(name):
            first = "a project is named by `-C DIR`, its tests by `--option targets=PATH`; "
        listed = f"plugins list{f' --kind {kind}' if kind else ''}"
        listed = f"{kind}s list" if kind in ("agent", "goal", "tool") else listed
        return UsageError(
            f"no {kind or 'plugin'} is called `{name}`",
            hint=f"{first}`retrai {listed}` shows all",
        )

    def _of_kind(self, kind: Kind) -> list[PluginRecord]:
        if kind not in self._by_kind:
            found = [
                record
                for dist in self._distributions
                if kind in dist.kinds
                for record in dist.records()
                if record.kind == kind
            ]
            self._by_kind[kind] = sorted(found, key=_order)
            if kind == "frontend":
                from .own_commands import judge_commands  # for listings and for those who run one

                judge_commands(self._by_kind[kind])
            if kind not in CALLED_ALL:
                self._contested |= settle_names(self._by_kind[kind], self._pins)
        return self._by_kind[kind]


def _order(record: PluginRecord) -> tuple[str, str, str, str]:
    return (record.name, record.kind, record.dist, record.version)
