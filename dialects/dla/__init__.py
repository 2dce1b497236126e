"""Networks for accelerators: coarse ops on integers, ops on buffers in memories, schedules.

`targets/dla` and plugins with accelerators import it. `dialect.py` and `buffers.py` have the base
classes and are where to start reading.
"""

from ..core.discovery import public_names
from ..core.op import OPS as OPS
from .dialect import DLA as DLA

globals().update(public_names(__name__))
