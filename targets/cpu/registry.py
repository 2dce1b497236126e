"""The lowering table of the CPU target, and its decorators."""

from ..kernels.kernel_table import KernelTable

TABLE = KernelTable("cpu")

accepts = TABLE.accepts
elementwise = TABLE.elementwise
indexed = TABLE.indexed
template = TABLE.template
