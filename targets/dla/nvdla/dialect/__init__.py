"""The dialect `nvdla`: ops for the operations of engines, on images [N, channels, rows, columns].

Imported by the target and by IR that names its ops. Start at `dialect.py`, then `convolution.py`
and `single.py`, a convolution and what ends it; `emulated.py` has ops of the CPU, `moves.py` those
that only say where values are.
"""

from . import convolution, emulated, moves, pools, single

__all__ = ["convolution", "emulated", "moves", "pools", "single"]
