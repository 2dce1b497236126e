"""Frontends: models of each format as modules of the `tri` dialect, one rule per operator.

`compiler/formats` imports them; they import dialects alone, and not one another. Start reading at
`onnx/importer.py`; `core` has what they share.
"""
