"""Tools for plugin authors and for people who look after an environment: `retrai plugins ...`."""
