"""Arrays that runs read from and write to: `IOBinding`."""

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import InvalidArgument
from .values import OrtValue, dtype_of


class IOBinding:
    """Bind arrays to inputs and outputs; an output without one gets a new array in each run."""

    def __init__(self, inputs: Sequence[str], outputs: Sequence[str]) -> None:
        """Bind nothing yet to inputs and outputs of some names."""
        self._inputs: dict[str, NDArray[Any]] = {}
        self._outputs: dict[str, NDArray[Any] | None] = {}
        self._results: list[OrtValue] = []
        self._known = inputs
        self._made = outputs

    @property
    def feeds(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of inputs, by name."""
        return self._inputs

    @property
    def outputs(self) -> dict[str, NDArray[Any] | None]:
        """Return the outputs that were asked for, with the arrays that they are written to."""
        return self._outputs

    def bind_cpu_input(self, name: str, array: NDArray[Any]) -> None:
        """Bind an array to an input."""
        _check(name, self._known, "input")
        self._inputs[name] = array

    def bind_ortvalue_input(self, name: str, value: OrtValue) -> None:
        """Bind a value to an input."""
        self.bind_cpu_input(name, value.numpy())

    def bind_input(
        self,
        name: str,
        device_type: str,
        device_id: int,
        element_type: Any,
        shape: Sequence[int],
        buffer_ptr: int,
    ) -> None:
        """Bind memory at an address to an input."""
        self.bind_cpu_input(name, _array_at(buffer_ptr, element_type, shape, device_type))

    def bind_output(
        self,
        name: str,
        device_type: str = "cpu",
        device_id: int = 0,
        element_type: Any = None,
        shape: Sequence[int] | None = None,
        buffer_ptr: int | None = None,
    ) -> None:
        """Ask for an output; with an address, it is written there."""
        _check(name, self._made, "output")
        if buffer_ptr is None:
            self._outputs[name] = None
            return
        self._outputs[name] = _array_at(buffer_ptr, element_type, shape or (), device_type)

    def bind_ortvalue_output(self, name: str, value: OrtValue) -> None:
        """Ask for an output, which is written to a value."""
        _check(name, self._made, "output")
        self._outputs[name] = value.numpy()

    def get_outputs(self) -> list[OrtValue]:
        """Return the outputs of the last run, in the order in which they were bound."""
        return self._results

    def copy_outputs_to_cpu(self) -> list[NDArray[Any]]:
        """Return the arrays of the outputs of the last run."""
        return [each.numpy() for each in self._results]

    def clear_binding_inputs(self) -> None:
        self._inputs.clear()

    def clear_binding_outputs(self) -> None:
        self._outputs.clear()

    def synchronize_inputs(self) -> None:
        """Do nothing: arrays are in the memory of the process."""

    def synchronize_outputs(self) -> None:
        """Do nothing: a run is over when it returns."""

    def finish(self, results: dict[str, NDArray[Any]]) -> None:
        """Keep what a run returned."""
        self._results = [OrtValue(results[name]) for name in self._outputs]


def _check(name: str, known: Sequence[str], what: str) -> None:
    if name not in known:
        raise InvalidArgument(f"there is no {what} '{name}', there are: {', '.join(known)}")


def _array_at(
    address: int, element_type: Any, shape: Sequence[int], device_type: str
) -> NDArray[Any]:
    """Return the array in some memory of the process."""
    if device_type != "cpu":
        raise InvalidArgument(f"memory is on '{device_type}', must be on 'cpu'")
    dtype = dtype_of(element_type)
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    memory = (ctypes.c_char * size).from_address(address)
    return np.frombuffer(memoryview(memory), dtype).reshape(tuple(shape))
