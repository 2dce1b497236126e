"""Rules of branches and loops, sequences and optionals.

Imported by the registration of `rules/` only. Start reading at `optional.py`, then `sequence.py`.
"""
