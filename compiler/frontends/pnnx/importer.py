"""Translate a PNNX graph into a `tri` module, operator by operator, by the rules."""

import difflib
import os
from collections.abc import Generator, Mapping, Set
from contextlib import contextmanager
from typing import Any, cast

from ....dialects.core.attributes import tensor_of
from ....dialects.core.errors import CompileError, Diagnostic, Invalid, Unsupported
from ....dialects.core.location import node_location
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module
from ....dialects.core.sizes.checks import need_same
from ....dialects.core.sizes.dim import symbols_of
from ....dialects.core.symbol_table import checks_of
from ....dialects.core.tensor import Array, Bindings
from ..core.bindings import input_types
from ..core.inputs import Input
from ..core.main_function import MainFunction
from ..core.results import fault_diagnostic, flat_results, name_results
from ..torch.element_types import COMPLEX, element_type, word_of
from ..torch.operands import Converter, parts_of
from ..torch.registry import REFUSED, RULES, Complex
from . import rules as rules
from .baked_sizes import refuse_baked
from .bind import bind
from .format.graph import Graph
from .format.operator import ATTRIBUTE, INPUT, OUTPUT, Operand, Operator
from .format.param_file import read_pnnx
from .ties import tied_axes, with_names, without_sizes


def import_pnnx(
    source: Graph | str | os.PathLike[str],
    *,
    shapes: Bindings | None = None,
    constants: Mapping[str, Array] | None = None,
) -> Module:
    """Translate a PNNX graph, or the file of one, to a `tri` module in the current context.

    Inputs are called `in0`, `in1`, …, outputs `out0`, `out1`, … in the order of the file. `shapes`
    binds symbolic dimensions by name, or whole inputs; unknown ones are called `in0_2`, or as the
    one that they must be equal to. `constants` turns inputs into constants. Raises CompileError
    with everything that is unsupported, all at once, or with the first operator that is invalid.
    """
    graph = source if isinstance(source, Graph) else read_pnnx(source)
    check_supported(graph)
    given, arrays = shapes or {}, constants or {}
    with ir.Location.unknown():
        names = _names_of_ties(graph, given, arrays)
        while True:
            importer = _Importer(graph, names)
            module = importer.run(given, arrays)
            ties = importer.ties(module, given)
            if not ties:
                return module
            names |= ties


def _names_of_ties(
    graph: Graph, shapes: Bindings, constants: Mapping[str, Array]
) -> dict[str, str]:
    """Return symbols for axes that are tied while all are free: a size may be for one of them."""
    free = without_sizes(shapes)
    if free == dict(shapes):
        return {}
    try:
        importer = _Importer(graph, {})
        return importer.ties(importer.run(free, constants), shapes)
    except CompileError:  # what must be known is perhaps bound
        return {}


def check_supported(graph: Graph) -> None:
    """Raise one CompileError that lists all operators without a rule."""
    faults = [
        _unsupported(graph, operator)
        for operator in graph.operators
        if operator.type not in RULES and operator.type not in (INPUT, OUTPUT, ATTRIBUTE)
    ]
    if faults:
        raise CompileError(faults)


def _unsupported(graph: Graph, operator: Operator) -> Diagnostic:
    what = f"'{operator.type}' operator '{operator.name}'"
    if operator.type in REFUSED:
        return Diagnostic(graph.where(operator), f"{what} {REFUSED[operator.type]}")
    close = difflib.get_close_matches(operator.type, RULES, 3, 0.85)
    notes = [f"similar types that are supported: {', '.join(close)}"] if close else []
    notes.append("register a rule for it with torch_op: docs/extending/adding-a-frontend-rule.md")
    return Diagnostic(graph.where(operator), f"{what} is not supported", tuple(notes))


