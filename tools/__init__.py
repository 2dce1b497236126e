"""The command line: `trivium`, `trivium-opt`, and what writes docs/generated.

Nothing else imports it. Start reading at `main.py`; `commands` has a module for each command.
"""
