"""Targets: where ops run, how their memory is planned, and a folder for each target.

The compiler and tools import it; it imports passes, dialects, and steps of the runtime. Start
reading at `core.py` (what a target is), then `cpu/target.py`.
"""
