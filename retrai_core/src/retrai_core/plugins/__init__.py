"""The registries: scan (no import), load (through stevedore), and hooks (through pluggy)."""
