"""Which installed files are, byte for byte, what the user's own lock file or manifest asks for."""
