"""Translate an exported program into a `tri` module, node by node, by the rules of torch."""

from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, cast

from ....dialects.core.errors import CompileError, Diagnostic, Invalid, Unsupported
from ....dialects.core.location import node_location
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module
from ....dialects.core.sizes.atoms import Size
from ....dialects.core.sizes.checks import need_same
from ....dialects.core.sizes.symbols import Range
from ....dialects.core.tensor import Array, Bindings, Shape
from ..core.bindings import input_types
from ..core.inputs import Input
from ..core.main_function import MainFunction
from ..core.results import fault_diagnostic, flat_results, name_results
from ..core.values import tensor
from ..torch import rules as rules
from ..torch.aten import aten_rule
from ..torch.element_types import parts_type, torch_type
from ..torch.node import Weight
from ..torch.operands import Converter, parts_of
from ..torch.registry import Complex
from ..torch.views import parts, shape_of
from .archive import Source, read_archive
from .bind import bind, resolved
from .graph import Port, Program, ProgramNode, Reference, SizeFormula, TensorType
from .size_formulas import UnknownSize, evaluate, symbol_of
from .size_operators import SIZE_OPERATORS, computed

WEIGHTS = ("parameter", "buffer", "tensor_constant")
IGNORED_NODES = (
    "aten::_assert_async.msg",
    "aten::_assert_scalar",
    "aten::_assert_tensor_metadata",
    "aten::sym_constrain_range",
    "aten::sym_constrain_range_for_size",
)
"""What torch asserts of its own run; sizes are checked against their ranges by each run."""


def import_exported(
    source: Program | Source,
    *,
    shapes: Bindings | None = None,
    constants: Mapping[str, Array] | None = None,
) -> Module:
    """Translate an exported program, or the archive of one, to a `tri` module.

    Inputs have the names that torch gives them, outputs those of a dictionary's keys, or `out0`,
    `out1`. Symbols have the ranges of the program. `shapes` binds them by name, `constants` turns
    inputs into constants. Raises CompileError with everything that is unsupported, all at once, or
    with the first node that is invalid.
    """
    program = source if isinstance(source, Program) else read_archive(source)
    check_supported(program)
    with ir.Location.unknown():
        return _Importer(program).run(shapes or {}, constants or {})


def check_supported(program: Program) -> None:
    """Raise one CompileError that lists all operators, inputs and outputs without a rule."""
    faults = [*_unsupported_ports(program), *_unsupported_nodes(program)]
    if faults:
        raise CompileError(faults)


def _unsupported_ports(program: Program) -> Iterator[Diagnostic]:
    for port in program.inputs:
        if port.kind not in (*WEIGHTS, "user_input", "constant_input"):
            yield Diagnostic(port.target, f"input of kind '{port.kind}' is not supported")
    for port in program.outputs:
        if port.kind != "user_output":
            advice = "return the new value, and let a session keep it: bind_state"
            what = f"is changed by the model ({port.kind}), which is not supported"
            yield Diagnostic(port.target, what, (advice,))


def _unsupported_nodes(program: Program) -> Iterator[Diagnostic]:
    for node in program.nodes:
        known = node.type in SIZE_OPERATORS or node.type in IGNORED_NODES
        if not known and aten_rule(node.type) is None:
            notes = [node.source] if node.source else []
            notes.append("run_decompositions() of torch takes many operators apart")
            what = f"'{node.type}' operator '{node.name}' is not supported"
            yield Diagnostic(node.path or node.name, what, tuple(notes))


