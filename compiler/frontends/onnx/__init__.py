"""The ONNX frontend: opset 7 to the newest, translated node by node into `tri`."""

from . import ops_elementwise as ops_elementwise
from .importer import import_onnx as import_onnx
from .model import Bindings as Bindings
from .model import Source as Source
