"""Kernels over blocks: what a GPU target makes of groups before it prints Triton source."""

from ..core.op import OPS as OPS
from .arithmetic import *
from .contraction import *
from .dialect import TILE as TILE
from .kernel import *
from .launch import *
from .loop import *
from .memory import *
from .setting import Setting as Setting
