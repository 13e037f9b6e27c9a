"""What runs in the measuring process: the clock, the rows and the plan are its own."""
