"""How long operations of a loadable take, by a configuration's rates.

Start at `cycles.py`, one operation by itself; `timeline.py` has all of a task, engine by engine.
"""
