"""NVDLA: the target of the open accelerator. It makes loadables, and simulates them.

Start at `format/loadable.py`, the tables of a file, then `format/operations.py`, the descriptors
inside. Of what runs models, `target.py` is the start. Reading, checking and simulating loadables
needs no MLIR.
"""
