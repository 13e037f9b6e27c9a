"""A project with a model and without a goal, for a command that asks the one about the other."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from .building import PartsStack, built, first_working
from .choosing import catalog_for, choose_model
from .contracts.context import RunContext
from .events import AgentEvent
from .guard.left_behind import clean_up_before
from .other_models import OtherModels
from .redaction.redactor import Redactor
from .settings import load_settings
from .storage.state_folder import state_dir
from .trust import require_trust
from .workspace.safe_paths import SafeWorkspace
from .workspace.temporary import temporary_prefix


@asynccontextmanager
async def open_workbench(
    project: Path,
    model: str | None = None,
    *,
    agreed: bool = False,
    attended: bool = True,
    on_event: Callable[[AgentEvent], None] | None = None,
) -> AsyncGenerator[RunContext]:
    """The context that a run of the project would have, without a goal, tools and memory.

    Args:
        project: its folder; its configuration counts as for a run.
        model: the model's name; the configured one when left out.
        agreed: the user agrees to what the configuration runs.
        attended: as `RunContext.attended`.
        on_event: hears what the parts say.

    Raises:
        UsageError: a setting is wrong, the model is not ready, no sandbox works, or nobody has
            agreed to what the configuration runs.
        PluginError: a plugin that is needed is broken.
    """
    left = await asyncio.to_thread(clean_up_before, project, state_dir())
    settings = load_settings(project, {"model": model})
    config = settings.config
    require_trust(settings, partial(catalog_for, config), agreed=agreed)
    catalog = catalog_for(config)
    with tempfile.TemporaryDirectory(prefix=temporary_prefix("retrai-bench")) as folder:
        choice = choose_model(config, Path(folder), catalog, attended=attended)
        context = RunContext(
            run_id=config.run_id,
            project=config.cwd,
            workspace=SafeWorkspace(config.cwd),
            python=choice.interpreter.path,
            run_dir=Path(folder),
            model_name=choice.config.model_name,
            plugin_options=config.plugins,
            attended=attended,
            redactor=await asyncio.to_thread(Redactor.of, config.cwd, os.environ),
        )
        if on_event is not None:
            context.on_event = on_event
        for line in left:
            context.publish("log", level="warning", message=line)
        for notice in choice.notices:
            context.publish("log", level=notice.level, message=notice.message)
        async with PartsStack() as stack:
            context.models_part = OtherModels(config, catalog, context, stack)
            context.sandbox_part = await first_working(choice, context, stack)
            context.provider_part = built(choice.provider, context, stack)
            yield context
