"""Attention by softmax, by linear recurrence, and with projections of several heads.

Passes, targets and frontends reach the ops as `tri.Attention`. `attention` is where to start
reading.
"""
