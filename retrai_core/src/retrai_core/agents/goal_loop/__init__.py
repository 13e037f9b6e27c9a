"""The agent `goal-loop`: plan, act, evaluate, and where wanted a person's check."""
