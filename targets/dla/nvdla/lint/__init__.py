"""Find the faults of a loadable without running it. Start with `linter.py`."""
