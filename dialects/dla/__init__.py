"""Networks for accelerators: coarse ops on integers, ops on buffers in memories, schedules."""

from ..core.op import OPS as OPS
from .convolution import *
from .dialect import DLA as DLA
from .memory import *
from .program import *
from .tiles import *
from .vector import *
from .window_tiles import *
