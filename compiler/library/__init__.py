"""A model as a shared library for C: the objects of a package, without relocations in code.

The library needs nothing but libc: weights are in it, and of libtrivium what runs sessions.
Imported by the command compile. Start reading at `emit.py`; `assembly.py` makes code position
independent.
"""
