"""Lowerings of ops that sample images between their pixels, and the tables they read.

Imported by the registration of `lower/` only.
Start reading at `resize.py`, then `grid_sample.py`.
"""
