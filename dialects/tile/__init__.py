"""Kernels over blocks: the IR of a group of ops before a GPU target emits Triton source.

`targets/gpu` imports it. `kernel.py` is where to start reading.
"""

from ..core.discovery import public_names
from ..core.op import OPS as OPS
from .dialect import TILE as TILE

globals().update(public_names(__name__))
