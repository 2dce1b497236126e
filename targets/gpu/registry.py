"""The lowering table of the GPU target, and its decorators."""

from ..kernels.kernel_table import KernelTable

TABLE = KernelTable("gpu")

accepts = TABLE.accepts
elementwise = TABLE.elementwise
indexed = TABLE.indexed
template = TABLE.template
