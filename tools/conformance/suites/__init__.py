"""The suites: a class in a module of its name for each.

`../suite.py` imports them by name. Start with `pnnx.py`.
"""
