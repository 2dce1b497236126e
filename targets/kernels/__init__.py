"""What kernels of all targets with generated code share: lowering kinds, arithmetic, group walk.

A target instantiates these classes with its own values, buffers and builder, and only targets
import them. Start at `kernel_table.py` (kinds of lowerings), then `group_body.py` (the walk).
"""
