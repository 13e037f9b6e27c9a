"""How the cost of a scan grows: with the distributions, and with the size of the plugins' code.

    python benchmarks/scan_growth.py [--rounds 9]

Scans folders of 100, 200, 400 and 800 fake distributions, each fifth with a plugin, in one process,
and prints CPU milliseconds and microseconds a distribution, medians; then 200 distributions again,
their plugins' packages padded with 2 MB of code each. Every number includes reading the manifests.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

from counts import positive
from startup import make_site

from retrai_core.plugins.catalog import Catalog

SIZES = (100, 200, 400, 800)
PADDED = 200
PADDING = "# a line of code that is never read by a scan\n" * 44_000


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="How the cost of a scan grows.")
    parser.add_argument("--rounds", type=positive, default=9)
    rounds = parser.parse_args().rounds
    print(f"{'distributions':>24} {'CPU ms':>8} {'µs each':>8}")
    for size in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            make_site(Path(folder), size, size // 5)
            show(str(size), size, scan_ms(folder, rounds))
    with tempfile.TemporaryDirectory() as folder:
        make_site(Path(folder), PADDED, PADDED // 5)
        for package in Path(folder).glob("fake_*/__init__.py"):
            (package.parent / "plugin.py").write_text(PADDING)
        show(f"{PADDED}, plugins of 2 MB", PADDED, scan_ms(folder, rounds))


def scan_ms(folder: str, rounds: int) -> float:
    """CPU milliseconds of one scan with all its records, the median of `rounds`."""
    taken: list[float] = []
    for _ in range(rounds + 1):
        started = time.process_time()
        records = Catalog.scan(paths=[folder], environ={}).records()
        taken.append((time.process_time() - started) * 1000)
        assert records, "nothing was found"
    return statistics.median(taken[1:])


def show(label: str, size: int, cpu_ms: float) -> None:
    """One line of the table."""
    print(f"{label:>24} {cpu_ms:8.1f} {cpu_ms / size * 1000:8.1f}")


if __name__ == "__main__":
    main()
