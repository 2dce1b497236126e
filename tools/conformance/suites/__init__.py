"""The suites: a class in a module of its name for each suite."""
