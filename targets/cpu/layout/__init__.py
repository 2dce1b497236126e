"""Layouts in memory: passes that block images and pack weights, and their building blocks.

Imported by `target.py`, and by lowerings that read packed or transformed weights.
Start reading at `choose_layouts.py` and `pack_weights.py`.
"""
