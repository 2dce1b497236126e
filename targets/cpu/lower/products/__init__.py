"""Lowerings of matrix products: of floats and of bytes, with plain and with packed matrices."""
