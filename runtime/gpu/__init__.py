"""Run kernels on a GPU: CUDA's driver by way of ctypes, nothing else.

Imported when a package has steps or memory of kind `gpu`; it imports the rest of the runtime.
Start at `step.py`, then `space.py` (memory) and `device.py` (the driver).
"""
