"""The elementwise expressions of PNNX, `add(mul(@0,2),@1)`: text, tree, types and values; no MLIR.

The op `tri.expression` and the PNNX frontend import it. Start reading at `tree.py`; `tokens.py`
reads the text, `inference.py` infers types by the rules of torch, `evaluation.py` computes values.
"""

from .arithmetic import compute as compute
from .evaluation import evaluate as evaluate
from .evaluation import evaluate_tokens as evaluate_tokens
from .evaluation import given as given
from .evaluation import renamed as renamed
from .functions import FUNCTIONS as FUNCTIONS
from .functions import SIZE as SIZE
from .functions import Function as Function
from .inference import infer as infer
from .promotion import Number as Number
from .promotion import promote as promote
from .promotion import signature as signature
from .promotion import simplified as simplified
from .results import array_of as array_of
from .results import items_of as items_of
from .results import tensor_of as tensor_of
from .tokens import Literal as Literal
from .tokens import Reference as Reference
from .tokens import tokenize as tokenize
from .tree import Formula as Formula
from .tree import Node as Node
from .tree import parse as parse
