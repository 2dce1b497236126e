"""Sizes that change from run to run: symbols, expressions of them, their limits, checks.

A size is an int or a `Dim`. Plain Python without MLIR; imported by everything that computes
shapes. Start reading at `dim.py`.
"""
