"""Learns from docstrings which words names are made of, and what a question's words mean in them.

    python benchmarks/learn_words.py FOLDER...

Each folder is a Python package; use many, by different authors. Writes `words.txt` and
`meanings.txt` of retrai-codeindex, which search reads. Leave out whatever search is measured on.

Meanings are learnt as translations (IBM model 1, by expectation maximization): the first sentence
of each docstring is a translation of its function's name, parameters and class.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from retrai_codeindex import meanings
from retrai_codeindex.compounds import LETTERS, Words
from retrai_codeindex.tokens import WHOLE, Tokenizer

MAX_PER_PACKAGE = 2000
"""So that no large package decides alone."""
ROUNDS = 6
SMOOTHING = 2.0
MIN_PACKAGES = 3
MIN_PROBABILITY = 0.015
MIN_COUNT = 1.5


class Documented(NamedTuple):
    """A function with its first sentence."""

    package: str
    sentence: str
    scope: str
    name: str
    parameters: str


def main() -> int:
    """Learn and write; the exit code."""
    parser = argparse.ArgumentParser(description="Learn words and meanings from docstrings.")
    parser.add_argument("folders", nargs="+", type=Path, help="folders of Python packages")
    options = parser.parse_args()
    every = [each for folder in options.folders for each in documented(folder)]
    words = learn_words(every)
    lines = [f"{word} {count}" for word, count in sorted(words.items())]
    Words.PATH.write_text("\n".join([*lines, ""]))
    tokenizer = Tokenizer()
    table = learn_meanings(every, tokenizer)
    meanings.PATH.write_text("\n".join([*written(table), ""]))
    print(f"{len(every):,} functions: {len(words):,} words, {len(table):,} with meanings")
    return 0


def documented(folder: Path) -> list[Documented]:
    """The functions of a package that have a docstring, evenly chosen if they are too many."""
    found: dict[tuple[str, str], Documented] = {}
    for file in sorted(folder.rglob("*.py")):
        if {"tests", "test", "_vendor"} & set(file.parts):
            continue
        try:
            tree = ast.parse(file.read_bytes())
        except (SyntaxError, ValueError, RecursionError):
            continue
        for each in functions(folder.name, tree, ""):
            found.setdefault((each.name, each.sentence), each)
    every = list(found.values())
    return every[:: len(every) // MAX_PER_PACKAGE + 1]


def functions(package: str, node: ast.AST, scope: str) -> Iterator[Documented]:
    """The functions below a node."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield from functions(package, child, child.name)
        elif isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            doc = (ast.get_docstring(child) or "").strip()
            sentence = " ".join(re.split(r"(?<=\.)\s|\n\n", doc)[0].split())
            if 4 <= len(sentence.split()) <= 60:
                yield Documented(package, sentence, scope, child.name, ast.unparse(child.args))
            yield from functions(package, child, child.name)
        else:
            yield from functions(package, child, scope)


def learn_words(every: list[Documented]) -> dict[str, int]:
    """The words of sentences, with their frequency."""
    counts: Counter[str] = Counter()
    packages: defaultdict[str, set[str]] = defaultdict(set)
    for each in every:
        for word in re.findall(r"\b[a-z]{3,}\b", each.sentence):
            counts[word] += 1
            packages[word].add(each.package)
    return {
        word: count
        for word, count in counts.items()
        if len(packages[word]) >= MIN_PACKAGES and count >= (5 if len(word) > LETTERS else 30)
    }


def learn_meanings(every: list[Documented], tokenizer: Tokenizer) -> dict[str, dict[str, float]]:
    """For each word of a name, the words of sentences that it stands for."""
    pairs = [(each.package, *aligned(each, tokenizer)) for each in every]
    chances: dict[tuple[str, str], float] = {}
    counts: dict[tuple[str, str], float] = {}
    support: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for number in range(ROUNDS):
        counts = defaultdict(float)
        for package, asked, names in pairs:
            for word in asked:
                shares = [(n, w * chances.get((n, word), 1.0)) for n, w in names.items()]
                total = sum(share for _, share in shares)
                if not total:
                    continue
                for name, share in shares:
                    counts[name, word] += share / total
                    if number == ROUNDS - 1 and share > total / 10:
                        support[name, word].add(package)
        totals: defaultdict[str, float] = defaultdict(float)
        for (name, _), count in counts.items():
            totals[name] += count
        chances = {
            pair: count / (totals[pair[0]] + SMOOTHING)
            for pair, count in counts.items()
            if count > 1e-3
        }
    table: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for (name, word), chance in chances.items():
        is_known = len(support[name, word]) >= MIN_PACKAGES and counts[name, word] >= MIN_COUNT
        if is_known and chance >= MIN_PROBABILITY and name != word:
            table[name][word] = chance
    return table


def aligned(each: Documented, tokenizer: Tokenizer) -> tuple[list[str], dict[str, float]]:
    """The words of a sentence; and of its function, with weights."""
    asked = [token for token in tokenizer.query(each.sentence) if not token.startswith(WHOLE)]
    names: dict[str, float] = {meanings.ANY: 1.0}
    for text, weight in ((each.scope, 0.5), (each.parameters, 0.7)):
        names |= {t: weight for t in tokenizer.tokens(text) if not t.startswith(WHOLE)}
    names |= dict.fromkeys(tokenizer.parts(each.name), 1.0)
    return asked, names


def written(table: dict[str, dict[str, float]]) -> Iterator[str]:
    """The lines of `meanings.txt`."""
    for name in sorted(table):
        chosen = sorted(table[name].items(), key=lambda item: (-item[1], item[0]))
        yield " ".join([name, *(f"{word}:{round(1000 * chance)}" for word, chance in chosen)])


if __name__ == "__main__":
    sys.exit(main())
