"""Lowerings of ops that pool regions of images.

Imported by the registry of lowerings; start reading at `bands.py`.
"""
