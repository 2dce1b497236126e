"""Passes that quantise a model, and that compute quantised models in integers.

They import what all passes share; `compiler/quantize` drives them. Start at `quantize.py`.
"""
