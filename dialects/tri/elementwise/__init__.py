"""Ops that compute each element from the elements at the same index of operands that broadcast.

Passes, targets and frontends reach them as `tri.Add`. `base` is where to start reading.
"""
