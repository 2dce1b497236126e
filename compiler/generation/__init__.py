"""Decoders: their ports are recognised, their sizes are bound, and one row of logits is enough.

`source` uses it where the option `generate` is given. Start reading at `prepare.py`.
"""
