"""The text and bytecode form of IR: safe parsing, and MLIR's diagnostics as errors of Trivium.

Everything above may import it; `parser` is where to start reading.
"""
