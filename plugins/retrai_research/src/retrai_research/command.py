"""`retrai ask`: ask a question about a project's code."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from retrai_core import UsageError

LATEST = "latest"
"""`--continue` without a run."""


@click.command()
@click.argument("question", required=False)
@click.option(
    "-C",
    "project",
    type=click.Path(path_type=Path),
    default=".",
    metavar="DIR",
    help="The project folder. Default: the current folder.",
)
@click.option("-m", "--model", help="Model name. Default: as for runs; without a key: extractive.")
@click.option(
    "-n", "--max-iterations", type=int, metavar="N", help="Maximum number of plans. Default: 10."
)
@click.option(
    "--continue",
    "continued",
    is_flag=False,
    flag_value=LATEST,
    metavar="[RUN]",
    help="Continue the conversation of a run. Default: the last one of this project.",
)
@click.option("--max-cost", metavar="USD", help="Maximum cost of the model calls.")
@click.option("--max-tokens", metavar="N", help="Maximum tokens of the model calls.")
@click.option("--max-time", metavar="S", help="Maximum duration, in seconds.")
@click.option(
    "--trust",
    is_flag=True,
    help="Approve the settings in .retrai.yml that need consent, until they change.",
)
@click.option("--verbose", is_flag=True, help="Print each node's update of the state.")
@click.option("--json", "as_json", is_flag=True, help="Print only the run record, as JSON.")
def ask(
    question: str | None,
    project: Path,
    model: str | None,
    max_iterations: int | None,
    continued: str | None,
    max_cost: str | None,
    max_tokens: str | None,
    max_time: str | None,
    trust: bool,
    verbose: bool,
    as_json: bool,
) -> int:
    """Answer QUESTION about the code in a project, with citations that are checked.

    `@path` in the question shows that file or folder to the planner. Without QUESTION, on a
    terminal, a prompt asks for one question after the other; Ctrl-D ends it. Exit codes are those
    of `retrai run`: 0 answered, 6 out of budget, 70 error, 130 interrupted; 2 is a usage error.
    """
    from .asking import AskOptions, answer_question, answer_questions

    options = AskOptions(
        project=project,
        continued=continued,
        trusts=trust,
        verbose=verbose,
        as_json=as_json,
        settings={
            "model": model,
            "max_iterations": max_iterations,
            "max_cost": max_cost,
            "max_tokens": max_tokens,
            "max_time": max_time,
        },
    )
    if question is None:
        question, options = options.question_of_continue()
    if question is not None:
        if not question.strip():
            raise UsageError("the question is empty", hint='retrai ask "How does ...?"')
        return answer_question(question, options).exit_code or 0
    if not sys.stdin.isatty() or as_json:
        raise UsageError(
            "no question is given, and there is no terminal to ask for one"
            if not as_json
            else "--json needs a question",
            hint='retrai ask "How does ...?"',
        )
    return answer_questions(options)
