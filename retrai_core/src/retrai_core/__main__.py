"""`python -m retrai_core`: the command line where the `retrai` script is not installed."""

import sys

from .cli.main import main

sys.exit(main())
