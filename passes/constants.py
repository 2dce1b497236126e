"""Names for the constants that passes make."""

from ..dialects.core.location import node_names, value_names
from ..dialects.core.op import Op


def hint(op: Op, index: int = 0) -> str:
    """Name a constant that stands for a result of an op: by its value, or else by its node."""
    if names := value_names(op.location):
        return names[min(index, len(names) - 1)]
    nodes = node_names(op.location)
    return nodes[-1] if nodes else op.op_name.partition(".")[2]
