"""Matrix products, Einstein summation, determinants, inverses and the Fourier transform.

Passes, targets and frontends reach the ops as `tri.MatMul`, and import the parser of equations
from here. `matmul` is where to start reading.
"""
