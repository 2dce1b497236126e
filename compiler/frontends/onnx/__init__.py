"""The ONNX frontend: opset 7 to the newest, translated node by node into `tri`.

The driver and the ONNX backend import it. Start with `importer.py`; `registry.py` has the table of
rules, `rules` has one module for each family of operators.
"""

from ....dialects.core.extras import is_installed, missing

if not is_installed("onnx"):
    raise missing("onnx", "reading ONNX")

from . import rules as rules
from .importer import import_onnx as import_onnx
from .inputs import model_inputs as model_inputs
from .model import Source as Source
from .model import read_model as read_model
from .ports import Spread as Spread
from .ports import gathered_outputs as gathered_outputs
from .ports import has_sequences as has_sequences
from .ports import spread_inputs as spread_inputs
