"""The high-level dialect: coarse neural-network ops on tensors, with numpy as their meaning."""

from ..core.op import OPS as OPS
from .attention.attention import *
from .attention.linear_attention import *
from .attention.multihead import *
from .constant import *
from .copy import *
from .dialect import TRI as TRI
from .elementwise.activation import *
from .elementwise.base import *
from .elementwise.binary import *
from .elementwise.compare import *
from .elementwise.expression import *
from .elementwise.rounding import *
from .elementwise.unary import *
from .group import *
from .image.conv import *
from .image.deform import *
from .image.pool import *
from .image.resize import *
from .image.roi import *
from .linear_algebra.determinant import *
from .linear_algebra.fourier import *
from .linear_algebra.matmul import *
from .quantize import *
from .recurrent.recurrent_stack import *
from .recurrent.rnn import *
from .reduction.norm import *
from .reduction.reduce import *
from .reduction.scan import *
from .reduction.softmax import *
from .shape.index import *
from .shape.pad import *
from .shape.rearrange import *
from .shape.reshape import *
from .shape.stack import *
