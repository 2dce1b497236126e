"""New weights for a package that was compiled with `refit`, without compiling it again.

Imported when such a package is opened; it imports the rest of the runtime. Start at `part.py`.
"""
