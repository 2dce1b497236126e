"""The PNNX format as a library of its own: read, change, verify and write graphs. No MLIR.

The importer, the exporter and users of `trivium.compiler.frontends.pnnx` import it. Start with
`graph.py`.
"""
