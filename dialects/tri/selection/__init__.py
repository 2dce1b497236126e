"""Ops that select elements by what elements are: their results have sizes that data decide.

Passes, targets and frontends reach the ops as `tri.NonZero`. `../../core/data_dependent.py` says
how they name these sizes; `select.py` is where to start reading.
"""
