"""Orders of axes in memory, against what numpy does with strides."""

import io
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trivium.dialects import tri as tri
from trivium.dialects.core.attributes import order_of, tensor_of, type_of
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.interpret import run
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.module import Module
from trivium.dialects.core.sizes.dim import symbol
from trivium.dialects.core.sizes.substitution import evaluate
from trivium.dialects.core.sizes.symbols import Range
from trivium.dialects.core.tensor import Tensor
from trivium.targets.memory.orders import (
    channels_last,
    reshaped_order,
    row_major,
    same_memory,
    strides_of,
    transposed_order,
)

Shape = tuple[int, ...]
LAW = settings(derandomize=True, deadline=None, max_examples=400, database=None)


def laid_out(shape: Shape, order: Shape) -> np.ndarray:
    """Return a tensor whose elements are their places in memory."""
    outer = tuple(shape[axis] for axis in order)
    memory = np.arange(math.prod(shape)).reshape(outer)
    return memory.transpose(np.argsort(order)) if order else memory


def factors(draw: st.DrawFn, size: int) -> Shape:
    """Write a size as a product, with a few ones in between."""
    sizes: list[int] = []
    while size > 1:
        divisors = [d for d in range(2, size + 1) if size % d == 0]
        sizes.append(draw(st.sampled_from(divisors)))
        size //= sizes[-1]
    for _ in range(draw(st.integers(0, 2))):
        sizes.insert(draw(st.integers(0, len(sizes))), 1)
    return tuple(sizes)


@st.composite
def reshapes(draw: st.DrawFn) -> tuple[Shape, Shape, Shape]:
    size = draw(st.sampled_from([1, 2, 4, 6, 12, 24, 36]))
    shape = factors(draw, size)
    return shape, tuple(draw(st.permutations(range(len(shape))))), factors(draw, size)


