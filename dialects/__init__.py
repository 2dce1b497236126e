"""The dialects of Trivium, and the one module that imports MLIR's bindings.

All other folders import it; it imports nothing of them. Start reading at `core/op.py` (what an op
is), then `tri` (the ops of neural networks).
"""
