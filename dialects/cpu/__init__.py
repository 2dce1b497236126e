"""Ops that only CPU kernels compute: those of `tri` on weights packed at compile time."""

from ..core.op import OPS as OPS
from .blocked import *
from .blocked_conv_transpose import *
from .blocked_winograd import *
from .conv import *
from .dialect import CPU as CPU
from .dot import *
from .matmul import *
from .recurrent import *
from .winograd import *
