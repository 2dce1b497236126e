"""MemAlloc: give buffers addresses by their live ranges, and ops engines and tokens.

Imported by the pipeline. Start at `allocate_buffers.py`, then `insert_tokens.py`.
"""
