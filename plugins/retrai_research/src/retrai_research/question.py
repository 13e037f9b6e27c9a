"""Reads from a question's words what it is about. No model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import PurePosixPath
from typing import Self

from .found import Relation
from .mentions import is_like_a_path, without_mentions

MAX_PARTS = 5
MAX_QUERIES = 5
"""Of one part."""
EARLIER_WEIGHT = 0.5
"""What a word of the question before counts, where a follow-up's own words count 1. Each question
before that counts half as much as the one after it."""
_MAX_CHARS = 2000
_MAX_EARLIER = 4
_CALLERS = re.compile(
    r"\b(?:who|what|which|where)\b.*\bcall(?:s|ed)?\b|\bcallers?\b", re.IGNORECASE
)
_SUBCLASSES = re.compile(
    r"\bsub-?class(?:es)?\b|\bchild class|\binherits?\b|\bderive[sd]?\b"
    r"|\bimplement(?:ors|ations) of\b|\b(?:which|what|who)\b.*\b(?:extends?|implements?)\b",
    re.IGNORECASE,
)
_EXCEPTIONS = re.compile(
    r"\b(?:which|what|all|list)\b(?:\s+\w+){0,3}?\s+exceptions\b", re.IGNORECASE
)
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*")
_NAME_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_NEXT_PART = re.compile(
    r"\?\s+(?=\w)|[,;]?\s+and\s+(?=(?:how|where|what|which|who|when|why)\b)", re.IGNORECASE
)
_GOES_ON = re.compile(r"^\W*(?:and|but|so|also|then|or|what about|how about)\b", re.IGNORECASE)
_REFERS_BACK = re.compile(r"\b(?:it|its|they|them|their)\b", re.IGNORECASE)
_SUFFIXES = (
    *("ations", "ation", "ators", "ator", "ating", "ated", "ates", "ate", "ities", "ity", "ings"),
    *("ing", "ions", "ion", "ers", "er", "ors", "or", "ies", "ied", "ed", "es", "s", "e", "y"),
)
_LEAST_STEM = 3
_STOP_WORDS = frozenset(
    """
    a about all also am an and any are as at be been between but by call called caller callers
    calling calls can code codebase could decide decides did do does done each every explain file
    files find for from function functions get gets give had happen happens has have how i if
    implement implemented implements in into is it its know made make makes me method my of on one
    or our out project show so some tell than that the their them then there these they this those
    through to under us use used uses using via was way we were what when where which while who
    whose why will with work works would you your
    """.split()  # noqa: SIM905 - as a list it would be a hundred lines
)


@dataclass(frozen=True, slots=True)
class Question:
    """A question, or one part of it.

    Attributes:
        text: without its `@path`s.
        earlier: the questions that it goes on from, the latest first; none if it stands alone.
        paths: the files and folders that it mentions.
        is_whole: it is the whole question, so that every search was made for it.
    """

    text: str
    earlier: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    is_whole: bool = True

    @classmethod
    def parts_of(
        cls, question: str, earlier: Sequence[str] = (), paths: Iterable[str] = ()
    ) -> list[Self]:
        """The parts of a question that ask for different things, in their order.

        Args:
            question: as it was asked.
            earlier: the questions of the conversation before it.
            paths: what it mentions.

        Example:
            >>> parts = Question.parts_of("Where are hooks kept, and how is a field loaded?")
            >>> [part.text for part in parts]
            ['Where are hooks kept', 'how is a field loaded?']
            >>> Question.parts_of("And which are dumped?", ["Which fields are loaded?"])[0].earlier
            ('Which fields are loaded?',)
        """
        paths = tuple(paths)
        parts: list[Self] = []
        for text in _NEXT_PART.split(without_mentions(question, paths)):
            if parts and (_refers_back(text) or len(parts) >= MAX_PARTS):
                parts[-1] = replace(parts[-1], text=f"{parts[-1].text} and {text.strip()}")
            else:
                parts.append(cls(text.strip(), paths=paths))
        if not paths and _goes_on(parts[0].text):
            parts[0] = replace(parts[0], earlier=_gone_on_from(earlier))
        return parts if len(parts) == 1 else [replace(part, is_whole=False) for part in parts]

    @property
    def identifiers(self) -> list[str]:
        """What is written as code is: dotted, with underscores, in mixed case, quoted.

        Example:
            >>> Question("What does Schema.load do with `many`, and an HTTPError?").identifiers
            ['many', 'Schema.load', 'HTTPError']
        """
        text = self._subject.replace("::", ".")
        marked = re.findall(r"`([^`]+)`", text)
        quoted = [word for each in marked for word in _WORD.findall(each)[:1]]
        written = [
            word
            for word in _WORD.findall(text)
            if "_" in word or "." in word or re.search(r"[a-z][A-Z]|[A-Z]{2,}[a-z]", word)
        ]
        named = dict.fromkeys([*quoted, *written])
        return [name for name in named if not is_like_a_path(name)][:5]

    @property
    def names(self) -> list[str]:
        """The identifiers, and words that may be names: with a capital that begins no sentence.

        Example:
            >>> Question("How does the Nested class differ from RAISE?").names
            ['Nested', 'RAISE']
        """
        words = re.findall(r"(?<![.\w@])[A-Z]\w{2,}\b(?!\.\w)", self._subject)
        first = next(iter(re.findall(r"\w+", self._subject)), "")
        capital = [
            word
            for word in words
            if word.lower() not in _STOP_WORDS and (word != first or word.isupper())
        ]
        kinds = ["Exception"] if _EXCEPTIONS.search(self.text) else []
        return list(dict.fromkeys([*self.identifiers, *capital, *kinds]))[:8]

    @property
    def relations(self) -> list[Relation]:
        """What it asks for: callers, subclasses.

        Example:
            >>> Question("Who calls load?").relations, Question("What derives from it?").relations
            (['caller'], ['subclass'])
        """
        asked: dict[Relation, Sequence[re.Pattern[str]]] = {
            "caller": [_CALLERS],
            "subclass": [_SUBCLASSES, _EXCEPTIONS],
        }
        return [
            relation
            for relation, words in asked.items()
            if any(each.search(self.text) for each in words)
        ]

    @property
    def queries(self) -> list[str]:
        """What to search: all of it, and pairs of its words, which other searches rank first."""
        texts = [self.text, *self.earlier]
        words = [word for text in texts for word in _words(text)]
        pairs = [" ".join(pair) for pair in combinations(dict.fromkeys(words[:5]), 2)]
        whole = " ".join(texts).strip()[:_MAX_CHARS]
        if not words:
            whole = " ".join(PurePosixPath(path).stem for path in self.paths)
        return [query for query in dict.fromkeys([whole, *pairs]) if query][:MAX_QUERIES]

    def weights(self) -> dict[str, float]:
        """Its words by their stems, with how much each counts."""
        found: dict[str, float] = {}
        for age, text in enumerate([self.text, *self.earlier]):
            for stem in stems(" ".join(_words(text))):
                found.setdefault(stem, EARLIER_WEIGHT**age)
        return found

    @property
    def _subject(self) -> str:
        """What says what it is about: itself, or else the question that it goes on from."""
        return self.text if _words(self.text) or not self.earlier else self.earlier[0]


def stems(text: str) -> list[str]:
    """The parts of the names in a text, without their endings.

    Example:
        >>> stems("Schema.load_fields")
        ['schema', 'load', 'field']
    """
    return [_stem(part.lower()) for part in _NAME_PARTS.findall(text)]


def _words(text: str) -> list[str]:
    """The words that say what a text is about, in their order."""
    words = re.findall(r"[A-Za-z_]\w*|(?<![\w.])[0-9]{2,}(?![\w.])", text)
    return list(dict.fromkeys(word for word in words if word.lower() not in _STOP_WORDS))


def _refers_back(text: str) -> bool:
    """Whether a question alone does not say what it is about."""
    return bool(_REFERS_BACK.search(text)) or not _words(text)


def _goes_on(text: str) -> bool:
    """Whether a question is about what the one before it was about."""
    if _GOES_ON.search(text) or _refers_back(text):
        return True
    return len(_words(text)) == 1 and not Question(text).identifiers


def _gone_on_from(earlier: Sequence[str]) -> tuple[str, ...]:
    """The last questions, back to one that stands alone; those without a word are left out."""
    found: list[str] = []
    for question in reversed(earlier):
        text = without_mentions(question)
        if _words(text):
            found.append(text)
        if not _goes_on(text):
            break
    return tuple(found[:_MAX_EARLIER])


def _stem(word: str) -> str:
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _LEAST_STEM:
            return word[: -len(suffix)]
    return word
