"""Types that a run turned into `Any`, with which a type checker believes everything.

Only what a repair hardly needs is told: a line on which a type became `Any`, and a cast to `Any`. A
new annotation with `Any` is how strict projects name what an untyped library gives.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from retrai_core import Suspicion
from retrai_goal_support import changed_lines

_NAME = r"(?:\w+\.)*Any\b"
_ANY = re.compile(rf"(?<=[\[ ])[\"']?(?:(?:\w+\.)*Optional\[{_NAME}\]|{_NAME}(?: \| None)?)[\"']?")
_CAST = re.compile(rf"\bcast\(\s*[\"']?{_NAME}")


def became_any(diff: str) -> Iterator[Suspicion]:
    """Changed lines with a type that is `Any` now, and new casts to it.

    Args:
        diff: the whole diff of the run.
    """
    changes = [
        (sign, path, number, text.strip()) for sign, path, number, text in changed_lines(diff)
    ]
    removed: defaultdict[str, list[str]] = defaultdict(list)
    for sign, path, _, text in changes:
        if sign == "-":
            removed[path].append(text)
    known = {path: set(texts) for path, texts in removed.items()}
    for sign, path, number, text in changes:
        if sign == "-" or not path.endswith((".py", ".pyi")):
            continue
        if text in known.get(path, ()):
            continue
        if _CAST.search(text):
            yield Suspicion(path, number, "a new cast to `Any`, which pyright believes")
        if not _ANY.search(text):
            continue
        # What else could have stood for each `Any`: a type, or one in brackets.
        before = re.compile("(.+)".join(map(re.escape, _ANY.split(text))))
        for old in removed.get(path, ()):
            found = before.fullmatch(old)
            if found and not any(_ANY.search(f" {part}") for part in found.groups()):
                what = f"`{old[:60]}` became `{text[:60]}`, which pyright believes"
                yield Suspicion(path, number, what)
                break