class _Importer:
    def __init__(self, graph: Graph, names: Mapping[str, str]) -> None:
        self.graph = graph
        self.names = names
        self.declared: list[Input] = []
        self.main = MainFunction()
        self.convert = Converter(self.main)
        self.operands: dict[str, Any] = {}
        self.free: Set[str] = frozenset()

    def run(self, shapes: Bindings, constants: Mapping[str, Array]) -> Module:
        # The shapes in the file are those of one run: other values may have others.
        self.check_types = not constants
        self._inputs(shapes, constants)
        with self.main.body():
            for operator in self.graph.operators:
                self._operator(operator)
            outputs = self._outputs()
        return self.main.finish(*outputs)

    def ties(self, module: Module, shapes: Bindings) -> dict[str, str]:
        """Return symbols for axes that have none and that the module needs to be equal."""
        return tied_axes(self.declared, shapes, self.main.symbols, checks_of(module.main))

    # -- inputs and outputs -------------------------------------------------------------------

    def _inputs(self, shapes: Bindings, constants: Mapping[str, Array]) -> None:
        operands = [o for each in self.graph.operators if each.type == INPUT for o in each.outputs]
        named = {f"in{i}": operand for i, operand in enumerate(operands)}
        declared = [_declared(name, operand) for name, operand in named.items()]
        self.declared = [with_names(each, self.names) for each in declared]
        reals = {name: parts_of(a) if a.dtype.kind == "c" else a for name, a in constants.items()}
        found = input_types(self.declared, shapes, reals)
        self.main.declare_symbols(found.ranges)
        self.free = found.ranges.keys()
        for name, type_ in found.types.items():
            operand = named[name]
            is_complex = operand.dtype in COMPLEX
            node = operand.producer.name if operand.producer else name
            if name in constants:
                with self.main.body():
                    value = self.main.constant(operand.name, reals[name], node)
            else:
                location = node_location(node, [operand.name])
                value = self.main.add_input(name, type_, location, is_complex=is_complex)
            self.operands[operand.name] = Complex(value) if is_complex else value

    def _outputs(self) -> tuple[list[tuple[str, ir.Value]], list[str]]:
        """Return what the function returns, by name, and the names of complex outputs."""
        values: list[ir.Value | Complex] = []
        for operator in self.graph.operators:
            if operator.type == OUTPUT:
                made = _flat([self.operands[operand.name] for operand in operator.inputs])
                with self._faults(operator):
                    values += [
                        self.convert.value(m, f"out{len(values) + i}") for i, m in enumerate(made)
                    ]
        names = [f"out{i}" for i in range(len(values))]
        flat = [value.parts if isinstance(value, Complex) else value for value in values]
        pairs = zip(names, values, strict=True)
        return list(zip(names, flat, strict=True)), [n for n, v in pairs if isinstance(v, Complex)]

    # -- operators ----------------------------------------------------------------------------

    def _operator(self, operator: Operator) -> None:
        if operator.type in (INPUT, OUTPUT):
            return
        what = f"'{operator.type}' operator"
        with self._faults(operator), self.main.checks_of(operator.name, what) as checks:
            self._attribute(operator) if operator.type == ATTRIBUTE else self._apply(operator)
            refuse_baked(checks)

    @contextmanager
    def _faults(self, operator: Operator) -> Generator[None]:
        """Convert exceptions to a CompileError that names the operator and its line."""
        try:
            yield
        except (Invalid, Unsupported, MemoryError) as error:
            what = f"'{operator.type}' operator '{operator.name}'"
            where = self.graph.where(operator)
            raise CompileError([fault_diagnostic(where, what, error)]) from None

    def _attribute(self, operator: Operator) -> None:
        """Leave a free weight in the file until somebody uses it."""
        if len(operator.outputs) != 1 or len(operator.attributes) != 1:
            raise Invalid("must have one weight and one output")
        (weight,) = operator.attributes.values()
        self.operands[operator.outputs[0].name] = weight
        self.convert.names[weight] = operator.outputs[0].name, operator.name

    def _apply(self, operator: Operator) -> None:
        rule = RULES[operator.type]
        outputs = [operand.name for operand in operator.outputs]
        with ir.Location.name(operator.name):
            arguments = bind(operator, rule, self.operands, self.convert)
            made = flat_results(rule.function(*arguments.positional, **arguments.named))
            spare = [operator.name] * (len(made) - len(outputs))
            pairs = zip(made, [*outputs, *spare], strict=False)
            made = [self.convert.materialized(each, name, operator.name) for each, name in pairs]
        if len(operator.outputs) == 1 and len(made) > 1 and operator.outputs[0].is_unpacked:
            made = [made]
        if len(made) < len(operator.outputs):
            raise Unsupported(f"has {len(operator.outputs)} outputs, {len(made)} can be computed")
        values = [each.parts if isinstance(each, Complex) else each for each in made]
        named = [each if isinstance(each, ir.Value) else None for each in values]
        name_results(operator.name, outputs, named)
        for operand, each in zip(operator.outputs, made, strict=False):
            if self.check_types:
                _check_type(operand, each, self.main.symbols.keys() - self.free)
            self.operands[operand.name] = each


def _declared(name: str, operand: Operand) -> Input:
    if operand.dtype is None:
        return Input(name, "", operand.shape, "has no element type in the file")
    shape = operand.shape
    if operand.dtype in COMPLEX and shape is not None:
        shape = (*shape, 2)
    return Input(name, element_type(operand.dtype), shape)


def _check_type(operand: Operand, made: Any, found: Set[str]) -> None:
    """Raise Invalid when the type in the file differs from that of the result.

    Sizes that depend on symbols that a run finds are those of one run in the file.
    """
    if operand.shape is None or not isinstance(made, (ir.Value, Complex)):
        return
    is_complex = isinstance(made, Complex)
    have = tensor_of(made.parts.type if isinstance(made, Complex) else made.type)
    sizes = have.shape[:-1] if is_complex else have.shape
    word = word_of(have.dtype, is_complex)
    said = ",".join("?" if d is None else str(d) for d in operand.shape)
    ours = ",".join(map(str, sizes))
    fault = f"makes ({ours}){word}, the file says ({said}){operand.dtype or ''}"
    if len(sizes) != len(operand.shape) or operand.dtype not in (None, word):
        raise Invalid(fault)
    for size, wanted in zip(sizes, operand.shape, strict=True):
        if isinstance(wanted, int) and found.isdisjoint(symbols_of(size)):
            need_same(size, wanted, fault)


def _flat(operands: list[Any]) -> list[Any]:
    """List the tensors in lists, in order; without recursion, for lists may be nested deeply."""
    flat: list[Any] = []
    pending = operands[::-1]
    while pending:
        each = pending.pop()
        if isinstance(each, list):
            pending += cast("list[Any]", each)[::-1]
        else:
            flat.append(each)
    return flat
