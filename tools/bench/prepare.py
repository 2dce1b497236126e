"""Compile a model to be measured, and make up inputs that it can take."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...compiler.driver import build_imported
from ...compiler.source import import_model
from ...compiler.stages import pipeline_for
from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.mlir import ir, new_context
from ...dialects.core.module import Module, ops
from ...dialects.core.op import Op
from ...dialects.core.sizes.limits import bounds
from ...runtime.package import Package
from ...targets.options import DEFAULT, CompileOptions
from .. import feeds
from ..feeds import Arrays


@dataclass(frozen=True)
class Prepared:
    """Hold a compiled model, and for inputs that index something: how many indices there are."""

    package: Package
    index_bounds: dict[str, int]

    def vectors(self, asked: Sequence[Mapping[str, int]]) -> list[dict[str, int]]:
        """Return all free sizes of each run that was asked for; without any, the likely ones."""
        return [feeds.sizes_of_run(self.package.manifest, each) for each in asked or [{}]]

    def inputs(self, seed: int, sizes: Mapping[str, int]) -> Arrays:
        """Make up inputs as `feeds.complete` does; those that index are spread over all indices."""
        ports = feeds.ports_at(self.package.manifest, sizes)
        generator = np.random.default_rng(seed)
        indices: Arrays = {
            port.name: generator.integers(0, self.index_bounds[port.name], port.shape, port.dtype)
            for port in ports
            if port.name in self.index_bounds
        }
        return feeds.complete(indices, ports, seed)


def prepare(path: str, options: CompileOptions = DEFAULT) -> Prepared:
    """Compile the model at `path`; options and errors are those of `compile`."""
    pipeline = pipeline_for(options.target, options.opt_level, options)
    with new_context():
        options.report("import")
        module = import_model(path, options)
        limits = index_bounds(module)
        package = build_imported(module, pipeline, options, Path(path).name)
    names = [port.name for port in package.manifest.inputs]
    return Prepared(package, {names[place]: bound for place, bound in limits.items()})


def index_bounds(module: Module) -> dict[int, int]:
    """Return by the number of an input how many indices there are, for inputs that index an axis.

    An input counts when nothing but constants meets it on its way to the indices of `tri.gather`.
    Of an axis of free size, there are as many as it has at least.
    """
    block = module.main_block
    makers = {v: op for op in ops(module.operation) for v in op.results}
    arguments: dict[ir.Value, int] = {v: number for number, v in enumerate(block.arguments)}
    limits: dict[int, int] = {}
    for op in ops(module.operation):
        if not isinstance(op, tri.Gather):
            continue
        origin = _origin(op.indices, makers)
        size, _ = bounds(tensor_of(op.x.type).shape[op.axis])
        if origin in arguments and size:
            number = arguments[origin]
            limits[number] = min(size, limits.get(number, size))
    return limits


def _origin(value: ir.Value, makers: dict[ir.Value, Op]) -> ir.Value:
    """Follow a value back over ops with one operand that is no constant."""
    while (maker := makers.get(value)) is not None:
        varying = [v for v in maker.operation.operands if not _is_constant(makers.get(v))]
        if len(set(varying)) != 1:
            break
        value = varying[0]
    return value


def _is_constant(op: Op | None) -> bool:
    return isinstance(op, (tri.Constant, tri.Weight))
