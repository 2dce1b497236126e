"""The lowering table of the CPU target, and its decorators."""

from ..element_types import COMPUTES, MOVES
from ..kernels.kernel_table import KernelTable

TABLE = KernelTable("cpu", COMPUTES, MOVES)

accepts = TABLE.accepts
elementwise = TABLE.elementwise
indexed = TABLE.indexed
template = TABLE.template
