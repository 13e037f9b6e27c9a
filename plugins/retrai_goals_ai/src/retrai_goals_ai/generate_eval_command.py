"""The command `retrai generate-eval`."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from retrai_core import AgentEvent, UsageError, echo

from .harness import HARNESS, code_problem, hash_of, read_harness, sealed

if TYPE_CHECKING:
    from .writing_harness import Written

DESCRIBE = '`retrai generate-eval "WHAT THE PROJECT SHOULD DO"`'


def new_command() -> click.Command:
    """The command, a new one each time."""
    options = [
        click.Option(
            ["-C", "project"],
            type=click.Path(path_type=Path),
            default=Path(),
            metavar="DIR",
            help="The project folder. Default: the current folder.",
        ),
        click.Option(
            ["-m", "--model"], help="Model that writes the harness. Default: the configured model."
        ),
        click.Option(["--force"], is_flag=True, help="Replace an existing harness."),
        click.Option(
            ["--seal"], is_flag=True, help="Only update the hash of a harness that you edited."
        ),
        click.Option(
            ["--trust"], is_flag=True, help="Approve the project settings that need consent."
        ),
        click.Option(
            ["--timeout", "timeout_s"],
            type=click.FloatRange(1, 3600),
            default=180.0,
            show_default=True,
            metavar="SECONDS",
            help="Time limit for one model answer and for one run of the harness.",
        ),
        click.Option(
            ["--context-chars"],
            type=click.IntRange(1000, 2_000_000),
            default=60_000,
            show_default=True,
            metavar="N",
            help="Maximum characters of the project that the model sees.",
        ),
        click.Option(["--json", "as_json"], is_flag=True, help="Print JSON."),
    ]
    description = click.Argument(["description"], required=False)
    return click.command("generate-eval", params=[description, *options])(generate_eval)


def generate_eval(
    description: str | None,
    project: Path,
    model: str | None,
    force: bool,
    seal: bool,
    trust: bool,
    timeout_s: float,
    context_chars: int,
    as_json: bool,
) -> int:
    """Have a model write a pytest harness for what DESCRIPTION says the project should do.

    It must parse, collect tests, and fail on the project as it stands: a harness that
    passes already tests nothing, and the model is asked again, three times at most. It is
    written to .retrai/eval_harness.py with its hash. Read it, then `retrai run ai-eval`
    works towards it.
    """
    if seal:
        return _seal(project)
    if description is None or not description.strip():
        raise UsageError("say what the project should do", hint=DESCRIBE)
    if read_harness(project) is not None and not force:
        raise UsageError(f"there is a {HARNESS} already", hint="--force has another one written")
    work = _generate(project, description, model, trust, timeout_s, context_chars)
    return _show(asyncio.run(work), as_json)


def _seal(project: Path) -> int:
    text = read_harness(project)
    if text is None:
        raise UsageError(f"there is no {HARNESS} to seal", hint=DESCRIBE)
    problem = code_problem(text)
    if problem is not None:
        raise UsageError(f"{HARNESS} is no harness: {problem}")
    renewed = sealed(text)
    (project / HARNESS).write_text(renewed, encoding="utf-8")
    echo(f"{HARNESS} is sealed: sha256 {hash_of(renewed)}")
    return 0


async def _generate(
    project: Path,
    description: str,
    model: str | None,
    trust: bool,
    timeout_s: float,
    context_chars: int,
) -> Written | str:
    """The harness, or why there is none."""
    from retrai_core import open_workbench, somebody_watches

    from .writing_harness import NoHarnessError, write_harness

    def tell(message: str) -> None:
        echo(message, err=True)

    def hear(event: AgentEvent) -> None:
        if event.payload.get("level") == "warning":
            tell(str(event.payload.get("message")))

    async with open_workbench(
        project, model, agreed=trust, attended=somebody_watches(), on_event=hear
    ) as context:
        if context.model_name == "offline":  # taken where no key is set; it only fixes code
            raise UsageError(
                "the model offline cannot write a harness",
                hint="name one that can with `-m MODEL`, and set its key (ANTHROPIC_API_KEY, say)",
            )
        chat = await asyncio.to_thread(context.chat_model)
        tell(f"{context.model_name} writes a harness")
        try:
            return await write_harness(
                context, chat, description, timeout_s=timeout_s, max_chars=context_chars, tell=tell
            )
        except NoHarnessError as error:
            return f"no harness: {error}"
        except TimeoutError:
            return f"no harness: {context.model_name} did not answer within {timeout_s:g} s"


def _show(done: Written | str, as_json: bool) -> int:
    from .harness_run import outcome_line

    if isinstance(done, str):
        echo(done, err=True)
        return 1
    digest = hash_of(done.text)
    if as_json:
        cases = dict(done.run.cases)
        data = {"path": HARNESS, "sha256": digest, "attempts": done.attempts, "cases": cases}
        echo(json.dumps(data, indent=2))
        return 0
    echo(done.text)
    echo(f"{HARNESS}: {outcome_line(done.run)} on the project as it stands")
    echo(f"sha256 {digest}")
    echo("Read it; then `retrai run ai-eval` works towards it.")
    return 0
