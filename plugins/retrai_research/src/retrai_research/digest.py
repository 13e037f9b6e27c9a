"""An answer made of what the tools returned: no model writes a word of it."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from .found import Named, Place, Related, Relation, end_of, hits, outline, related, unknown_names
from .mentions import not_there
from .question import Question
from .ranking import Ranked, boost_by_calls, is_test, rank

SHOWN = 5
"""Definitions that an answer describes."""
_OTHERS = 6
_LEAST_SHARE = 0.15
"""Of the best score, for a definition to be shown."""
_FEW, _MANY = 6, 60
"""Callers, callees or subclasses that are listed, and where the question asks for them."""
_ENTRIES = 60
"""Of an outline."""
_DOC_CHARS = 600
_SIGNATURE_CHARS = 160
_QUOTED_LINES = 45
_WORDS: Mapping[Relation, str] = {
    "subclass": "Inherited by",
    "caller": "Called by",
    "possible caller": "Perhaps called by",
    "callee": "Calls",
}
_NUMBERED = re.compile(r"^\s*([0-9]+)\t(.*)$")
_SEPARATOR = "\n---\n"
NOTHING_FITS = (
    "Nothing in the project's code fits this question. The index knows the words of the code: ask "
    "with names or words that stand in it."
)


@dataclass
class Gathered:
    """What the findings of a run hold.

    Attributes:
        searches: the hits of each search.
        related: what calls, is called by, or inherits from a definition.
        code: lines that were read, by their text's first line number.
        unknown: names that nothing in the project has, with similar ones, the closest first.
        mentioned: what each file or folder that the question mentions holds.
        outlines: the definitions of each file that was outlined, in their order.
    """

    searches: list[list[Named]] = field(default_factory=list[list[Named]])
    related: list[Related] = field(default_factory=list[Related])
    code: list[dict[int, str]] = field(default_factory=list[dict[int, str]])
    unknown: dict[str, list[Named]] = field(default_factory=dict[str, list[Named]])
    mentioned: dict[str, str] = field(default_factory=dict[str, str])
    outlines: dict[str, list[Named]] = field(default_factory=dict[str, list[Named]])


def gather(findings: Mapping[str, str]) -> Gathered:
    """Read the findings of a run, by step."""
    gathered = Gathered()
    for key, text in findings.items():
        if key.startswith("@"):
            gathered.mentioned[key[1:]] = text
            continue
        for part in text.split(_SEPARATOR):
            if outlined := outline(part):
                gathered.outlines[outlined[0].place.path] = outlined
                gathered.searches.append(outlined)
            elif found := hits(part):
                gathered.searches.append(found)
            gathered.related += related(part)
            gathered.unknown |= unknown_names(part)
            if code := _code(part):
                gathered.code.append(code)
    return gathered


def parts_of(question: str, earlier: Sequence[str], gathered: Gathered) -> list[Question]:
    """The parts of a question; a name that nothing has is taken for the most similar one."""
    for name, similar in gathered.unknown.items():
        if similar:
            question = question.replace(name, end_of(similar[0].symbol, name))
    return Question.parts_of(question, earlier, gathered.mentioned)


def best(parts: Sequence[Question], gathered: Gathered) -> list[Ranked]:
    """The definitions, best first: in turn the best of each part of the question."""
    every = [boost_by_calls(rank(part, gathered.searches), gathered.related) for part in parts]
    fitting = [
        [each for each in ranked if each.score >= _LEAST_SHARE * ranked[0].score]
        for ranked in every
    ]
    in_turn = [each for some in zip_longest(*fitting) for each in some if each is not None]
    found: dict[Place, Ranked] = {}
    for each in in_turn:
        found.setdefault(each.named.place, each)
    return list(found.values())


def write_digest(question: str, findings: Mapping[str, str], earlier: Sequence[str] = ()) -> str:
    """The definitions that fit the question, in Markdown with citations.

    Args:
        question: as it was asked.
        findings: of the run, by step.
        earlier: the questions of the conversation before it.
    """
    gathered = gather(findings)
    parts = parts_of(question, earlier, gathered)
    lines = [*_missing(gathered.mentioned), *_unknown(gathered.unknown, parts)]
    if gathered.mentioned and not any(part.weights() for part in parts):
        outlined = [line for path in gathered.mentioned for line in _outline(path, gathered)]
        return "\n".join([*lines, *outlined]).rstrip() or NOTHING_FITS
    ranked = [each.named for each in best(parts, gathered)]
    asked = {relation for part in parts for relation in part.relations}
    outside = _inherited_from_outside(parts, gathered.related, asked)
    if not ranked:
        return "\n".join([*lines, *(outside or [NOTHING_FITS])]).rstrip()
    lines += outside
    top, others = ranked[:SHOWN], ranked[SHOWN : SHOWN + _OTHERS]
    lines += _lead(top[0], "") if len(parts) == 1 else _leads(parts, gathered)
    for number, named in enumerate(top):
        lines += ["", *_section(named, gathered, quotes=number == 0, asked=asked)]
    if others:
        lines += ["", "## Also related", "", *(f"- {_mention(each)}" for each in others)]
    return "\n".join(lines)


def _missing(mentioned: Mapping[str, str]) -> list[str]:
    lines = [f"{text}." for path, text in mentioned.items() if text == not_there(path)]
    return [*lines, ""] if lines else []


def _unknown(names: Mapping[str, Sequence[Named]], parts: Sequence[Question]) -> list[str]:
    """Which name was taken for which; a word that only may be a name is not worth a line."""
    written = {name for part in parts for name in part.identifiers}
    lines: list[str] = []
    for name, similar in names.items():
        if similar:
            taken, *others = [f"`{end_of(each.symbol, name)}` (`{each.place}`)" for each in similar]
            also = f"; similar: {', '.join(others)}" if others else ""
            lines += [f"No definition is called `{name}`; {taken} is taken for it{also}.", ""]
        elif name in written:
            lines += [f"No definition is called `{name}`.", ""]
    return lines


def _outline(path: str, gathered: Gathered) -> list[str]:
    """A mentioned file with the definitions at its top level, or a folder with what is in it."""
    text = gathered.mentioned[path]
    if text == not_there(path):
        return []
    if path not in gathered.outlines:
        if code := _code(text):
            last = max(code)
            place = Place(path, 1, min(last, _QUOTED_LINES))
            named = Named(place, "text", "")
            return [f"## `{path}`", *_quote(named, [code]), ""]
        entries = text.split("\n")
        more = f" and {len(entries) - _ENTRIES} more" if len(entries) > _ENTRIES else ""
        names = ", ".join(f"`{entry}`" for entry in entries[:_ENTRIES])
        return [f"## `{path}`", "", f"It holds {names}{more}.", ""]
    module, *defined = gathered.outlines[path]
    top = [each for each in defined if "." not in each.symbol]
    says = f": {_sentence(module.doc)}" if module.doc else "."
    lines = [f"## `{path}`", "", f"It defines {len(top)} names (`{module.place}`){says}", ""]
    lines += [f"- {_mention(each)}" for each in top[:_ENTRIES]]
    if len(top) > _ENTRIES:
        lines.append(f"- and {len(top) - _ENTRIES} more")
    return [*lines, ""]


def _leads(parts: Sequence[Question], gathered: Gathered) -> list[str]:
    lines: list[str] = []
    for part in parts:
        if ranked := best([part], gathered):
            lines += _lead(ranked[0].named, f' for "{part.text}"')
    return lines


def _lead(named: Named, asked: str) -> list[str]:
    says = f": {_sentence(named.doc)}" if named.doc else "."
    return [f"The best match{asked} is {_title(named)} (`{named.place}`){says}"]


def _title(named: Named) -> str:
    return f"`{named.symbol or named.place.path}`"


def _section(
    named: Named, gathered: Gathered, *, quotes: bool, asked: Container[Relation]
) -> list[str]:
    lines = [f"## {_title(named)}", "", f"{named.kind.capitalize()} in `{named.place}`."]
    if named.signature:
        lines += ["", f"`{_plain_code(named.signature)}`"]
    if named.doc:
        lines += ["", *(f"> {line}" for line in _cut(named.doc).split("\n"))]
    found = [
        line
        for relation, words in _WORDS.items()
        for line in _related(named, gathered.related, relation, words, asked)
    ]
    if found:
        lines += ["", *found]
    if quotes:
        lines += _quote(named, gathered.code)
    return lines


def _related(
    named: Named,
    found: Sequence[Related],
    relation: Relation,
    words: str,
    asked: Container[Relation],
) -> list[str]:
    """What has a relation to a definition."""
    mine = [each for each in found if each.relation == relation and _is_of(each, named)]
    return _listed(f"- {words}", mine, _MANY if relation in asked else _FEW)


def _inherited_from_outside(
    parts: Sequence[Question], found: Sequence[Related], asked: Container[Relation]
) -> list[str]:
    """What inherits from the classes that the question names, and the project does not define."""
    names = dict.fromkeys(name for part in parts for name in part.names)
    lines: list[str] = []
    for name in names if "subclass" in asked else ():
        mine = [each for each in found if each.relation == "subclass" and each.of == name]
        lines += _listed(f"- `{name}`, which is not of this project, is inherited by", mine, _MANY)
    return [*lines, ""] if lines else []


def _listed(words: str, found: Sequence[Related], limit: int) -> list[str]:
    """Related definitions: in one line, or a line each where they are many."""
    places = {each.symbol: each.place for each in found if each.place}
    if not places:
        return []
    # Tests call everything: what else calls it says more.
    others = sorted(places.items(), key=lambda other: is_test(other[1].path))
    shown = [f"`{_short(name, place)}` (`{place}`)" for name, place in others[:limit]]
    more = [f"and {len(places) - limit} more"] if len(places) > limit else []
    if len(shown) > _FEW:
        return [words, *(f"  - {each}" for each in [*shown, *more])]
    return [" ".join([f"{words} {', '.join(shown)}", *more])]


def _is_of(other: Related, named: Named) -> bool:
    """Whether it was asked for by this definition's name."""
    return other.of == named.symbol or other.of.endswith(f".{named.symbol}")


