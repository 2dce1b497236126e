"""The functions of expressions as torch has them, and tensors to try them on."""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from trivium.dialects.core.tensor import Array
from trivium.dialects.expression import FUNCTIONS

TORCH = {
    **{"i1": torch.bool, "ui8": torch.uint8, "i8": torch.int8, "i16": torch.int16},
    **{"i32": torch.int32, "i64": torch.int64, "f16": torch.float16, "bf16": torch.bfloat16},
    **{"f32": torch.float32, "f64": torch.float64},
}
OURS = {theirs: name for name, theirs in TORCH.items()}
KINDS = {"i1": "bool", "f16": "float", "bf16": "float", "f32": "float", "f64": "float"}

Oracle = Callable[..., Any]
UNARY: dict[str, Oracle] = {
    name: getattr(torch, name)
    for name, function in FUNCTIONS.items()
    if function.arity == 1 and "." not in name and name != "int"
} | {
    "int": lambda x: x,
    "torch.bool": lambda x: x.bool(),
    "torch.float": lambda x: x.float(),
    "torch.long": lambda x: x.long(),
}
BINARY: dict[str, Oracle] = {
    **{"add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv},
    **{"floor_divide": operator.floordiv, "remainder": operator.mod, "pow": operator.pow},
    **{"and": operator.and_, "or": operator.or_, "xor": operator.xor},
    **{"lshift": operator.lshift, "rshift": operator.rshift, "fmod": torch.fmod},
    **{"atan2": torch.atan2, "logaddexp": torch.logaddexp},
    **{"min": torch.minimum, "minimum": torch.minimum},
    **{"max": torch.maximum, "maximum": torch.maximum},
}
DIVIDING = ("floor_divide", "remainder", "fmod")
"""Functions for which torch raises when it meets an integer zero; ours make zero."""

SPECIAL = (0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 0.5, 1.5, 2.5, -2.5, 1e-4)

HALVES = ("f16", "bf16")
"""Types in which torch divides with a rounding for each step, and we with one in the end."""

# The largest error of a float, relative: some units in the last place.
TOLERANCE = {"f64": 1e-14, "f32": 1e-6, "f16": 1e-3, "bf16": 8e-3}


def values(dtype: str, seed: int, shape: tuple[int, ...] = (40,)) -> torch.Tensor:
    random = np.random.default_rng(seed)
    if dtype == "i1":
        return torch.from_numpy(np.array(random.integers(0, 2, shape), np.bool_))
    if KINDS.get(dtype) != "float":
        low = 1 if dtype == "ui8" else -9
        whole = np.array(random.integers(low, 10, shape))
        return torch.from_numpy(np.array(np.where(whole == 0, 3, whole))).to(TORCH[dtype])
    numbers = np.array(random.normal(0, 2, shape))
    if shape:
        numbers.reshape(-1)[:12] = [
            0,
            -0.0,
            np.inf,
            -np.inf,
            np.nan,
            1,
            -1,
            0.5,
            1.5,
            2.5,
            -2.5,
            1e-4,
        ]
    return torch.from_numpy(numbers).to(TORCH[dtype])


def array(x: torch.Tensor) -> Array:
    if x.dtype != torch.bfloat16:
        return x.numpy()
    import ml_dtypes

    return x.view(torch.uint16).numpy().view(ml_dtypes.bfloat16)


def theirs(function: Oracle, arguments: list[Any]) -> torch.Tensor | None:
    """Compute with torch; None when it refuses. Numbers become tensors where it wants these."""
    try:
        return function(*arguments)
    except TypeError:
        common = torch.result_type(*arguments)
        if function is torch.atan2 and not common.is_floating_point:
            common = torch.float32
        tensors = [torch.as_tensor(a).to(common) for a in arguments]
        return theirs(function, tensors)
    except (RuntimeError, NotImplementedError):
        return None


def whole(arguments: list[Any]) -> Any:
    """Say where all arguments are numbers that an integer could hold."""
    finite = [torch.isfinite(a.double()) for a in arguments if isinstance(a, torch.Tensor)]
    return np.logical_and.reduce(np.broadcast_arrays(*[f.numpy() for f in finite]))
