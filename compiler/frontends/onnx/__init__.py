"""The ONNX frontend: opset 7 to the newest, translated node by node into `tri`."""

from . import ops_activation as ops_activation
from . import ops_constant as ops_constant
from . import ops_elementwise as ops_elementwise
from . import ops_index as ops_index
from . import ops_legacy as ops_legacy
from . import ops_pad as ops_pad
from . import ops_rearrange as ops_rearrange
from . import ops_reduce as ops_reduce
from . import ops_shape as ops_shape
from .importer import import_onnx as import_onnx
from .model import Bindings as Bindings
from .model import Source as Source
