"""The dialect `dla`: integer ops on images, ops on buffers in memories, and schedules.

Imported by targets/dla and by accelerators outside of the tree. Start at `dialect.py` for ops on
tensors and at `buffers.py` for ops on buffers.
"""

from ..core.discovery import public_names
from ..core.op import OPS as OPS
from .dialect import DLA as DLA

globals().update(public_names(__name__))
