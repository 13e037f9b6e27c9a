"""The contracts as tests: one class a kind of plugin, each in a module of its own."""
