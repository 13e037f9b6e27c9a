"""Goals that a model helps to check: generated evaluations, and rubric scores by a judge."""
