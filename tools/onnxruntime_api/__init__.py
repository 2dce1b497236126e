"""The names of onnxruntime, imported as `trivium.onnxruntime_api`: this folder is that package.

Start reading at `tools/inference/inference_session.py`.
"""

# pyright: reportMissingImports=false, reportUnknownVariableType=false

from trivium.tools.inference.binding import IOBinding as IOBinding
from trivium.tools.inference.errors import Fail as Fail
from trivium.tools.inference.errors import InvalidArgument as InvalidArgument
from trivium.tools.inference.errors import NoSuchFile as NoSuchFile
from trivium.tools.inference.inference_session import InferenceSession as InferenceSession
from trivium.tools.inference.inference_session import ModelMetadata as ModelMetadata
from trivium.tools.inference.options import ExecutionMode as ExecutionMode
from trivium.tools.inference.options import GraphOptimizationLevel as GraphOptimizationLevel
from trivium.tools.inference.options import RunOptions as RunOptions
from trivium.tools.inference.options import SessionOptions as SessionOptions
from trivium.tools.inference.providers import get_available_providers as get_available_providers
from trivium.tools.inference.providers import get_device as get_device
from trivium.tools.inference.values import NodeArg as NodeArg
from trivium.tools.inference.values import OrtValue as OrtValue
from trivium.version import __version__ as __version__
