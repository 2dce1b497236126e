"""Tasks of a loadable that the runtime's emulator runs on the CPU: softmax and power.

Start at `descriptors.py`, the tables of such a task; `emulator.py` computes.
"""
