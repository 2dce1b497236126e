"""Say where a model would run, by kernels or by nodes, without generating code."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..dialects import tri
from ..dialects.core.location import node_names
from ..dialects.core.machine import NATIVE
from ..dialects.core.mlir import new_context
from ..dialects.core.module import Module, ops
from ..targets.options import F32, FAST, FLOATS, Options
from ..targets.place import (
    Place,
    Placement,
    placed_groups,
    placements,
    refusals_in,
    running_in,
)
from ..targets.registry import choose_target
from .frontends.core.inputs import Bindings
from .source import Source, import_model
from .stages import candidates, pipeline_for


@dataclass(frozen=True)
class Verdict:
    """Say where a node of a model would run, and why not all of it where it was asked for.

    `ops` are what the node was imported as. `targets` are where these run, in order; there are none
    where nothing is left to run, of a reshape for example. `refusals` are the reasons; none is what
    only brings values to the target, in the order in which it wants them.
    """

    node: str
    ops: tuple[str, ...]
    targets: tuple[str, ...]
    refusals: tuple[str, ...]

    @property
    def runs(self) -> bool:
        """Say whether all of the node runs where it was asked for."""
        return not self.refusals


def check(
    model: Source,
    example_inputs: Any = None,
    *,
    target: str = "cpu",
    shapes: Bindings | None = None,
    opt_level: int = 2,
    math: str = FAST,
    winograd_error: float | None = None,
    tuning: str = "",
    machine: str | Sequence[str] = NATIVE,
    precision: str = F32,
    quantized: str = FLOATS,
    strict: bool = False,
) -> tuple[Placement, ...]:
    """Return where each kernel of a model would run, and why not on the target asked for.

    The arguments are those of `compile`, and so are the errors: CompileError for a model that
    would not compile.
    """
    options = Options(
        math, winograd_error, tuning, machine=machine, precision=precision, quantized=quantized
    )
    pipeline = pipeline_for(target, opt_level, options, strict).until(Place.name)
    with new_context():
        module = import_model(model, shapes=shapes, example_inputs=example_inputs)
        pipeline.run(module)
        return tuple(placements(module, (target, *candidates(target)[1:])))


def can_run(
    model: Source,
    example_inputs: Any = None,
    *,
    target: str = "cpu",
    shapes: Bindings | None = None,
    opt_level: int = 2,
    math: str = FAST,
    winograd_error: float | None = None,
    tuning: str = "",
    machine: str | Sequence[str] = NATIVE,
    precision: str = F32,
    quantized: str = FLOATS,
) -> tuple[Verdict, ...]:
    """Return for each node of a model whether it would run on a target, and why not.

    Constants are no nodes, and neither is what was known as the model was read. The arguments are
    those of `compile`, and so are the errors: CompileError for a model that would not compile.
    """
    options = Options(
        math, winograd_error, tuning, machine=machine, precision=precision, quantized=quantized
    )
    pipeline = pipeline_for(target, opt_level, options).until(Place.name)
    with new_context():
        module = import_model(model, shapes=shapes, example_inputs=example_inputs)
        imported = _imported(module)
        pipeline.run(module)
        return tuple(_verdicts(imported, module, target))


def _imported(module: Module) -> dict[str, tuple[str, ...]]:
    """List the nodes of a model in order, each with the ops that it was imported as."""
    found: dict[str, list[str]] = {}
    for op in ops(module.main):
        if op.terminator or isinstance(op, (tri.Constant, tri.Weight)):
            continue
        for node in node_names(op.location):
            found.setdefault(node, []).append(op.op_name)
    return {node: tuple(dict.fromkeys(names)) for node, names in found.items()}


def _verdicts(
    imported: Mapping[str, tuple[str, ...]], module: Module, target: str
) -> Iterator[Verdict]:
    """Follow nodes to the kernels that their ops have become part of."""
    asked = choose_target(target)
    targets: dict[str, list[str]] = {}
    refusals: dict[str, list[tuple[str, str]]] = {}
    for group in placed_groups(module):
        for op in running_in(group):
            for node in node_names(op.location):
                targets.setdefault(node, []).append(group.target)
        for op, reason in refusals_in(group, asked) if group.target != asked.name else ():
            for node in node_names(op.location):
                refusals.setdefault(node, []).append((op.op_name, reason))
    for node, names in imported.items():
        found = tuple(dict.fromkeys(targets.get(node, ())))
        # A node runs on a target although its values are brought there, and back, by another one.
        moved = {tri.Transpose.op_name} - set(names) if target in found else set[str]()
        reasons = [reason for name, reason in refusals.get(node, ()) if name not in moved]
        yield Verdict(node, names, found, tuple(dict.fromkeys(reasons)))
