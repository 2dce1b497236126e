"""Call code whose arguments have one shape each, at the least cost per call."""

from collections.abc import Callable, Sequence
from typing import Any

from .tensor_session import TensorRun, empty
from .weights import WatchedWeight

Call = Callable[..., Sequence[Any]]


def fast_call(
    run: TensorRun, inputs: Sequence[int], frozen: Sequence[WatchedWeight], otherwise: Call
) -> Call:
    """Return a function of all arguments that only compares weights and passes addresses.

    `inputs` are the arguments that code takes. Anything else is left to `otherwise`, before the
    code runs: weights that have changed, inputs that must be copied, another thread's run.
    """
    # Locals and plain tuples, because a call takes no more than a few hundred bytecodes.
    code, outputs = run.clones[0], run.outputs
    known = tuple(
        (each.index, each.tensor, each.address, each.version, each.word, each.value)
        for each in frozen
    )

    def call(*arguments: Any) -> Sequence[Any]:
        for index, tensor, address, version, word, value in known:
            given = arguments[index]
            if (
                given is not tensor
                or given._version != version
                or given.data_ptr() != address
                or word.value != value
            ):
                return otherwise(*arguments)
        addresses: list[int] = []
        for index in inputs:
            given = arguments[index]
            if not given.is_contiguous():
                return otherwise(*arguments)
            addresses.append(given.data_ptr())
        made: list[Any] = []
        for size, stride, dtype in outputs:
            output = empty(size, stride, dtype)
            made.append(output)
            addresses.append(output.data_ptr())
        return made if code(addresses) else otherwise(*arguments)

    return call
