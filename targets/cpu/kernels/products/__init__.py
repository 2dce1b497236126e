"""The inner loops of products: panels of packed matrices, dot products of bytes, sums of rows.

Imported by lowerings. Start reading at `contraction.py`.
"""
