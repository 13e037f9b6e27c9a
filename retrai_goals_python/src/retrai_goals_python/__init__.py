"""Python goals and tools for retrai; `runner` is the documented library module."""

__version__ = "0.1.0"
