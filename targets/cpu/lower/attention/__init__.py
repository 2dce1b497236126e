"""Lowerings of attention: to given keys and values, to a cache, and linear attention.

Imported by the registration of `lower/` only. Start reading at `attention.py`.
"""
