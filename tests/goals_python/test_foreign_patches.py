"""What counts as replacing something of the standard library, and what is a setting of it."""

from __future__ import annotations

import pytest

from retrai_goals_python.foreign_patches import foreign_patches


@pytest.mark.parametrize(
    "source",
    [
        "import logging, time\nlogging.Formatter.converter = time.gmtime\n",
        "from logging import Formatter\nFormatter.default_msec_format = '%s.%03d'\n",
        "import logging as log\nlog.raiseExceptions = False\n",
        "import decimal\ndecimal.getcontext().prec = 40\ndecimal.DefaultContext.prec = 40\n",
        "import locale\nlocale.setlocale(locale.LC_ALL, 'C')\n",
        "import warnings\nwarnings.formatwarning = lambda *a: ''\n",
    ],
)
def test_a_documented_setting_of_the_standard_library_is_no_patch(source: str) -> None:
    assert foreign_patches(source) == []


@pytest.mark.parametrize(
    ("source", "what"),
    [
        (
            "import logging\nlogging.Formatter.format = None\n",
            "replaces logging.Formatter.format",
        ),
        (
            "import logging\nlogging.Formatter.converter.__call__ = None\n",
            "replaces logging.Formatter.converter.__call__",
        ),
        ("import decimal\ndecimal.getcontext = None\n", "replaces decimal.getcontext"),
        ("from json import decoder\ndecoder.scan = None\n", "replaces json.decoder.scan"),
    ],
)
def test_what_is_no_setting_is_a_patch(source: str, what: str) -> None:
    assert [patch.what for patch in foreign_patches(source)] == [what]
