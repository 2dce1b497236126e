"""Arrays of strings as attributes, and back."""

from collections.abc import Iterator

import numpy as np
import pytest
from trivium.dialects.core.attributes import from_attribute, to_attribute
from trivium.dialects.core.errors import Invalid
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.tensor import Array


@pytest.fixture(scope="module", autouse=True)
def context() -> Iterator[ir.Context]:
    with new_context() as context, ir.Location.unknown():
        yield context


@pytest.mark.parametrize(
    "array",
    [
        np.array(['a"b\\', "\u00e9\n\t\0x", "\U0001f600", "", "[], dense<>"], object),
        np.array([["same"] * 3] * 2, object),
        np.array("scalar", object),
        np.empty((0, 3), object),
    ],
)
def test_arrays_come_back(array: Array) -> None:
    printed = str(to_attribute(array, Array))
    back = from_attribute(ir.Attribute.parse(printed), Array)
    assert (back.shape, back.dtype) == (array.shape, array.dtype)
    np.testing.assert_array_equal(back, array)


def test_the_text_is_that_of_mlir() -> None:
    attribute = to_attribute(np.array(["a", 'b"'], object), Array)
    assert str(attribute) == 'dense<["a", "b\\22"]> : tensor<2x!tri.string>'


def test_other_objects_are_refused() -> None:
    with pytest.raises(Invalid, match="has a NoneType among its elements, must have strings"):
        to_attribute(np.array(["a", None], object), Array)
    with pytest.raises(Invalid, match=r"has 'a\\ud800', which is not Unicode"):
        to_attribute(np.array(["a\ud800"], object), Array)
