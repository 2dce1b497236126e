"""A model as a folder of C: source, header, weights, build files and an example client.

The code of kernels and programs is that of `targets/cpu/c`; here it becomes one file with an entry,
and what a deployer needs beside it. Imported by `trivium.emit_c` and by the command compile. Start
reading at `emit.py`, then `source.py`; `template/` has the parts that are the same for all models.
"""
