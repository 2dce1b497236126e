"""Samples of torch's OpInfo database: calls of its functions, exported as programs."""

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, cast

import numpy as np

from ...dialects.core.errors import CompileError
from ...dialects.core.tensor import Array

TYPES = {
    "f32": "float32",
    "f16": "float16",
    "bf16": "bfloat16",
    "i64": "int64",
    "bool": "bool",
}
"""The element types that samples are made of, and what torch calls them."""

UNDEFINED = frozenset(
    ("empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided")
)
"""Functions whose results have any values: only their types are compared."""


@dataclass(frozen=True)
class Sample:
    """One call: the exported program, its inputs by name, and torch's own results in order."""

    program: Any
    inputs: Mapping[str, Array]
    results: list[Array]


@cache
def operators() -> dict[str, Any]:
    """Return the entries of the database by the name of the function and of its variant."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch.testing._internal import common_methods_invocations as database

    entries: Any = database.op_db
    return {entry.full_name: entry for entry in entries}


def element_types(name: str) -> list[str]:
    """List the element types that a function is defined for on CPUs."""
    import torch

    supported = operators()[name].supported_dtypes("cpu")
    return [ours for ours, theirs in TYPES.items() if getattr(torch, theirs) in supported]


def samples(name: str, element_type: str, count: int) -> Iterator[Callable[[], Sample]]:
    """Return what exports each of so many samples of a function.

    They are from the middles of equal shares of all samples, so that one is among any odd number.
    A call raises CompileError where torch cannot export its sample.
    """
    import torch

    untyped: Any = torch
    untyped.manual_seed(0)
    entry = operators()[name]
    dtype = getattr(torch, TYPES[element_type])
    calls = list(entry.sample_inputs("cpu", dtype, requires_grad=False))
    kept = min(count, len(calls))
    for index in range(kept):
        yield partial(_exported, entry.op, calls[(2 * index + 1) * len(calls) // (2 * kept)])


def _exported(function: Any, call: Any) -> Sample:
    import torch
    from torch.utils import _pytree as tree

    given = ((call.input, *call.args), dict(call.kwargs))
    flatten: Any = tree.tree_flatten
    leaves, structure = flatten(given)

    class Call(torch.nn.Module):
        def forward(self, *tensors: Any) -> Any:
            rest = iter(tensors)
            filled = [next(rest) if isinstance(each, torch.Tensor) else each for each in leaves]
            arguments, named = tree.tree_unflatten(filled, structure)
            made = function(*arguments, **named)
            # Torch cannot save programs that return its own named tuples.
            return tuple(cast("Any", made)) if isinstance(made, tuple) else made

    tensors = tuple(each.detach() for each in leaves if isinstance(each, torch.Tensor))
    try:
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            untyped: Any = Call().eval()
            program = torch.export.export(untyped, tuple(each.clone() for each in tensors))
            made = flatten(untyped(*(each.clone() for each in tensors)))[0]
        results = [as_array(each) for each in made if each is not None]
        arrays = [as_array(each) for each in tensors]
    except Exception as error:
        first = str(error).strip().partition("\n")[0]
        raise CompileError(f"torch cannot export it: {type(error).__name__}: {first}") from None
    names = cast("list[str]", program.graph_signature.user_inputs)
    return Sample(program, dict(zip(names, arrays, strict=True)), results)


def as_array(value: Any) -> Array:
    """Return a dense tensor, or a number, as an array."""
    import torch

    if not isinstance(value, torch.Tensor):
        return np.array(value)
    plain: Any = value.detach().resolve_conj().resolve_neg().contiguous()
    if plain.dtype != torch.bfloat16:
        return plain.numpy()
    import ml_dtypes

    return plain.view(torch.uint16).numpy().view(ml_dtypes.bfloat16)
