"""The frontend of `torch.export`: modules, exported programs and archives `.pt2`, into `tri`.

Imported by `compiler/formats`. Start with `importer.py`: `archive.py` reads the file and `graph.py`
has what is in it, without torch; `inline.py` and `functional.py` rewrite it; `nodes.py` translates
it by the rules of torch, `control_flow.py` what has graphs. `export.py` alone knows torch: it
exports a module, and saves a program in memory.
"""