@LAW
@given(reshapes())
def test_strides_are_numpys(given: tuple[Shape, Shape, Shape]) -> None:
    shape, order, _ = given
    array = laid_out(shape, order)
    strides = [step // array.itemsize for step in array.strides]
    for size, step, expected in zip(shape, strides_of(shape, order), strides, strict=True):
        assert size == 1 or step == expected


@LAW
@given(reshapes())
def test_a_reshaped_order_is_there_when_numpy_needs_no_copy(
    given: tuple[Shape, Shape, Shape],
) -> None:
    shape, order, new_shape = given
    array = laid_out(shape, order)
    found = reshaped_order(shape, order, new_shape)
    viewed = np.shares_memory(array, array.reshape(new_shape))
    assert (found is not None) == viewed
    if found is not None:
        assert sorted(found) == list(range(len(new_shape)))
        np.testing.assert_array_equal(laid_out(new_shape, found), array.reshape(new_shape))


@LAW
@given(reshapes())
def test_reshaping_back_lies_where_it_lay(given: tuple[Shape, Shape, Shape]) -> None:
    shape, order, new_shape = given
    there = reshaped_order(shape, order, new_shape)
    if there is not None:
        back = reshaped_order(new_shape, there, shape)
        assert back is not None
        assert same_memory(shape, back, order)


@LAW
@given(reshapes(), st.data())
def test_transposing_reads_the_same_memory(
    given: tuple[Shape, Shape, Shape], data: st.DataObject
) -> None:
    shape, order, _ = given
    permutation = data.draw(st.permutations(range(len(shape))))
    array = laid_out(shape, order).transpose(permutation)
    found = transposed_order(order, permutation)
    np.testing.assert_array_equal(laid_out(array.shape, found), array)


@LAW
@given(reshapes(), st.data())
def test_same_memory_means_the_same_places(
    given: tuple[Shape, Shape, Shape], data: st.DataObject
) -> None:
    shape, order, _ = given
    other = tuple(data.draw(st.permutations(range(len(shape)))))
    equal = np.array_equal(laid_out(shape, order), laid_out(shape, other))
    assert same_memory(shape, order, other) == equal


def test_images() -> None:
    assert channels_last(4) == (0, 2, 3, 1)
    assert row_major(3) == (0, 1, 2)
    # Tokens of an image: [N, C, H, W] to [N, C, H * W], then [N, H * W, C] is row-major.
    tokens = reshaped_order((2, 8, 3, 5), (0, 2, 3, 1), (2, 8, 15))
    assert tokens == (0, 2, 1)
    assert transposed_order(tokens, (0, 2, 1)) == (0, 1, 2)
    # Channels and places do not become one axis.
    assert reshaped_order((2, 8, 3, 5), (0, 2, 3, 1), (2, 120)) is None
    assert reshaped_order((2, 8, 1, 1), (0, 2, 3, 1), (2, 8)) == (0, 1)
    assert reshaped_order((1, 8, 3, 5), (0, 2, 3, 1), (8, 3, 5)) == (1, 2, 0)


@pytest.mark.parametrize("low", [0, 1])
def test_the_order_of_symbols_is_that_of_all_sizes(low: int) -> None:
    n, h, w = (symbol(name, Range(low)) for name in ("n", "h", "w"))
    shape, order = (n, 8, h, w), (0, 2, 3, 1)
    for new in ((n, 8, h * w), (n, 2, 4, h, w), (1, n, 8, h, w), (n, 8 * h, w), (8 * h, w)):
        found = reshaped_order(shape, order, new)
        for sizes in ({"n": 2, "h": 3, "w": 5}, {"n": 1, "h": 1, "w": 4}, {"n": 3, "h": 2, "w": 1}):
            known, wanted = (tuple(evaluate(s, sizes) for s in each) for each in (shape, new))
            if found is not None and math.prod(known) == math.prod(wanted):
                there = laid_out(known, order).reshape(wanted)
                np.testing.assert_array_equal(laid_out(wanted, found), there)
    assert reshaped_order(shape, order, (n, 8, h * w)) == (0, 2, 1)


def test_nothing_lies_anywhere() -> None:
    assert reshaped_order((2, 0, 3), (0, 2, 1), (3, 0)) == (0, 1)
    assert same_memory((2, 0, 3), (0, 2, 1), (0, 1, 2))


@LAW
@given(reshapes())
def test_types_say_their_order(given: tuple[Shape, Shape, Shape]) -> None:
    shape, order, _ = given
    tensor = Tensor(shape, "f16")
    with new_context(), ir.Location.unknown():
        made = type_of(tensor, order)
        assert (order_of(made), tensor_of(made)) == (order, tensor)
        assert ir.Type.parse(str(made)) == made
        assert (made == type_of(tensor)) == (order == row_major(len(shape)))


ORDERED = """
func.func @main(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %0 = "tri.group"(%x) ({
  ^bb0(%a: tensor<2x3x4xf32>):
    %1 = "tri.exp"(%a) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32, [0, 2, 1]>
    "tri.yield"(%1) : (tensor<2x3x4xf32, [0, 2, 1]>) -> ()
  }) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32, [0, 2, 1]>
  %2 = "tri.neg"(%0) : (tensor<2x3x4xf32, [0, 2, 1]>) -> tensor<2x3x4xf32>
  return %2 : tensor<2x3x4xf32>
}
"""


def test_the_order_does_not_matter_to_the_meaning() -> None:
    x = np.random.default_rng(0).random((2, 3, 4), np.float32)
    with new_context():
        np.testing.assert_allclose(run(Module.parse(ORDERED), [x])[0], -np.exp(x), rtol=1e-6)


def test_bytecode_keeps_orders() -> None:
    with new_context():
        module = Module.parse(ORDERED)
        file = io.BytesIO()
        module.operation.write_bytecode(file)
        assert str(Module.parse(file.getvalue())) == str(module)


def test_the_body_of_a_group_sees_the_order() -> None:
    with new_context(), pytest.raises(CompileError, match=r"body yields \(tensor<2x3x4xf32, \[0"):
        Module.parse(
            ORDERED.replace(", [0, 2, 1]>\n  %2", ">\n  %2").replace(
                "(%0) : (tensor<2x3x4xf32, [0, 2, 1]>)", "(%0) : (tensor<2x3x4xf32>)"
            )
        )
