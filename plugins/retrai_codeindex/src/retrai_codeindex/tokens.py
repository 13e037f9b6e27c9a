"""Code tokens: what identifiers and words become in the index, and in a query.

An identifier gives its parts, split by case and underscore and stemmed, and, if it has several
parts, also itself as a whole: `getFileName` gives `get`, `file`, `name` and `=getfilename`. A part
that is several words gives those too: `rmtree` gives `rmtree`, `rm` and `tree`.
"""

from __future__ import annotations

import re
from typing import Protocol, cast

from Stemmer import Stemmer  # pyright: ignore[reportUnknownVariableType] - it has no types

from .compounds import Words

WHOLE = "="
"""Begins the token of a whole identifier, so that it never equals a word."""
MAX_IDENTIFIER = 64
"""Longer runs of letters are data, not names."""
NUMBER_DIGITS = range(2, 7)
"""Of a number that may be asked for: a status, a port, a standard; others count or are data."""
MAX_KNOWN = 500_000
"""Identifiers that are remembered: bounded, whatever the files hold."""
_IDENTIFIER = re.compile(r"\w+")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_A-Za-z]+")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


KEYWORDS = _words(
    """
    self cls def class import from none true false this var let const function public
    private static void new if else elif for in is not and or the a an of to it
    """
)
"""Left out of the index: they stand in nearly every chunk and in nearly every question."""

QUERY_STOPS = _words(
    """
    be been are was were by on at as with that which when where how what why who do does did
    can could should would will may might i we you there their its into than then these
    those any some such also has have had
    """
)
"""Left out of a question, where they carry no meaning; in code they can be names."""


class _Stemmer(Protocol):
    def stemWord(self, word: str, /) -> str: ...  # noqa: N802 - the library's name


class Tokenizer:
    """Splits text into tokens; remembers what each identifier gives.

    Example:
        >>> Tokenizer().tokens("parseFileName(x)")
        ['pars', 'file', 'name', '=parsefilename', 'x']
    """

    def __init__(self) -> None:
        stemmer = cast("_Stemmer", Stemmer("english"))
        self._stem = stemmer.stemWord
        self._known: dict[str, tuple[str, ...]] = {}
        self._known_parts: dict[str, tuple[str, ...]] = {}
        self._words = Words()

    def tokens(self, text: str) -> list[str]:
        """The tokens of a text, in order, with repetitions."""
        known, found = self._known, list[str]()
        for identifier in _IDENTIFIER.findall(text):
            tokens = known.get(identifier)
            if tokens is None:
                tokens = known[identifier] = self._split(identifier)
            found += tokens
        return found

    def _split(self, identifier: str) -> tuple[str, ...]:
        if len(self._known) > MAX_KNOWN:
            self._known.clear()
        if len(identifier) > MAX_IDENTIFIER:
            return ()
        if identifier.isdecimal():
            return (identifier,) if len(identifier) in NUMBER_DIGITS else ()
        identifier = identifier.lstrip("0123456789")
        parts = [part.lower() for part in _PART.findall(identifier)]
        stems: list[str] = []
        for part in parts:
            words = (part, *self._words.split(part))
            stems += [self._stem(word) for word in words if word not in KEYWORDS]
        if len(parts) > 1:
            stems.append(WHOLE + identifier.strip("_").lower())
        return tuple(stems)

    def parts(self, name: str) -> tuple[str, ...]:
        """The words that a name is made of, stemmed: `is_file` gives `is` and `file`."""
        found = self._known_parts.get(name)
        if found is None:
            if len(self._known_parts) > MAX_KNOWN:
                self._known_parts.clear()
            words = [part.lower() for part in _PART.findall(name)]
            stems = [self._stem(w) for word in words for w in self._words.split(word) or (word,)]
            found = self._known_parts[name] = tuple(stems)
        return found

    def query(self, text: str) -> list[str]:
        """The tokens of a question, each once, in order; stop words left out if others remain."""
        words: list[str] = _IDENTIFIER.findall(text)
        chosen = [word for word in words if word.lower() not in QUERY_STOPS] or words
        return list(dict.fromkeys(self.tokens(" ".join(chosen))))
