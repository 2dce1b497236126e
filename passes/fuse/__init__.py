"""Passes that recognise coarse ops, such as attention, and put ops of one kernel into a group.

They import what all passes share; `passes/default.py` lists them. Start at `fuse_epilogues.py`.
"""
