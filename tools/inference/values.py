"""Descriptions of inputs and outputs, and values that a session keeps."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...runtime.contents import Port
from ...runtime.dtypes import TEXT, resolve
from .errors import Fail, InvalidArgument

_NAMES = {"float32": "float", "float64": "double", TEXT: "string"}


def type_name(dtype: str) -> str:
    """Return what onnxruntime calls tensors of an element type."""
    return f"tensor({_NAMES.get(dtype, dtype)})"


def dtype_of(element: Any) -> np.dtype[Any]:
    """Return the numpy type of an element type: of numpy, or by its name in a tensor type."""
    names = {spelled: name for name, spelled in _NAMES.items()}
    if isinstance(element, str):
        return resolve(names.get(element, element))
    return np.dtype(element)


class NodeArg(NamedTuple):
    """Describe an input or an output: sizes that may change are names or None."""

    name: str
    type: str
    shape: list[int | str | None]

    @staticmethod
    def of(port: Port) -> "NodeArg":
        """Return the description of a port, whose sizes may be expressions."""
        return NodeArg(port.name, type_name(port.dtype), [_spelled(size) for size in port.shape])


def _spelled(size: Any) -> int | str | None:
    """Return a number, a name, or None for an expression, which onnxruntime has none for."""
    is_expression = isinstance(size, str) and not size.isidentifier()
    return None if is_expression else size


class OrtValue:
    """Hold an array in the memory of the process."""

    def __init__(self, array: NDArray[Any]) -> None:
        self._array = array

    @staticmethod
    def ortvalue_from_numpy(
        array: NDArray[Any], device_type: str = "cpu", device_id: int = 0
    ) -> "OrtValue":
        """Hold an array without a copy."""
        _check_device(device_type, device_id)
        return OrtValue(array)

    @staticmethod
    def ortvalue_from_shape_and_type(
        shape: Sequence[int], element_type: Any, device_type: str = "cpu", device_id: int = 0
    ) -> "OrtValue":
        """Hold memory for an array."""
        _check_device(device_type, device_id)
        return OrtValue(np.empty(tuple(shape), dtype_of(element_type)))

    def numpy(self) -> NDArray[Any]:
        """Return the array, without a copy."""
        return self._array

    def shape(self) -> list[int]:
        """Return the sizes."""
        return list(self._array.shape)

    def data_type(self) -> str:
        """Return the type as a session describes it."""
        return type_name(self._array.dtype.name)

    def data_ptr(self) -> int:
        """Return the address."""
        return self._array.ctypes.data

    def tensor_size_in_bytes(self) -> int:
        """Return how many bytes it takes."""
        return self._array.nbytes

    def device_name(self) -> str:
        """Return where it is."""
        return "cpu"

    def has_value(self) -> bool:
        return True

    def is_tensor(self) -> bool:
        return True

    def is_tensor_sequence(self) -> bool:
        return False

    def is_sparse_tensor(self) -> bool:
        return False

    def update_inplace(self, array: NDArray[Any]) -> None:
        """Copy an array of the same shape and type into it."""
        if array.shape != self._array.shape or array.dtype != self._array.dtype:
            raise InvalidArgument(
                f"the array is {array.dtype} {list(array.shape)}, must be "
                f"{self._array.dtype} {self.shape()}"
            )
        np.copyto(self._array, array)


def _check_device(device_type: str, device_id: int) -> None:
    if device_type != "cpu" or device_id:
        raise Fail(f"device '{device_type}:{device_id}' is not available, there is: cpu:0")
