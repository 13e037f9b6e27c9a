"""What a person sees of a run: lines for its events, a spinner while it waits, its outcome."""
