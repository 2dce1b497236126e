"""Samples of torch's OpInfo database: calls of its functions, exported as programs."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
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

RANDOM = frozenset(
    (
        *("bernoulli", "cauchy", "exponential", "geometric", "log_normal", "multinomial"),
        *("normal", "normal.in_place", "normal.number_mean", "rand_like", "randint"),
        *("randint_like", "randn", "randn_like", "uniform", "nn.functional.dropout"),
        *("nn.functional.alpha_dropout", "nn.functional.dropout2d", "nn.functional.dropout3d"),
        *("nn.functional.feature_alpha_dropout.with_train", "nn.functional.rrelu"),
        *("pca_lowrank", "svd_lowrank"),
    )
)
"""Functions whose results are drawn: only their types are compared."""

TIED = frozenset(("kthvalue", "topk"))
"""Functions that return places of elements, any of several that are equal.

In the place of these, their samples have what is at the places, and how many places there are.
"""


@dataclass(frozen=True)
class Sample:
    """One call: the exported program, its inputs by name, and torch's own results in order.

    `wide_results` computes the results of numbers in f16 or bf16 as torch does in f32, for
    functions that round in between; it returns None where torch cannot.
    """

    program: Any
    inputs: Mapping[str, Array]
    results: list[Array]
    wide_results: Callable[[], list[Array] | None]


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
        function = partial(_with_elements, entry.op) if name in TIED else entry.op
        yield partial(_exported, function, calls[(2 * index + 1) * len(calls) // (2 * kept)])


def _with_elements(function: Any, input: Any, *args: Any, **kwargs: Any) -> Any:
    """Return what a function of an axis returns, with what is at places in the place of these."""
    import torch

    values, places = function(input, *args, **kwargs)
    given = [*args[1:2], *(kwargs[key] for key in ("dim",) if key in kwargs)]
    axis = given[0] if given else -1
    is_dropped = places.dim() < input.dim()
    at = places.unsqueeze(axis) if is_dropped else places
    found = torch.gather(input, axis, at)
    distinct = torch.zeros_like(input, dtype=torch.int64).scatter(axis, at, 1).sum()
    return values, found.squeeze(axis) if is_dropped else found, distinct


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
            # What the results determine: eigenvectors may have either sign, for one.
            made = call.output_process_fn_grad(function(*arguments, **named))
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
    inputs = dict(zip(names, arrays, strict=True))
    return Sample(program, inputs, results, partial(_computed_in_f32, untyped, tensors, results))


def _computed_in_f32(function: Any, tensors: Sequence[Any], results: Sequence[Array]) -> Any:
    """Return the results of a function of the same numbers in f32, rounded to the types of others.

    None where there is nothing to round, or where torch does not compute them.
    """
    import torch
    from torch.utils import _pytree as tree

    narrow = (torch.float16, torch.bfloat16)
    if not any(each.dtype in narrow for each in tensors):
        return None
    flatten: Any = tree.tree_flatten
    try:
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            made = flatten(function(*(x.float() if x.dtype in narrow else x for x in tensors)))[0]
    except RuntimeError:
        return None
    wide = [as_array(each) for each in made if each is not None]
    return [y.astype(want.dtype) for y, want in zip(wide, results, strict=True)]


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
