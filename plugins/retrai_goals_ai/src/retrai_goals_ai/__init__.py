"""A goal pack for retrai: generated evaluations and rubric scores by a judge model."""
