"""The PNNX frontend: the format as a library of its own, free of MLIR; its import into `tri`."""

from .attributes import Attribute as Attribute
from .graph import Graph as Graph
from .graph import Operand as Operand
from .graph import Operator as Operator
from .param_file import read_pnnx as read_pnnx
from .param_file import write_pnnx as write_pnnx
from .parameters import Parameter as Parameter
