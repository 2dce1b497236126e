"""What the engines of NVDLA compute, as functions of numpy arrays, exact to the bit.

Start at `arithmetic.py`, how numbers are rounded and saturated; then an engine's own module. The
functions know no memory; `../simulator.py` calls them.
"""
