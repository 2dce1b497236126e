"""Compile a graph of Dynamo for the arguments of a call."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import fx

from ...dialects.core.errors import Unsupported
from ..driver import compile
from .capture import capture
from .graph_inputs import GraphInputs, number_of, placeholders
from .tensor_session import TensorSession
from .weights import WatchedWeight, watch


@dataclass(frozen=True)
class Variant:
    """Hold the code for some numbers and sizes among the inputs; without a session, eager runs.

    `inputs` are the arguments that it takes, `mutated` those that its first results overwrite,
    `frozen` the weights that are constants of it. `fixed` are tensors and axes whose sizes are
    constants, too, though Dynamo has symbols for them.
    """

    session: TensorSession | None
    inputs: tuple[int, ...] = ()
    mutated: tuple[int, ...] = ()
    frozen: tuple[WatchedWeight, ...] = ()
    fixed: tuple[tuple[int, int], ...] = ()

    def overlaps(self, arguments: Sequence[Any]) -> bool:
        """Return whether an argument that is written shares its memory with another."""
        given = [arguments[index] for index in self.inputs]
        storages = [_storage(each) for each in given if isinstance(each, torch.Tensor)]
        written = {_storage(arguments[index]) for index in self.mutated}
        found = sum(each in written for each in (*storages, *self.frozen_storages))
        return not found == len(written) == len(self.mutated)

    @cached_property
    def frozen_storages(self) -> list[int]:
        """Return where the weights are stored, which are compiled again when they are elsewhere."""
        return [_storage(each.tensor) for each in self.frozen]


EAGER = Variant(None)


def compile_variant(
    module: fx.GraphModule,
    outputs: Sequence[fx.Node],
    inputs: GraphInputs,
    arguments: Sequence[Any],
    volatile: frozenset[int],
    options: Mapping[str, Any],
    *,
    symbolic: bool,
) -> Variant:
    """Compile what a module computes of the arguments of a call.

    Weights that are `volatile` are inputs of the code, and those that it writes; `symbolic` is that
    of `capture`. There is no code where nothing is computed, but views are returned. Raises what
    torch.export raises, CompileError and Unsupported.
    """
    _check_inputs(module.graph, arguments)
    numbers = {index: number_of(arguments[index]) for index in inputs.numbers}
    freezable = frozenset(inputs.weights) - volatile
    found = capture(module, outputs, inputs, arguments, numbers, freezable, symbolic=symbolic)
    if not outputs and not found.mutated:
        return EAGER
    if torch.is_grad_enabled() and any(arguments[i].requires_grad for i in found.mutated):
        raise Unsupported("an input that is changed needs a gradient, must be detached")
    watched = tuple(watch(index, arguments[index]) for index in found.frozen)
    # What no target of the options runs is for eager torch, which is faster than numpy.
    own: dict[str, Any] = {**options, "strict": True}
    session = TensorSession(compile(found.program, **own))
    return Variant(session, found.inputs, found.mutated, watched, found.fixed)


def _check_inputs(graph: fx.Graph, arguments: Sequence[Any]) -> None:
    """Raise Unsupported for tensors that are no plain memory of the process."""
    for node, tensor in zip(placeholders(graph), arguments, strict=True):
        if not isinstance(tensor, torch.Tensor):
            continue
        if tensor.device.type != "cpu" or tensor.layout != torch.strided:
            where = f"on {tensor.device}, {tensor.layout}"
            raise Unsupported(f"input '{node.name}' is {where}, must be strided, on the CPU")
        if tensor.is_conj() or tensor.is_neg():
            raise Unsupported(f"input '{node.name}' is a view of other numbers, must be resolved")
        if type(tensor) not in (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer):
            raise Unsupported(f"input '{node.name}' is a {type(tensor).__name__}, must be a tensor")


def _storage(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr()
