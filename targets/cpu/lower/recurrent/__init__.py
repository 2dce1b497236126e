"""Lowerings of recurrent layers, on plain and on packed weights.

Imported by the registration of `lower/` only.
Start reading at `recurrence.py`: the cells and the walk along time.
"""
