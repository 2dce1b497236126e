"""The ONNX exporter: ops of `tri` as ONNX nodes, in the lowest opset that has all of them.

`compiler/formats` imports it, on first use. Start reading at `exporter.py`; `rules` has a
function for each op.
"""

from ....dialects.core.extras import is_installed, missing

if not is_installed("onnx"):
    raise missing("onnx", "writing ONNX")

from .exporter import export_onnx as export_onnx
from .exporter import save_onnx as save_onnx
