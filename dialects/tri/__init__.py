"""The high-level dialect: coarse neural-network ops on tensors, with numpy as their meaning.

Everything above may import it. Each op is one class in a file of its family; `image/conv.py` is
where to start reading.
"""

from ..core.discovery import public_names
from ..core.op import OPS as OPS
from .dialect import TRI as TRI

globals().update(public_names(__name__))
