"""Exporters: a `tri` module as a file of a format that other tools read.

`compiler/formats` imports them; they import dialects alone. Start reading at `flow.py`, which all
share, then `onnx/exporter.py`.
"""
