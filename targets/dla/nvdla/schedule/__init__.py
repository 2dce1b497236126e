"""TensorSched and MemAlloc: fit convolutions into CBUF, order operations, and give values places.

Start at `cbuf.py`, what a convolution needs, then `split_rows.py` and `place_values.py`.
"""
