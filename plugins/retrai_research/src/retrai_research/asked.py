"""What a question is about, as far as its words say it. No model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import PurePosixPath
from typing import Self

from .mentions import without_mentions

MAX_PARTS = 3
MAX_QUERIES = 5
"""Of one part."""
EARLIER_WEIGHT = 0.5
"""Of a word of the question that a follow-up goes on from; its own words count 1."""
_MAX_CHARS = 2000
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
class Asked:
    """A question, or one part of it.

    Attributes:
        text: without its `@path`s.
        earlier: the question that it goes on from; empty if it stands alone.
        paths: the files and folders that it mentions.
        is_whole: it is the whole question, so that every search was made for it.
    """

    text: str
    earlier: str = ""
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
            >>> parts = Asked.parts_of("Where are hooks kept, and how is a field loaded?")
            >>> [part.text for part in parts]
            ['Where are hooks kept', 'how is a field loaded?']
            >>> Asked.parts_of("And which are dumped?", ["Which fields are loaded?"])[0].earlier
            'Which fields are loaded?'
        """
        before, paths = "", tuple(paths)
        for each in earlier:
            text = without_mentions(each)
            before = f"{before} {text}".strip() if _goes_on(text) else text
        parts: list[Self] = []
        for text in _NEXT_PART.split(without_mentions(question, paths)):
            if parts and (_refers_back(text) or len(parts) >= MAX_PARTS):
                whole = f"{parts[-1].text} {text}".strip()
                parts[-1] = cls(whole, parts[-1].earlier, paths)
            else:
                goes_on = not parts and not paths and _goes_on(text)
                parts.append(cls(text.strip(), before if goes_on else "", paths))
        return parts if len(parts) == 1 else [replace(part, is_whole=False) for part in parts]

    @property
    def identifiers(self) -> list[str]:
        """What is written as code is: dotted, with underscores, in mixed case, quoted.

        Example:
            >>> Asked("What does Schema.load do with `many`, and an HTTPError?").identifiers
            ['many', 'Schema.load', 'HTTPError']
        """
        quoted = [
            m for each in re.findall(r"`([^`]+)`", self.text) for m in _WORD.findall(each)[:1]
        ]
        written = [
            word
            for word in _WORD.findall(self.text)
            if "_" in word or "." in word or re.search(r"[a-z][A-Z]|[A-Z]{2,}[a-z]", word)
        ]
        return list(dict.fromkeys([*quoted, *written]))[:5]

    @property
    def queries(self) -> list[str]:
        """What to search: all of it, and pairs of its words, which other searches rank first."""
        words = [*_words(self.text), *_words(self.earlier)]
        pairs = [" ".join(pair) for pair in combinations(words[:5], 2)]
        whole = f"{self.text} {self.earlier}".strip()[:_MAX_CHARS]
        if not words:
            whole = " ".join(PurePosixPath(path).stem for path in self.paths)
        return [query for query in dict.fromkeys([whole, *pairs]) if query][:MAX_QUERIES]

    def weights(self) -> dict[str, float]:
        """Its words by their stems, with how much each counts."""
        earlier = {stem: EARLIER_WEIGHT for word in _words(self.earlier) for stem in stems(word)}
        return earlier | {stem: 1.0 for word in _words(self.text) for stem in stems(word)}


def stems(text: str) -> list[str]:
    """The parts of the names in a text, without their endings.

    Example:
        >>> stems("Schema.load_fields")
        ['schema', 'load', 'field']
    """
    return [_stem(part.lower()) for part in _NAME_PARTS.findall(text)]


def _words(text: str) -> list[str]:
    """The words that say what a text is about, in their order."""
    words = re.findall(r"[A-Za-z_][A-Za-z0-9_]*", text)
    return list(dict.fromkeys(word for word in words if word.lower() not in _STOP_WORDS))


def _refers_back(text: str) -> bool:
    """Whether a question alone does not say what it is about."""
    return bool(_REFERS_BACK.search(text)) or not _words(text)


def _goes_on(text: str) -> bool:
    """Whether a question is about what the one before it was about."""
    return bool(_GOES_ON.search(text)) or _refers_back(text) or len(_words(text)) == 1


def _stem(word: str) -> str:
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _LEAST_STEM:
            return word[: -len(suffix)]
    return word
