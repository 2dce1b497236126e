"""The commands of `trivium`, one module each: `add_arguments`, `run`, and a docstring to show.

Only `tools/main.py` imports it, one module at a time. Start reading at `compile.py`.
"""
