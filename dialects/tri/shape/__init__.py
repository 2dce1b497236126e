"""Ops that move elements without computing: reshape, transpose, slice, pad, gather, scatter.

Passes, targets and frontends reach the ops as `tri.Reshape`. `reshape` is where to start reading.
"""
