"""Vanilla: an accelerator for networks of 8-bit integers, made to be copied.

Start at `vanilla.toml`, then `packets.py`; `target.py` is the target.
"""
