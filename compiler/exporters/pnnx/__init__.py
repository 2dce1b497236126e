"""The PNNX exporter: ops of `tri` as torch's modules and functions.

`compiler/formats` imports it, on first use. Start reading at `exporter.py`; modules named `ops_...`
have one function for each op.
"""

from . import ops_activation as ops_activation
from . import ops_attention as ops_attention
from . import ops_elementwise as ops_elementwise
from . import ops_fourier as ops_fourier
from . import ops_layers as ops_layers
from . import ops_moves as ops_moves
from . import ops_reduce as ops_reduce
from . import ops_rnn as ops_rnn
from . import ops_vision as ops_vision
from .exporter import export_pnnx as export_pnnx
from .exporter import save_pnnx as save_pnnx
