"""The dialect `dla`: integer ops on images, ops on buffers in memories, and schedules.

Imported by targets/dla and by accelerators outside of the tree. Start at `dialect.py` for ops on
tensors and at `buffers.py` for ops on buffers.
"""

from ..core.op import OPS as OPS
from .convolution import *
from .dialect import DLA as DLA
from .memory import *
from .program import *
from .tiles import *
from .vector import *
from .window_tiles import *
