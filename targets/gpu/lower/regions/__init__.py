"""Lowerings of ops that pool regions of images.

Imported by the registration of `lower/` only. Start reading at `roi_align.py`.
"""
