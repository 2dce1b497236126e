"""Translate an exported program into a `tri` module."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ....dialects.core.errors import CompileError, Diagnostic, Invalid, Unsupported
from ....dialects.core.location import node_location
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module
from ....dialects.core.tensor import Array, Bindings, Tensor, is_float, is_integer
from ..core.bindings import input_types
from ..core.main_function import MainFunction
from ..core.values import cast, tensor
from ..torch.operands import parts_of
from ..torch.registry import Complex
from .archive import Source, read_archive
from .bind import resolved
from .functional import functional
from .graph import Port, Program, Reference
from .inputs import InputSizes, is_complex, user_inputs
from .nodes import NodeImporter, Scope
from .state import BUFFER_KINDS, UPDATE, next_name, state_inputs
from .supported import unsupported_nodes

WEIGHTS = ("parameter", "buffer", "tensor_constant")
OUTPUT = "user_output"


def import_exported(
    source: Program | Source,
    *,
    shapes: Bindings | None = None,
    constants: Mapping[str, Array] | None = None,
) -> Module:
    """Translate an exported program, or the archive of one, to a `tri` module.

    Inputs have the names that torch gives them, outputs those of a dictionary's keys, or `out0`,
    `out1`. Symbols have the ranges of the program. `shapes` binds them by name, `constants` turns
    inputs into constants. What the program writes to is state: a buffer is an input under its name
    that a session carries on, an output `x.next` is the new value of an input `x`. Raises
    CompileError with everything that is unsupported, all at once, or with the first node that is
    invalid.
    """
    read = source if isinstance(source, Program) else read_archive(source)
    program, faults = functional(read)
    check_supported(program, faults)
    with ir.Location.unknown():
        return _Importer(program).run(shapes or {}, constants or {})


def check_supported(program: Program, others: Sequence[Diagnostic] = ()) -> None:
    """Raise one CompileError that lists all operators, inputs and outputs without a rule."""
    nodes = unsupported_nodes(program.nodes, program.is_decomposed)
    faults = [*_unsupported_ports(program), *others, *nodes]
    if faults:
        raise CompileError(faults)


def _unsupported_ports(program: Program) -> Iterator[Diagnostic]:
    for port in program.inputs:
        if port.kind not in (*WEIGHTS, "user_input", "constant_input"):
            yield Diagnostic(port.target, f"input of kind '{port.kind}' is not supported")
    for port in program.outputs:
        if port.kind not in (OUTPUT, UPDATE, *BUFFER_KINDS):
            yield Diagnostic(port.target, f"output of kind '{port.kind}' is not supported")


class _Importer:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.main = MainFunction()
        self.nodes = NodeImporter(self.main)
        self.values: dict[str, Any] = {}

    def run(self, shapes: Bindings, constants: Mapping[str, Array]) -> Module:
        self._weights()
        self._inputs(shapes, constants)
        self._state()
        with self.main.body():
            self.nodes.nodes(self.program.nodes, Scope(self.values, self.program.types))
            outputs, complex_outputs = self._outputs()
        return self.main.finish(outputs, complex_outputs)

    # -- inputs -------------------------------------------------------------------------------

    def _weights(self) -> None:
        for port in self.program.inputs:
            if port.kind == "constant_input":
                self.values[port.target] = port.value
            if port.kind in WEIGHTS:
                weight = self.program.weights.get(port.target)
                if weight is None:
                    raise CompileError([Diagnostic(port.target, "weight is not in the archive")])
                self.values[port.value.name] = weight
                self.nodes.convert.names[weight] = port.target, port.target

    def _inputs(self, shapes: Bindings, constants: Mapping[str, Array]) -> None:
        sizes = InputSizes(self.program, user_inputs(self.program))
        reals = {name: _real(array) for name, array in constants.items()}
        found = input_types(sizes.declared, {**sizes.missing_from(shapes), **shapes}, reals)
        self.main.declare_symbols(found.ranges)
        self.nodes.sizes = sizes.bound(found.types)
        for name, type_ in found.types.items():
            complex_type = is_complex(self.program, name)
            if name not in constants:
                self.values[name] = self._input(name, type_, complex_type)
                continue
            with self.main.body():
                value = self.main.constant(name, reals[name], name)
            self.values[name] = Complex(value) if complex_type else value

    def _state(self) -> None:
        """Make the buffers inputs that the program writes to."""
        for name, port in state_inputs(self.program).items():
            array = self.program.weights[port.target].array()
            type_ = Tensor.of(_real(array))
            value = self._input(name, type_, array.dtype.kind == "c")
            self.values[port.value.name] = value

    def _input(self, name: str, type_: Tensor, complex_type: bool) -> ir.Value | Complex:
        location = node_location(name, [name])
        value = self.main.add_input(name, type_, location, is_complex=complex_type)
        return Complex(value) if complex_type else value

    # -- outputs ------------------------------------------------------------------------------

    def _outputs(self) -> tuple[list[tuple[str, ir.Value]], list[str]]:
        """Return what the function returns, by name, and the names of complex outputs."""
        made: list[tuple[str, ir.Value]] = []
        complex_outputs: list[str] = []
        for name, port in self._named_outputs():
            value = self._output(name, port)
            if isinstance(value, ir.Value) and self._is_number(port):
                value = _number_of_python(value)
            if isinstance(value, Complex):
                complex_outputs.append(name)
                value = value.parts
            if value is not None:
                made.append((name, value))
        complex_outputs += self._carry()
        return made, complex_outputs

    def _is_number(self, port: Port) -> bool:
        """Return whether an output is a number of Python that a node computes."""
        return isinstance(port.value, Reference) and port.value.name not in self.program.types

    def _named_outputs(self) -> Iterator[tuple[str, Port]]:
        """Yield what the user sees: what the model returns, and new values of inputs."""
        ports = [port for port in self.program.outputs if port.kind == OUTPUT]
        names = self.program.output_names
        if len(names) != len(ports):
            names = [f"out{index}" for index in range(len(ports))]
        yield from zip(names, ports, strict=True)
        for port in self.program.outputs:
            if port.kind == UPDATE:
                name = next_name(port.target)
                if port.target in self.main.inputs.values():
                    self.main.update(name, port.target)
                yield name, port

    def _carry(self) -> Iterator[str]:
        """Let a session carry on the buffers that are written to; yield the complex ones."""
        new = {port.target: port for port in self.program.outputs if port.kind in BUFFER_KINDS}
        for name, buffer in state_inputs(self.program).items():
            output = next_name(name)
            value = self._output(output, new[buffer.target])
            if isinstance(value, Complex):
                yield output
                value = value.parts
            assert value is not None
            made: ir.Value = value
            initial = _real(self.program.weights[buffer.target].array())
            self.main.carry(output, name, lambda made=made: made, initial)

    def _output(self, name: str, port: Port) -> ir.Value | Complex | None:
        try:
            given = resolved(port.value, self.values)
            if given is not None:
                return self.nodes.convert.value(given, name)
        except (Invalid, Unsupported) as error:
            raise CompileError([Diagnostic(name, f"output {error}")]) from None
        if port.kind != OUTPUT or hasattr(port.value, "name"):
            what = f"output is '{port.value.name}', which its operator does not compute"
            raise CompileError([Diagnostic(name, what)])
        return None


def _number_of_python(value: ir.Value) -> ir.Value:
    """Return a number that was an element of a tensor as Python has it."""
    dtype = tensor(value).dtype
    wide = "f64" if is_float(dtype) else "i64" if is_integer(dtype) else dtype
    return cast(value, wide)


def _real(array: Array) -> Array:
    return parts_of(array) if array.dtype.kind == "c" else array
