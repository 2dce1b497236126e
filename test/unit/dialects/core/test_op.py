"""Ops without IR: their attributes alone, from which they infer and compute."""

import numpy as np
import pytest
from trivium.dialects import tri
from trivium.dialects.core.discovery import public_names
from trivium.dialects.core.interpret import run
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.module import Module, ops
from trivium.dialects.core.op import Op
from trivium.dialects.core.tensor import Tensor

WINDOW = {"strides": (2,), "pads": (0, 1), "dilations": (1,)}
TEXT = """
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = "tri.leaky_relu"(%x) {alpha = 0.5} : (tensor<3xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}
"""


def test_an_op_without_operation_has_its_attributes_and_the_defaults_of_others() -> None:
    op = tri.Conv(**WINDOW)
    assert (op.strides, op.pads, op.group) == ((2,), (0, 1), 1)
    assert op.attributes == {**WINDOW, "group": 1}
    assert op.infer(Tensor((1, 2, 4), "f32"), Tensor((3, 2, 2), "f32")).shape == (1, 3, 2)


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({**WINDOW, "stride": 1}, r"tri.conv has no attribute \['stride'\]"),
        ({"strides": (1,), "pads": (0, 0)}, "tri.conv needs attribute 'dilations'"),
    ],
)
def test_attributes_must_be_those_of_the_op(attributes: dict[str, object], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        tri.Conv(**attributes)


def test_attributes_cannot_be_set() -> None:
    with pytest.raises(AttributeError):
        setattr(tri.Conv(**WINDOW), "group", 2)  # noqa: B010


def test_an_op_in_ir_infers_and_computes_as_it_does_without() -> None:
    x = np.array([-2, 0, 4], np.float32)
    with new_context():
        module = Module.parse(TEXT)
        (op,) = ops(module.operation)
        alone = op.without_operation()
        assert alone.attributes == {"alpha": 0.5}
        assert op.reference(x).tolist() == alone.reference(x).tolist() == [-1, 0, 4]
        assert run(module, [x])[0].tolist() == [-1, 0, 4]


def test_a_dialect_has_the_ops_of_all_of_its_modules() -> None:
    named = {value for value in vars(tri).values() if isinstance(value, type)}
    assert set(tri.TRI.ops.values()) <= named
    assert all(issubclass(op, Op) for op in tri.TRI.ops.values())
    assert "Conv" in public_names(tri.__name__)
