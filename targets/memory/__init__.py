"""Memory: where values lie, in what order of axes, and how arenas are planned.

Targets, `program/` and `placement/` import it. Start reading at `space.py` (what a memory is), then
`values.py` (which memory a value is in) and `arena.py` (its place there).
"""