def _quote(named: Named, code: Sequence[Mapping[int, str]]) -> list[str]:
    """The definition's own lines, where they were read."""
    place = named.place
    for read in code:
        first_line = read.get(place.start, "")
        name = named.symbol.rpartition(".")[2]
        if name and not any(name in read.get(n, "") for n in range(place.start, place.start + 8)):
            continue
        if not first_line:
            continue
        last = min(place.end, place.start + _QUOTED_LINES - 1)
        numbers = range(place.start, last + 1)
        if not all(number in read for number in numbers):
            continue
        text = [read[number] for number in numbers]
        fence = "`" * max(3, 1 + max(map(len, re.findall(r"`+", "\n".join(text))), default=0))
        cited = Place(place.path, place.start, last)
        return ["", f"`{cited}`:", "", fence + _language(place.path), *text, fence]
    return []


def _code(part: str) -> dict[int, str]:
    """Numbered lines, as `read_file` shows them."""
    found: dict[int, str] = {}
    for line in part.split("\n"):
        if match := _NUMBERED.match(line):
            found[int(match[1])] = match[2]
    return found


def _mention(named: Named) -> str:
    says = f": {_sentence(named.doc)}" if named.doc else ""
    return f"{_title(named)} (`{named.place}`){says}"


def _sentence(doc: str) -> str:
    text = " ".join(doc.split())
    end = re.search(r"(?<=[a-z)`\]][.!?])(?<!e\.g\.)(?<!i\.e\.)\s", text)
    return _cut(text[: end.start()] if end else text)


def _cut(text: str) -> str:
    return text if len(text) <= _DOC_CHARS else f"{text[:_DOC_CHARS]}..."


def _plain_code(text: str) -> str:
    line = " ".join(text.replace("`", "'").split())
    line = line.replace("( ", "(").replace(", )", ")").replace(" )", ")")
    return line if len(line) <= _SIGNATURE_CHARS else f"{line[:_SIGNATURE_CHARS]}..."


def _short(name: str, place: Place) -> str:
    """A dotted name without the modules before the class or function; a file's own path."""
    if name == place.path:
        return name
    parts = name.split(".")
    return ".".join(parts[-2:]) if len(parts) > 1 and parts[-2][:1].isupper() else parts[-1]


_LANGUAGES = {
    "py": "python",
    "c": "c",
    "h": "c",
    "cc": "cpp",
    "cpp": "cpp",
    "hpp": "cpp",
    "js": "javascript",
    "ts": "typescript",
    "go": "go",
    "rs": "rust",
    "java": "java",
}


def _language(path: str) -> str:
    return _LANGUAGES.get(path.rpartition(".")[2], "")
