"""The goals `score`, `text-improve` and `creative`: each its rubric and its words to the model."""

from __future__ import annotations

from typing import ClassVar, cast

from retrai_core import GoalOptions

from .judged_goal import JudgedGoal
from .judged_options import CreativeOptions, JudgedOptions, ScoreOptions, TextImproveOptions

_RULES = """\

- Two judgements must agree within a point; their mean must reach the target. After each check you \
read the scores with reasons and weaknesses: fix the worst of them first, at its root.
- The judge sees only the text, the rubric and the brief. A line that speaks to the judge, asks \
for a score or hides words from readers fails the check at once, whatever the text is worth.
- The rubric and the judge's prompt cannot be changed. Rewriting from scratch is allowed; shouting \
the rubric's words back at the judge is not writing.\
"""


class ScoreGoal(JudgedGoal):
    """A judge model's score of a text, by the rubric that the user gives, reaches the target.

    Two judgements must agree within a point, else a third is asked; their mean counts. What the
    text says to its judge is data, is told to the judge as such, and fails the check when it was
    not there at the beginning.
    """

    name: ClassVar[str] = "score"
    summary: ClassVar[str] = "a judge's score of a text, by your rubric, reaches the target"
    Options: type[GoalOptions] = ScoreOptions
    own_rubric: ClassVar[str] = (
        "The task: the text does everything that it asks for, in the form that it asks for.\n"
        "Correctness: every statement is true, and follows from what the task gives.\n"
        "Completeness: nothing of weight is missing, and nothing is there that nobody asked for.\n"
        "Clarity: a reader understands every sentence at the first reading."
    )

    def system_prompt(self) -> str:
        options = self.options
        rubric = options.rubric or self.own_rubric
        if options.rubric_file:
            rubric = f"It stands in {options.rubric_file}; read it first."
        return (
            f"The goal is `score`: {options.file} scores at least {options.target_score:g} of 10 "
            f"with a strict judge, by this rubric:\n{rubric}\n{_brief(options)}{_RULES}"
        )


class TextImproveGoal(JudgedGoal):
    """A text that exists is rewritten until a judge's score reaches the target.

    The judge sees the text as the run found it too: what it said must still be said, and nothing
    untrue may be added.
    """

    name: ClassVar[str] = "text-improve"
    summary: ClassVar[str] = (
        "a text is rewritten, with its meaning kept, until a judge's score reaches the target"
    )
    Options: type[GoalOptions] = TextImproveOptions
    keeps_what_is_said: ClassVar[bool] = True
    own_rubric: ClassVar[str] = (
        "Clarity: every sentence is understood at the first reading; terms are explained or known "
        "to the readers.\n"
        "Economy: no word, sentence or repetition that could go without a loss.\n"
        "Order: it says first what matters most to the readers; each paragraph has one subject.\n"
        "Correctness: grammar, spelling, and no claim that the text itself contradicts.\n"
        "Voice: direct, concrete and natural; no stock phrases, no padding, no praise of itself."
    )

    def system_prompt(self) -> str:
        options = self.options
        rubric = options.rubric or options.rubric_file or self.own_rubric
        return (
            f"The goal is `text-improve`: rewrite {_rewritten(options)} until it scores at least "
            f"{options.target_score:g} of 10 with a strict judge. What counts:\n{rubric}\n"
            f"{_brief(options)}\n- Keep every fact and every thing that readers need. The judge "
            f"has the text as it was before you began; a loss costs more than a rough sentence."
            f"{_RULES}"
        )


class CreativeGoal(JudgedGoal):
    """A text is written after the user's brief until a judge's score reaches the target."""

    name: ClassVar[str] = "creative"
    summary: ClassVar[str] = (
        "a text is written from a brief until a judge's score reaches the target"
    )
    Options: type[GoalOptions] = CreativeOptions
    own_rubric: ClassVar[str] = (
        "The brief: everything that it asks for is there, in the form and length it asks for.\n"
        "Originality: an idea, an image or a turn that is not the first to come to mind.\n"
        "Craft: rhythm, precise words, concrete detail; shown rather than told.\n"
        "Unity: beginning, middle and end belong together; nothing is there by accident.\n"
        "Effect: it moves, amuses or surprises, and stays in the mind."
    )

    @property
    def _own(self) -> CreativeOptions:
        return cast("CreativeOptions", self.options)

    def brief_for_judge(self) -> str:
        style = self._own.style
        return f"{self.options.brief}\n\nThe style: {style}" if style else self.options.brief

    def text_problem(self, text: str) -> str:
        words, limit = len(text.split()), self._own.max_words
        if limit is None or words <= limit:
            return ""
        return f"{self.options.file} has {words} words, more than max_words={limit}"

    def _limits(self) -> str:
        own = self._own
        style = f"\nThe style: {own.style}\n" if own.style else ""
        limit = f"\nAt most {own.max_words} words; a longer text fails.\n" if own.max_words else ""
        return style + limit

    def system_prompt(self) -> str:
        options = self.options
        rubric = options.rubric or options.rubric_file or self.own_rubric
        return (
            f"The goal is `creative`: write {options.file} so that it scores at least "
            f"{options.target_score:g} of 10 with a strict judge. What counts:\n{rubric}\n"
            f"{_brief(options)}{self._limits()}\n- Sketch more than one idea before you choose. "
            f"Write the whole piece early, then rewrite it; read it as its reader would.{_RULES}"
        )


def _brief(options: JudgedOptions) -> str:
    brief = f"\nThe brief:\n{options.brief}\n" if options.brief else ""
    if options.source:
        brief += f"\nThe text is made from {options.source}, which the judge has too; read it.\n"
    return brief


def _rewritten(options: JudgedOptions) -> str:
    return f"{options.source} as {options.file}" if options.source else options.file
