"""The high-level dialect: coarse neural-network ops on tensors, with numpy as their meaning."""

from ..core.op import OPS as OPS
from .activation import *
from .attention import *
from .binary import *
from .compare import *
from .constant import *
from .conv import *
from .copy import *
from .deform import *
from .dialect import TRI as TRI
from .elementwise import *
from .expression import *
from .fourier import *
from .group import *
from .index import *
from .linear_algebra import *
from .linear_attention import *
from .matmul import *
from .multihead import *
from .norm import *
from .pad import *
from .pool import *
from .quantize import *
from .rearrange import *
from .recurrent_stack import *
from .reduce import *
from .resize import *
from .rnn import *
from .roi import *
from .rounding import *
from .scan import *
from .shape import *
from .softmax import *
from .stack import *
from .unary import *
