"""The formats of models that Trivium reads and writes, one module each.

`compiler/source.py` imports all modules here and finds the format of a model. Each module imports
its frontend or exporter on first use, for they are slow to import. Start with `pnnx.py`.
"""
