"""A goal pack for retrai: bun test and npm test, and a tool that runs JavaScript."""
