"""Lowerings that all targets with kernels share, one file per family, and parts of others.

A lowering belongs here when its formula is the same for the values of every target. Start reading
at `elementwise.py`, which registers the elementwise lowerings in the table of a target.
"""
