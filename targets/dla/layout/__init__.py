"""MemoryLayout of images and weights in the memories of an accelerator.

Imported by all phases. Start at `memory_layout.py`.
"""
