"""Branches and loops of ONNX graphs: decided at import, or ops of `tri` with bodies.

Start reading at `unrolling.py`, then `loops.py`.
"""
