"""The lowering table of the GPU target, and its decorators."""

from ..element_types import COMPUTES, ORDERED
from ..kernels.kernel_table import KernelTable

TABLE = KernelTable("gpu", COMPUTES, layout=ORDERED)

accepts = TABLE.accepts
elementwise = TABLE.elementwise
indexed = TABLE.indexed
template = TABLE.template
