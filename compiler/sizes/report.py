"""Report which sizes of a model are free, where a run gets them from, and what it checks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ...dialects.core.attributes import tensor_of
from ...dialects.core.data_dependent import DataDependentOp
from ...dialects.core.interface import returned
from ...dialects.core.location import describe
from ...dialects.core.mlir import ir, new_context
from ...dialects.core.module import Module, declared, ops
from ...dialects.core.sizes.atoms import Size
from ...dialects.core.sizes.checks import Check
from ...dialects.core.sizes.dim import symbols_of
from ...dialects.core.sizes.symbols import Range
from ...dialects.core.symbol_table import checks_of, symbol_table, symbols_of_function
from ...dialects.core.tensor import Tensor
from ...targets.options import CompileOptions
from ..exact.ranking import ExactSizes, rank_sizes
from ..source import Source, import_model
from .observed import Observation


@dataclass(frozen=True)
class FreeSize:
    """Describe a symbol: `places` are axes of inputs, or the node that finds the size."""

    name: str
    range: Range
    places: tuple[str, ...]
    is_found: bool


@dataclass(frozen=True)
class SizeReport:
    """Describe the free sizes of a model; ports have names and types with symbols."""

    sizes: tuple[FreeSize, ...]
    inputs: tuple[tuple[str, Tensor], ...]
    outputs: tuple[tuple[str, Tensor], ...]
    checks: tuple[Check, ...]
    exact: tuple[ExactSizes, ...] = ()


def size_report(
    model: Source, options: CompileOptions, observed: Sequence[Observation] = ()
) -> SizeReport:
    """Return the free sizes of a model, and those observed ones that are worth being exact.

    The model, the options and the errors are those of `compile`; raises CompileError also for
    observed sizes that are not those of the model.
    """
    with new_context():
        module = import_model(model, options)
        report = report_sizes(module)
        if not observed:
            return report
        return replace(report, exact=rank_sizes(module, report.inputs, observed, options.opt_level))


def report_sizes(module: Module) -> SizeReport:
    """Return the free sizes of a module."""
    block = module.main_block
    inputs = _ports(module, "inputs", list(block.arguments))
    found = _finders(module)
    free: list[FreeSize] = []
    for name, range in symbols_of_function(module.main).items():
        size = symbol_table(module.main.context).sizes[name]
        places = tuple(_axes(size, inputs))
        finder = found.get(name)
        free.append(FreeSize(name, range, (finder,) if finder else places, finder is not None))
    outputs = _ports(module, "outputs", returned(module.main))
    return SizeReport(tuple(free), inputs, outputs, checks_of(module.main))


def _ports(
    module: Module, which: str, values: Sequence[ir.Value]
) -> tuple[tuple[str, Tensor], ...]:
    names = declared(module.main, which, len(values))
    return tuple((n, tensor_of(v.type)) for n, v in zip(names, values, strict=True))


def _axes(size: Size, inputs: Sequence[tuple[str, Tensor]]) -> Iterator[str]:
    """Yield the axes of inputs whose sizes depend on the symbols of a size."""
    names = symbols_of(size).keys()
    for name, tensor in inputs:
        for axis, each in enumerate(tensor.shape):
            if names & symbols_of(each).keys():
                yield f"axis {axis} of '{name}'"


def _finders(module: Module) -> dict[str, str]:
    """Return the node that finds each symbol that no input gives."""
    return {
        symbol.name: f"'{op.op_name}' of {describe(op.location)}"
        for op in ops(module.operation)
        if isinstance(op, DataDependentOp)
        for symbol in op.defined
    }
