"""Passes that compute, merge or remove ops without changing what kernels there are to choose from.

They import what all passes share; `passes/default.py` lists them. Start at `fold_constants.py`.
"""
