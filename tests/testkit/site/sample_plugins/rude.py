"""A tool whose import is neither light nor quiet."""

import os

import langchain_core

from .tools import GoodNote

print("hello from an import", langchain_core.__name__)
os.environ["SAMPLE_PLUGINS"] = "were here"


class Rude(GoodNote):
    name = "rude"
