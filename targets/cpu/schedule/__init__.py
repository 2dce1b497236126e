"""Schedules: the method and the register tile of each op, by cost model or by measuring.

Imported by `target.py`, `layout/` and lowerings that need a tile; `tools` measures with it.
Start reading at `schedule.py` and `choice.py`; `tune.py` measures.
"""
