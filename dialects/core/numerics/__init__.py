"""Arithmetic on numpy arrays that several dialects share: fixed point, integers, precision.

Packets of accelerators compute with it, too: nothing here knows MLIR or an op. `precision` and
`fixed_point` are the places to start reading.
"""
