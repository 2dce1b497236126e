"""Lowerings of attention: to all keys, to the rows of a cache, and linear attention.

Imported by the registration of `lower/` only.
Start reading at `cached_attention.py`, then `chunks.py`: what both ways to attend share.
"""
