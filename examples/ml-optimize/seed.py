"""Makes `train.csv` and, outside of the project, `../held-out/flowers.csv`: always the same."""

import csv
import random
from pathlib import Path

NAMES = ("length", "width", "colour", "kind")


def rows(count: int, draw: random.Random) -> list[tuple[object, ...]]:
    """Two kinds of flowers, which neither length nor width tells apart, but both together do."""
    found: list[tuple[object, ...]] = []
    for _ in range(count):
        length, width = draw.uniform(0, 4), draw.uniform(0, 4)
        kind = "rose" if (length - 2) * (width - 2) > 0 else "tulip"
        found.append((round(length, 3), round(width, 3), draw.choice(("red", "white")), kind))
    return found


def write(path: Path, found: list[tuple[object, ...]]) -> None:
    """A CSV file with a header."""
    path.parent.mkdir(exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([NAMES, *found])


draw = random.Random(7)
write(Path("train.csv"), rows(240, draw))
write(Path("../held-out/flowers.csv"), rows(120, draw))
