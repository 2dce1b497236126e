"""Functions that call kernels, run like all others."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tile_kernels import integers
from trivium.dialects import tri as tri
from trivium.dialects.core.errors import Invalid
from trivium.dialects.core.interpret import run
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.module import Module
from trivium.dialects.core.tensor import Array

COPY = """
"tile.kernel"() ({
^bb0(%x: memref<SIZExTYPE>, %y: memref<SIZExTYPE>):
  %i = "tile.program_id"() {axis = 0} : () -> tensor<i32>
  %a = "tile.load"(%x, %i) : (memref<SIZExTYPE>, tensor<i32>) -> tensor<TYPE>
  "tile.store"(%a, %y, %i) : (tensor<TYPE>, memref<SIZExTYPE>, tensor<i32>) -> ()
  "tile.return"() : () -> ()
}) {sym_name = "copy", grid = ["COUNT"]} : () -> ()
"""
"""A kernel that copies the first elements of memory, however they lie."""


def copy(size: int, count: int | None = None, dtype: str = "f32") -> str:
    programs = str(size if count is None else count)
    return COPY.replace("SIZE", str(size)).replace("TYPE", dtype).replace("COUNT", programs)


def results(text: str, *inputs: Array) -> tuple[Array, ...]:
    with new_context():
        return run(Module.parse(text), inputs)


def copied(source: str, target: str, x: Array) -> Array:
    """Run a function that copies memory from a tensor of one type to one of another."""
    text = f"""
    func.func @main(%x: {source}) -> {target} {{
      %y = "tile.launch"(%x) {{kernel = "copy"}} : ({source}) -> {target}
      return %y : {target}
    }}"""
    (y,) = results(text + copy(x.size), x)
    return y


def test_memory_is_seen_in_another_shape() -> None:
    x = integers(2, 3, 4)
    y = copied("tensor<2x3x4xf32>", "tensor<6x4xf32>", x)
    assert np.array_equal(y, x.reshape(6, 4))


def lying(shape: Sequence[int], order: list[int]) -> str:
    """Write the type of a tensor whose dimensions lie in an order in memory."""
    sizes = "".join(f"{size}x" for size in shape)
    return f"tensor<{sizes}f32{'' if order == sorted(order) else f', {order}'}>"


@given(st.permutations(range(3)), st.permutations(range(3)))
def test_tensors_lie_in_the_order_of_their_types(source: list[int], target: list[int]) -> None:
    """The same memory, seen in another order, is a transposed tensor."""
    x = integers(2, 3, 4)
    sizes = [0, 0, 0]
    for inner, outer in zip(target, source, strict=True):
        sizes[inner] = x.shape[outer]
    y = copied(lying(x.shape, source), lying(sizes, target), x)
    assert y.shape == tuple(sizes)
    for at in np.ndindex(*x.shape):
        place = [0, 0, 0]
        for inner, outer in zip(target, source, strict=True):
            place[inner] = at[outer]
        assert y[tuple(place)] == x[at]


def test_channels_last() -> None:
    x = integers(1, 3, 2, 2)
    y = copied("tensor<1x3x2x2xf32, [0, 2, 3, 1]>", "tensor<1x2x2x3xf32>", x)
    assert np.array_equal(y, x.transpose(0, 2, 3, 1))
    back = copied("tensor<1x2x2x3xf32>", "tensor<1x3x2x2xf32, [0, 2, 3, 1]>", y)
    assert np.array_equal(back, x)


@pytest.mark.parametrize("dtype", ["f64", "bf16", "i8", "ui32", "i1"])
def test_elements_of_all_types(dtype: str) -> None:
    types = f"tensor<2x1x{dtype}>", f"tensor<2x{dtype}>"
    text = f"""
    func.func @main() -> {types[1]} {{
      %x = "tri.constant"() {{value = dense<1> : tensor<2x1xi32>}} : () -> tensor<2x1xi32>
      %c = "tri.cast"(%x) {{to = "{dtype}"}} : (tensor<2x1xi32>) -> {types[0]}
      %y = "tile.launch"(%c) {{kernel = "copy"}} : ({types[0]}) -> {types[1]}
      return %y : {types[1]}
    }}"""
    (y,) = results(text + copy(2, dtype=dtype))
    assert y.astype(int).tolist() == [1, 1]


def test_a_scalar_and_no_element() -> None:
    assert copied("tensor<f32>", "tensor<1xf32>", np.float32(3)).tolist() == [3]
    assert copied("tensor<0x4xf32>", "tensor<4x0xf32>", np.zeros((0, 4), np.float32)).size == 0


def test_launches_stand_among_other_ops() -> None:
    """One kernel several times, on what other ops make and for them; operands stay as they are."""
    type_ = "tensor<2x2xf32>"
    text = f"""
    func.func @main(%x: {type_}) -> ({type_}, {type_}) {{
      %a = "tile.launch"(%x) {{kernel = "copy"}} : ({type_}) -> {type_}
      %b = "tri.neg"(%a) : ({type_}) -> {type_}
      %c = "tile.launch"(%b) {{kernel = "copy"}} : ({type_}) -> {type_}
      return %a, %c : {type_}, {type_}
    }}"""
    x = integers(2, 2)
    before = x.copy()
    a, c = results(text + copy(4), x)
    assert np.array_equal(a, x)
    assert np.array_equal(c, -x)
    assert np.array_equal(x, before)


def test_a_kernel_of_several_outputs() -> None:
    text = """
    func.func @main(%x: tensor<4xi32>) -> (tensor<4xi32>, tensor<2x2xi1, [1, 0]>) {
      %a, %b = "tile.launch"(%x) {kernel = "two"}
          : (tensor<4xi32>) -> (tensor<4xi32>, tensor<2x2xi1, [1, 0]>)
      return %a, %b : tensor<4xi32>, tensor<2x2xi1, [1, 0]>
    }
    "tile.kernel"() ({
    ^bb0(%x: memref<4xi32>, %y: memref<4xi32>, %z: memref<4xi1>):
      %i = "tile.program_id"() {axis = 0} : () -> tensor<i32>
      %a = "tile.load"(%x, %i) : (memref<4xi32>, tensor<i32>) -> tensor<i32>
      %b = "tile.binary"(%a, %i) {function = "mul"} : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %c = "tile.binary"(%a, %i) {function = "gt"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "tile.store"(%b, %y, %i) : (tensor<i32>, memref<4xi32>, tensor<i32>) -> ()
      "tile.store"(%c, %z, %i) : (tensor<i1>, memref<4xi1>, tensor<i32>) -> ()
      "tile.return"() : () -> ()
    }) {sym_name = "two", grid = ["4"]} : () -> ()
    """
    x = np.array([5, 0, 7, 3], np.int32)
    product, above = results(text, x)
    assert product.tolist() == [0, 0, 14, 9]
    assert above.tolist() == [[True, True], [False, False]]  # its columns follow one another


def test_what_is_not_written_shows() -> None:
    x = integers(4)
    (y,) = results(
        """
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %y = "tile.launch"(%x) {kernel = "copy"} : (tensor<4xf32>) -> tensor<4xf32>
      return %y : tensor<4xf32>
    }"""
        + copy(4, count=3),
        x,
    )
    assert np.array_equal(y[:3], x[:3])
    assert np.isnan(y[3])


def test_faults_name_the_kernel() -> None:
    text = """
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %y = "tile.launch"(%x) {kernel = "copy"} : (tensor<4xf32>) -> tensor<4xf32>
      return %y : tensor<4xf32>
    }"""
    with pytest.raises(Invalid, match=r"program \(4,\) of 'copy'.*'tile.load' op is at 4"):
        results(text + copy(4, count=5), integers(4))
