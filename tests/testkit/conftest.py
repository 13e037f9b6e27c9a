"""Small things that several of the kit's own tests need."""
