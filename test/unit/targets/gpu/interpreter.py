"""Run printed kernels on numpy arrays, in Triton's interpreter, in a process of its own."""

import atexit
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from trivium.targets.gpu.emit.source import Source
from trivium.targets.process_pool import ProcessPool

Array = np.ndarray[Any, np.dtype[Any]]

SECONDS = 120.0
"""What one kernel may take: far more than any test should ask for."""


class InterpreterError(Exception):
    """Say what a kernel did wrong: an error of Triton's, or a step out of its buffers."""


@cache
def _pool() -> ProcessPool:
    pool = ProcessPool(Path(__file__).with_name("interpreter_process.py"), 1)
    atexit.register(pool.close)
    return pool


def run_source(source: Source, arrays: Sequence[Array]) -> list[Array]:
    """Run all programs of a kernel; return what the buffers hold then, inputs and outputs.

    `arrays` has one for each argument of the `tile.kernel`, as its memory holds it. Raises
    InterpreterError with the kernel's name.
    """
    replies: list[Any] = []
    _pool().run([_request(source, arrays)], lambda index, reply: replies.append(reply), SECONDS)
    (reply,) = replies
    if "error" in reply:
        raise InterpreterError(f"kernel '{source.name}': {reply['error']}")
    pairs = zip(arrays, reply["made"], strict=True)
    return [np.frombuffer(made, array.dtype).reshape(array.shape) for array, made in pairs]


def _request(source: Source, arrays: Sequence[Array]) -> dict[str, Any]:
    return {
        "text": source.file,
        "name": source.name,
        "grid": source.grid,
        "constexprs": {p.name: p.size for p in source.sizes} | dict(source.constexprs),
        "buffers": [np.ascontiguousarray(array).tobytes() for array in arrays],
        "parameters": [
            (p.type, p.argument, list(p.memory.shape), list(p.memory.strides))
            for p in source.parameters
        ],
    }
