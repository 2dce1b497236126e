"""Passes over `tri` for any target, `fold/`, `fuse/`, `quantize/`, and what runs passes.

Passes import dialects alone; targets and the compiler import passes. Start at `core.py` (what a
pass is), `default.py` (which ones run) and `pipeline.py` (how).
"""
