"""The inputs and outputs of a session for sequences of tensors of any shapes.

Such a sequence `s` is `s.elements`, those of all tensors one after the other, and `s.shapes`, a
list of MOST_RANK sizes for each tensor, in which -1 is an axis that the tensor lacks.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np
import onnx

from .....dialects.core.mlir import ir
from .....dialects.core.tensor import Array, numpy_dtype
from ...core.sizes.found_sizes import FoundSizes
from ..items import MOST_RANK, Item, RaggedSequence
from .ragged_sequences import NO_AXIS, checked


def ragged_inputs(name: str, code: int) -> list[onnx.ValueInfoProto]:
    """Return what a session takes for a sequence, by the code of its element type."""
    tensor = onnx.helper.make_tensor_value_info
    elements, shapes = _ports(name)
    return [
        tensor(elements, code, (None,)),
        tensor(shapes, onnx.TensorProto.INT64, (None, MOST_RANK)),
    ]


def ragged_input(
    name: str, values: Mapping[str, Item | None], found: FoundSizes
) -> RaggedSequence | None:
    """Return a sequence that the inputs of a session are, given their values; None for no such."""
    elements, shapes = (values.get(port) for port in _ports(name))
    if not isinstance(elements, ir.Value) or not isinstance(shapes, ir.Value):
        return None
    return checked(RaggedSequence(elements, shapes), found)


def ragged_outputs(name: str, item: RaggedSequence) -> Iterator[tuple[str, ir.Value]]:
    """Yield the outputs of a session that a sequence is, by their names."""
    yield from zip(_ports(name), (item.elements, item.shapes), strict=True)


def flatten_arrays(
    name: str, elements: Sequence[Array], dtype: str, ports: Collection[str]
) -> dict[str, Array] | None:
    """Return what a session takes for the arrays of a sequence.

    None where that has other ports, and for arrays of more axes than it takes.
    """
    ranks = {array.ndim for array in elements}
    if not {*_ports(name)} <= {*ports} or max(ranks, default=0) > MOST_RANK:
        return None
    shapes = np.full((len(elements), MOST_RANK), NO_AXIS, np.int64)
    for row, array in zip(shapes, elements, strict=True):
        row[: array.ndim] = array.shape
    flat = [array.reshape(-1) for array in elements] or [np.zeros(0, numpy_dtype(dtype))]
    return dict(zip(_ports(name), (np.concatenate(flat), shapes), strict=True))


def shaped_arrays(name: str, results: Mapping[str, Array]) -> list[Array] | None:
    """Return the arrays of a sequence that a session puts out; None where it has other ports."""
    if not {*_ports(name)} <= {*results}:
        return None
    elements, shapes = (results[port] for port in _ports(name))
    ends = np.cumsum(np.abs(shapes).prod(axis=1, dtype=np.int64))
    parts = np.split(elements, ends)[:-1]
    kept = [row[row != NO_AXIS] for row in shapes]
    return [part.reshape(shape) for part, shape in zip(parts, kept, strict=True)]


def _ports(name: str) -> tuple[str, str]:
    return f"{name}.elements", f"{name}.shapes"
