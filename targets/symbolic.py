"""Which ops depend on sizes that change from run to run."""

from ..dialects.core.attributes import tensor_of
from ..dialects.core.module import ops
from ..dialects.core.op import Op


def has_symbols(op: Op) -> bool:
    """Return whether an op, or one inside of it, has a value or an attribute with symbols."""
    values = (*op.operation.operands, *op.results)
    if op.symbols or not all(tensor_of(value.type).is_static for value in values):
        return True
    return len(op.operation.regions) > 0 and any(map(has_symbols, ops(op.operation)))
