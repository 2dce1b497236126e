"""The dialect `nvdla`: ops for the operations of engines, on images [N, channels, rows, columns].

Imported by the target and by IR that names its ops. Start at `dialect.py`, then `convolution.py`
and `single.py`, a convolution and what ends it; `moves.py` has ops that only say where values are.
"""

from . import convolution, moves, pools, single

__all__ = ["convolution", "moves", "pools", "single"]
