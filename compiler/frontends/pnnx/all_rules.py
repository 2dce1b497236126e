"""All rules that come with Trivium: importing this module registers them."""

from . import ops_activation as ops_activation
from . import ops_adaptive_pool as ops_adaptive_pool
from . import ops_advanced_index as ops_advanced_index
from . import ops_attention as ops_attention
from . import ops_compare as ops_compare
from . import ops_complex as ops_complex
from . import ops_conv as ops_conv
from . import ops_create as ops_create
from . import ops_expression as ops_expression
from . import ops_fourier as ops_fourier
from . import ops_identity as ops_identity
from . import ops_index as ops_index
from . import ops_join as ops_join
from . import ops_matmul as ops_matmul
from . import ops_multihead as ops_multihead
from . import ops_norm as ops_norm
from . import ops_pad as ops_pad
from . import ops_pool as ops_pool
from . import ops_reduce as ops_reduce
from . import ops_resize as ops_resize
from . import ops_rnn as ops_rnn
from . import ops_shape as ops_shape
from . import ops_slice as ops_slice
from . import ops_spectrogram as ops_spectrogram
from . import ops_structure as ops_structure
from . import ops_vision as ops_vision
