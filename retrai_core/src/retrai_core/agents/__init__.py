"""What agents work with: model calls, tool calls, budgets; `goal_loop` is the agent of the core."""
