"""Run a PNNX graph by torch itself: every operator type is the name of what it calls."""

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional
from trivium.compiler.frontends.pnnx import Graph, Operator
from trivium.dialects.core.tensor import Array

NO_SELECT = 2**31 - 1
BINARY: dict[str, Callable[..., Any]] = {
    "add": torch.add,
    "and": torch.bitwise_and,
    "atan2": torch.atan2,
    "div": torch.div,
    "floor_divide": torch.floor_divide,
    "fmod": torch.fmod,
    "logaddexp": torch.logaddexp,
    "lshift": torch.bitwise_left_shift,
    "max": torch.maximum,
    "maximum": torch.maximum,
    "min": torch.minimum,
    "minimum": torch.minimum,
    "mul": torch.mul,
    "or": torch.bitwise_or,
    "pow": torch.pow,
    "remainder": torch.remainder,
    "rshift": torch.bitwise_right_shift,
    "sub": torch.sub,
    "xor": torch.bitwise_xor,
}


def run_by_torch(graph: Graph, inputs: Sequence[Array]) -> list[Array]:
    """Compute the outputs of a graph; an operator that torch refuses raises what torch raises."""
    given = iter(inputs)
    values: dict[str, Any] = {}
    results: list[Any] = []
    with torch.no_grad():
        for operator in graph.operators:
            taken = [values[operand.name] for operand in operator.inputs]
            if operator.type == "pnnx.Input":
                made = torch.from_numpy(np.array(next(given)))
            elif operator.type == "pnnx.Attribute":
                made = torch.from_numpy(np.array(operator.attributes["data"].array()))
            elif operator.type == "prim::TupleConstruct":
                made = (taken,)
            elif operator.type == "pnnx.Output":
                results = taken[0] if isinstance(taken[0], list) else taken
                continue
            else:
                made = call(operator, taken)
            flat = flattened(made) if isinstance(made, (tuple, list)) else [made]
            for operand, value in zip(operator.outputs, flat, strict=True):
                values[operand.name] = value
    return [result.numpy() for result in results]


def flattened(made: Any) -> list[Any]:
    """List what a module returns: an LSTM has a pair of states."""
    flat: list[Any] = []
    for each in made:
        flat += each if isinstance(each, tuple) else [each]
    return flat


def call(operator: Operator, taken: list[Any]) -> Any:
    parameters = {key: word(p.value) for key, p in operator.parameters.items()}
    space, _, name = operator.type.partition(".")
    if operator.type == "pnnx.Expression":
        return evaluate(parameters["expr"], taken)
    if space == "nn":
        parameters.pop("attn_mask", None)
        made = module(name, operator, parameters)
        if any(operator.slots):
            return made(**dict(zip(operator.slots, taken, strict=True)))
        return made(taken[0], *states(taken[1:]))
    if operator.type in ("torch.cat", "torch.stack"):
        return getattr(torch, name)(taken, **parameters)
    if operator.type == "torch.einsum":
        return torch.einsum(parameters["equation"], *taken)
    if operator.type == "Tensor.slice":
        return taken[0][places(taken[0].ndim, parameters)]
    named = dict(zip(operator.slots, taken, strict=True)) | parameters
    if space == "Tensor":
        x = named.pop("input")
        sizes = named.pop("shape", named.pop("sizes", named.pop("dims", "none")))
        if sizes != "none":
            return getattr(x, name)(sizes or ())
        return getattr(x, name)(**named)
    if name.startswith("fft."):
        return getattr(torch.fft, name[4:])(**named)
    return getattr({"torch": torch, "F": functional}[space], name)(**named)


def word(value: Any) -> Any:
    return getattr(torch, value[6:]) if isinstance(value, str) and value[:6] == "torch." else value


def states(given: list[Any]) -> list[Any]:
    return [tuple(given)] if len(given) > 1 else given


def module(name: str, operator: Operator, parameters: dict[str, Any]) -> nn.Module:
    made = getattr(nn, name)(**parameters).eval()
    weights = {k: torch.from_numpy(np.array(a.array())) for k, a in operator.attributes.items()}
    floats = [weight.dtype for weight in weights.values() if weight.is_floating_point()]
    made.to(floats[0] if floats else torch.float32)
    missing, unknown = made.load_state_dict(weights, strict=False)
    assert not unknown
    assert set(missing) <= {"num_batches_tracked"}
    return made


def places(rank: int, parameters: dict[str, Any]) -> tuple[Any, ...]:
    index: list[Any] = [slice(None)] * rank
    if "dim" in parameters:
        bounds = [parameters[key] for key in ("start", "end", "step")]
        index[parameters["dim"]] = slice(*bounds)
        return tuple(index)
    keys = ("dims", "starts", "ends", "steps", "selects")
    for dim, start, end, step, select in zip(*(parameters[k] for k in keys), strict=True):
        index[dim] = slice(start, end, step) if select == NO_SELECT else select
    return tuple(index)


def evaluate(text: str, taken: list[Any]) -> Any:
    """Compute an expression from its last token to its first."""
    stack: list[Any] = []
    for token in reversed(re.findall(r"[^(),\[\]\s]+", text)):
        if token[0] == "@":
            stack.append(taken[int(token[1:])])
        elif token in BINARY:
            a, b = stack.pop(), stack.pop()
            a = a if isinstance(a, torch.Tensor) else torch.tensor(a, dtype=b.dtype)
            b = b if isinstance(b, torch.Tensor) else torch.tensor(b, dtype=a.dtype)
            stack.append(BINARY[token](a, b))
        elif re.match(r"-?[0-9]|-?inf|nan", token):
            stack.append(float(token) if re.search(r"[.einf]", token) else int(token))
        else:
            stack.append(getattr(torch, token)(stack.pop()))
    (result,) = stack
    return result
