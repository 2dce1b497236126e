"""Lowerings of matrix products: of floats and of bytes, with plain and with packed matrices.

Imported by the registration of `lower/`, and by lowerings of layers that are products. Start
reading at `matmul.py`.
"""
