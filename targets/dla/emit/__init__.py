"""CodeEmit: turn scheduled programs into packets, containers and steps of a package.

Imported by the accelerator. Start at `emit.py`; `packing.py` fills the fields of one packet.
"""