class _Importer:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.main = MainFunction()
        self.convert = Converter(self.main)
        self.values: dict[str, Any] = {}
        self.sizes: dict[str, Size] = {}
        self.used: dict[str, int] = {}

    def run(self, shapes: Bindings, constants: Mapping[str, Array]) -> Module:
        self._weights()
        self._inputs(shapes, constants)
        with self.main.body():
            for node in self.program.nodes:
                self._node(node)
            outputs, complex_outputs = self._outputs()
        return self.main.finish(outputs, complex_outputs)

    # -- inputs and outputs -------------------------------------------------------------------

    def _weights(self) -> None:
        for port in self.program.inputs:
            if port.kind == "constant_input":
                self.values[port.target] = port.value
            if port.kind in WEIGHTS:
                weight = self.program.weights.get(port.target)
                if weight is None:
                    raise CompileError([Diagnostic(port.target, "weight is not in the archive")])
                self.values[port.value.name] = weight
                self.convert.names[weight] = port.target, port.target

    def _inputs(self, shapes: Bindings, constants: Mapping[str, Array]) -> None:
        names = [
            port.value.name
            for port in self.program.inputs
            if port.kind == "user_input" and isinstance(port.value, Reference)
        ]
        declared = [self._declared(name) for name in names]
        free = {symbol for each in declared for symbol in each.shape or ()}
        ranges = {
            name: Range(low, high)
            for name, (low, high) in self.program.ranges.items()
            if name in free and (name not in shapes)
        }
        reals = {name: parts_of(a) if a.dtype.kind == "c" else a for name, a in constants.items()}
        found = input_types(declared, {**ranges, **shapes}, reals)
        self.main.declare_symbols(found.ranges)
        for each in declared:
            type_, is_complex = found.types[each.name], self._is_complex(each.name)
            self._bind_symbols(each, type_.shape)
            if each.name in constants:
                with self.main.body():
                    value = self.main.constant(each.name, reals[each.name], each.name)
            else:
                location = node_location(each.name, [each.name])
                value = self.main.add_input(each.name, type_, location, is_complex=is_complex)
            self.values[each.name] = Complex(value) if is_complex else value

    def _declared(self, name: str) -> Input:
        type_ = self.program.types.get(name)
        if type_ is None:
            return Input(name, "", None, "is no tensor, must be one")
        try:
            sizes = tuple(_declared_size(size) for size in type_.sizes)
            if self._is_complex(name):
                return Input(name, parts_type(type_.dtype), (*sizes, 2))
            return Input(name, torch_type(type_.dtype), sizes)
        except Unsupported as error:
            return Input(name, "", None, str(error))

    def _is_complex(self, name: str) -> bool:
        return self.program.types[name].dtype.startswith("torch.complex")

    def _bind_symbols(self, declared: Input, shape: Shape) -> None:
        for size, made in zip(declared.shape or (), shape, strict=True):
            if isinstance(size, str):
                self.sizes[size] = made

    def _outputs(self) -> tuple[list[tuple[str, ir.Value]], list[str]]:
        """Return what the function returns, by name, and the names of complex outputs."""
        made: list[tuple[str, ir.Value]] = []
        complex_outputs: list[str] = []
        names = self.program.output_names
        ports = self.program.outputs
        if len(names) != len(ports):
            names = [f"out{index}" for index in range(len(ports))]
        for name, port in zip(names, ports, strict=True):
            value = self._output(name, port)
            if isinstance(value, Complex):
                complex_outputs.append(name)
                value = value.parts
            if value is not None:
                made.append((name, value))
        return made, complex_outputs

    def _output(self, name: str, port: Port) -> ir.Value | Complex | None:
        given = resolved(port.value, self.values)
        if given is not None:
            return self.convert.value(given, name)
        if isinstance(port.value, Reference):
            what = f"output is '{port.value.name}', which its operator does not compute"
            raise CompileError([Diagnostic(name, what)])
        return None

    # -- nodes --------------------------------------------------------------------------------

    def _node(self, node: ProgramNode) -> None:
        if node.type in IGNORED_NODES:
            return
        place = self._place(node)
        what = f"'{node.type}' operator"
        with self._faults(node, place), self.main.checks_of(place, what):
            if node.type in SIZE_OPERATORS:
                (result,) = node.results
                self.values[result.names[0]] = self._computed_size(node)
            else:
                self._apply(node, place)

    def _place(self, node: ProgramNode) -> str:
        """Return the path of the module and the operator, with a number where that repeats."""
        operator = node.type.partition("::")[2].partition(".")[0]
        base = f"{node.path}.{operator}" if node.path else node.name
        self.used[base] = count = self.used.get(base, -1) + 1
        return f"{base}_{count}" if count else base

    @contextmanager
    def _faults(self, node: ProgramNode, place: str) -> Generator[None]:
        """Convert exceptions to a CompileError that names the module and its line."""
        try:
            yield
        except (Invalid, Unsupported, MemoryError) as error:
            found = fault_diagnostic(place, f"'{node.type}' operator '{node.name}'", error)
            notes = (*found.notes, *([node.source] if node.source else []))
            raise CompileError([replace(found, notes=notes)]) from None

    def _computed_size(self, node: ProgramNode) -> Any:
        given = [resolved(each, self.values) for each in node.arguments.values()]
        return computed(node.type, [self._shaped(each) for each in given])

    def _shaped(self, given: Any) -> Any:
        """Return the shape of a tensor; sizes as they are."""
        value = self.convert.value(given, "size") if isinstance(given, Weight) else given
        return shape_of(value) if isinstance(value, (ir.Value, Complex)) else value

    def _apply(self, node: ProgramNode, place: str) -> None:
        rule = aten_rule(node.type)
        assert rule is not None
        with ir.Location.name(place):
            arguments = bind(node, rule, self.values, self.convert)
            made = _flat(flat_results(rule.function(*arguments.positional, **arguments.named)))
        names = [name for result in node.results for name in result.names]
        if len(made) < len(names):
            raise Unsupported(f"has {len(names)} results, {len(made)} can be computed")
        pairs = zip(made, names, strict=False)
        made = [self.convert.materialized(each, name, place) for each, name in pairs]
        values = [each.parts if isinstance(each, Complex) else each for each in made]
        name_results(place, names, [v if isinstance(v, ir.Value) else None for v in values])
        for name, each in zip(names, made, strict=True):
            self._check_type(name, each)
            self.values[name] = each
        for result in node.results:
            if result.is_list:
                self.values[node.name] = [self.values[name] for name in result.names]

    def _check_type(self, name: str, made: Any) -> None:
        """Raise Invalid when the type of a result differs from that in the program."""
        type_ = self.program.types.get(name)
        if type_ is None or not isinstance(made, (ir.Value, Complex)):
            return
        have, dtype = shape_of(made), tensor(parts(made)).dtype
        complex_type = type_.dtype.startswith("torch.complex")
        wanted = parts_type(type_.dtype) if complex_type else torch_type(type_.dtype)
        fault = f"makes {list(map(str, have))} of {dtype}, torch {_spell(type_)}"
        if len(have) != len(type_.sizes) or dtype != wanted:
            raise Invalid(fault)
        for size, declared in zip(have, type_.sizes, strict=True):
            expected = self._expected(declared)
            if expected is not None:
                need_same(size, expected, fault)

    def _expected(self, declared: int | SizeFormula) -> Size | None:
        if isinstance(declared, int):
            return declared
        try:
            return evaluate(declared.text, self.sizes)
        except UnknownSize:
            return None


def _declared_size(size: int | SizeFormula) -> int | str:
    if isinstance(size, int):
        return size
    name = symbol_of(size.text)
    if not name:
        raise Unsupported(f"has a size {size.text}, must be a number or a symbol: bind its shape")
    return name


def _flat(made: list[Any]) -> list[Any]:
    """List results, those in lists by themselves."""
    flat: list[Any] = []
    for each in made:
        flat += cast("list[Any]", each) if isinstance(each, list) else [each]
    return flat


def _spell(type_: TensorType) -> str:
    sizes = [str(s) if isinstance(s, int) else s.text for s in type_.sizes]
    return f"{sizes} of {type_.dtype}"
