"""NVDLA: the loadables of the open accelerator, read, written, printed, checked and simulated.

Start at `loadable.py`, the tables of a file, then `operations.py`, the descriptors inside; none of
this needs MLIR.
"""
