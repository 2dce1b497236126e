"""Rules for operators that join tensors and take them apart."""

from .....dialects import tri
from .....dialects.core.errors import Invalid
from .....dialects.core.sizes.atoms import Size, is_symbolic
from .....dialects.core.sizes.checks import need
from .....dialects.core.sizes.dim import ceildiv
from .....dialects.core.tensor import normalize_axis
from ...core.slices import equal_parts, sliced
from ...core.values import cast
from ..node import Node
from ..promotion import promoted_type
from ..registry import Complex, Value, torch_op
from ..views import Ints, as_complex, axis_of, concat, cut, parts, shape_of

Tensor = Value | Complex

SPLIT = {
    "self": "tensor",
    "split_size": "split_size_or_sections",
    "split_sizes": "split_size_or_sections",
}
"""The names of ATen's schema, and those of torch.split."""


@torch_op("torch.cat", "torch.concat")
def cat(*tensors: Tensor, dim: int = 0) -> Tensor:
    """Join tensors; those of one axis without elements fit any others."""
    kept = [x for x in tensors if shape_of(x) != (0,)] or list(tensors[:1])
    if not kept:
        raise Invalid("has no tensors to join")
    return concat(_of_one_type(kept), axis_of(kept[0], dim))


def _of_one_type(tensors: list[Tensor]) -> list[Tensor]:
    if any(isinstance(x, Complex) for x in tensors):
        return tensors
    values = [parts(x) for x in tensors]
    dtype = promoted_type(*values)
    return [cast(x, dtype) for x in values]


@torch_op("torch.stack")
def stack(*tensors: Tensor, dim: int = 0) -> Tensor:
    if not tensors:
        raise Invalid("has no tensors to join")
    axis = normalize_axis(dim, len(shape_of(tensors[0])) + 1)
    whole = _of_one_type(list(tensors))
    if any(isinstance(x, Complex) for x in whole):
        return Complex(tri.Stack.build([as_complex(x).parts for x in whole], axis=axis).y)
    return tri.Stack.build([parts(x) for x in whole], axis=axis).y


@torch_op("torch.split", "aten::split_with_sizes", renamed=SPLIT)
def split(
    tensor: Tensor, split_size_or_sections: int | Ints, dim: int = 0, *, operator: Node
) -> tuple[Tensor, ...]:
    axis = axis_of(tensor, dim)
    if isinstance(split_size_or_sections, tuple):
        return _split(tensor, axis, split_size_or_sections)
    return _pieces(tensor, axis, split_size_or_sections, operator.result_count)


@torch_op("torch.chunk")
def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    axis = axis_of(input, dim)
    if chunks < 1:
        raise Invalid(f"splits into {chunks} chunks, must be at least 1")
    size = shape_of(input)[axis]
    if not is_symbolic(size):
        return _pieces(input, axis, max(-(-size // chunks), 1), chunks)
    parts = equal_parts(size, chunks)
    need(parts[-1], 1, f"splits {size} elements into fewer than {chunks} chunks")
    return _split(input, axis, parts)


def _pieces(x: Tensor, axis: int, size: Size, count: int) -> tuple[Tensor, ...]:
    """Split in pieces of one size; the last one may be smaller.

    Where it is not known how many these are, they are as many as the file has outputs, `count`.
    """
    whole = shape_of(x)[axis]
    if size < 1:
        raise Invalid(f"splits into pieces of {size}, must be at least 1")
    if is_symbolic(whole) or is_symbolic(size):
        last = whole - (count - 1) * size
        fault = f"splits {whole} elements into pieces of {size}, must be {count} pieces"
        need(last, 1, fault)
        need(size, last, fault)
        return _split(x, axis, (*(size,) * (count - 1), last))
    return _split(x, axis, tuple(min(size, whole - at) for at in range(0, whole, size)))


def _split(x: Tensor, axis: int, sizes: Ints) -> tuple[Tensor, ...]:
    made = tri.Split.build(parts(x), axis=axis, sizes=sizes)
    if isinstance(x, Complex):
        return tuple(Complex(y) for y in made.results)
    return tuple(made.results)


@torch_op("torch.tensor_split")
def tensor_split(
    input: Tensor, indices: Ints | None = None, *, sections: int | None = None, dim: int = 0
) -> tuple[Tensor, ...]:
    """Split at indices, or into so many sections, the first ones one larger than the last."""
    axis = axis_of(input, dim)
    size = shape_of(input)[axis]
    if sections is not None:
        if sections < 1:
            raise Invalid(f"splits into {sections} sections, must be at least 1")
        return _split(input, axis, tuple(ceildiv(size - i, sections) for i in range(sections)))
    if indices is None:
        raise Invalid("has neither indices nor sections")
    pieces = zip((0, *indices), (*indices, size), strict=True)
    spans = [sliced(start, end, 1, size) for start, end in pieces]
    lengths = tuple(count for _, count in spans)
    if sum(lengths) == size:
        return _split(input, axis, lengths)
    return tuple(cut(input, axis, start, start + count) for start, count in spans)


@torch_op("torch.unbind")
def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    made = tri.Unbind.build(parts(input), axis=axis_of(input, dim))
    return tuple(Complex(y) if isinstance(input, Complex) else y for y in made.results)
