"""CodeEmit of NVDLA: a loadable for each group.

Start at `emit_loadables.py`; `descriptors.py` has the descriptors of each op, `dependencies.py`
what operations wait for.
"""
