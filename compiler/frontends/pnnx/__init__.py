"""The PNNX frontend: the format as a library of its own, free of MLIR; its import into `tri`.

The driver, the exporter and users import it. Start with `importer.py`; `format` reads and
writes files, `rules` has what PNNX alone has: the rules of torch are in `frontends/torch`.
"""

from .format.attributes import Attribute as Attribute
from .format.graph import Graph as Graph
from .format.operator import Operand as Operand
from .format.operator import Operator as Operator
from .format.param_file import read_pnnx as read_pnnx
from .format.param_file import write_pnnx as write_pnnx
from .format.parameters import Parameter as Parameter
