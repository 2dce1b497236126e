"""The frontend of `torch.export`: archives `.pt2`, and exported programs; its import into `tri`.

Imported by `compiler/formats`. Start with `importer.py`: `archive.py` reads the file and `graph.py`
has what is in it, without torch; `export.py` alone knows torch, and saves a program in memory.
"""
