"""The high-level dialect: coarse neural-network ops on tensors, with numpy as their meaning."""

from ..core.op import OPS as OPS
from .constant import *
from .dialect import TRI as TRI
from .elementwise import *
from .group import *
