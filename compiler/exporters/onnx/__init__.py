"""The ONNX exporter: ops of `tri` as ONNX nodes, in the lowest opset that has all of them.

`compiler/formats` imports it, on first use. Start reading at `exporter.py`; modules named `ops_...`
have one function for each op.
"""

from ....dialects.core.extras import is_installed, missing

if not is_installed("onnx"):
    raise missing("onnx", "writing ONNX")

from . import ops_elementwise as ops_elementwise
from . import ops_moves as ops_moves
from . import ops_networks as ops_networks
from . import ops_quantize as ops_quantize
from . import ops_reduce as ops_reduce
from . import ops_vision as ops_vision
from .exporter import export_onnx as export_onnx
from .exporter import save_onnx as save_onnx
