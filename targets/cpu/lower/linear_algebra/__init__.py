"""Lowerings of inverses, determinants and factors of matrices.

Imported by the registry of lowerings; start reading at `rows.py`, then `square_matrices.py`.
"""
