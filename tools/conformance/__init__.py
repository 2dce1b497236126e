"""Suites of cases that others wrote, run on targets: what passes, what is refused, what is wrong.

`trivium conformance` imports it. Start with `suite.py`; `suites` has a module for each suite.
"""
