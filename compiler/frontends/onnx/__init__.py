"""The ONNX frontend: opset 7 to the newest, translated node by node into `tri`."""

from ....dialects.core.extras import is_installed, missing

if not is_installed("onnx"):
    raise missing("onnx", "reading ONNX")

from . import ops_activation as ops_activation
from . import ops_attention as ops_attention
from . import ops_batch_norm as ops_batch_norm
from . import ops_constant as ops_constant
from . import ops_conv as ops_conv
from . import ops_elementwise as ops_elementwise
from . import ops_index as ops_index
from . import ops_legacy as ops_legacy
from . import ops_matmul as ops_matmul
from . import ops_norm as ops_norm
from . import ops_pad as ops_pad
from . import ops_pool as ops_pool
from . import ops_quantize as ops_quantize
from . import ops_rearrange as ops_rearrange
from . import ops_reduce as ops_reduce
from . import ops_resize as ops_resize
from . import ops_rnn as ops_rnn
from . import ops_shape as ops_shape
from . import ops_signal as ops_signal
from . import ops_softmax as ops_softmax
from . import ops_text as ops_text
from . import ops_vision as ops_vision
from .importer import import_onnx as import_onnx
from .inputs import model_inputs as model_inputs
from .model import Source as Source
from .model import read_model as read_model
