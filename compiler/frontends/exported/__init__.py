"""The frontend of `torch.export`: modules, exported programs and archives `.pt2`, into `tri`.

Imported by `compiler/formats`. Start with `importer.py`: `archive.py` reads the file and `graph.py`
has what is in it, without torch; `inline.py` and `functional.py` rewrite it; `nodes.py` translates
it by the rules of torch, `control_flow.py` what has graphs. Three modules know torch: `export.py`
exports a module, `fx_reader.py` reads a program in memory as `reader.py` does one in a file, and
`torch_weights.py` reads tensors in place.
"""
