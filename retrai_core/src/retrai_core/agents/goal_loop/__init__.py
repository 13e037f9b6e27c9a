"""The agent `goal-loop`: plan, act, evaluate, and optionally a check by a person."""
