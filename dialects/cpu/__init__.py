"""Ops that only CPU kernels compute: ops of `tri` on weights that were packed at compile time.

`targets/cpu` imports it, and the host runs its references. `conv.py` is where to start reading.
"""

from ..core.discovery import public_names
from ..core.op import OPS as OPS
from .dialect import CPU as CPU

globals().update(public_names(__name__))
