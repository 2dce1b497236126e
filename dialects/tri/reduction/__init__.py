"""Ops that combine the elements along axes: reductions, scans, softmax and normalization.

Passes, targets and frontends reach the ops as `tri.ReduceSum`. `reduce` is where to start reading.
"""
