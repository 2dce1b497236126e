"""TensorSched: assign residency in SRAM, cut ops into tiles, and prefetch their operands.

Imported by the pipeline and by tiling rules of other accelerators. Start at `lower_to_buffers.py`;
`tiler.py` is the interface of tiling rules.
"""
