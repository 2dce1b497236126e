"""Look into runs: which calls are made, how long each takes, and runs of a part of them.

Start reading at `calls.py`, then `observer.py`. Nothing here is imported before a user asks for it.
"""
