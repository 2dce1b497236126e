"""Print a kernel as a function of C."""

from ....dialects.core.errors import CompileError, Diagnostic, Unsupported
from ....dialects.core.machine import Machine
from ....dialects.core.mlir import PassManager, ir
from ..emit.legalize import legalize
from .attributes import attribute
from .print_control import TABLE
from .print_memory import print_table
from .printer import Printer, words
from .spelling import element_of

STRUCTURED = (
    "builtin.module("
    "func.func(canonicalize,cse,loop-invariant-code-motion),"
    "func.func(convert-vector-to-scf{full-unroll=true}),"
    "func.func(lower-affine),canonicalize,cse)"
)
"""The passes of MLIR before printing: those that LLVM's road begins with."""


def print_kernel(module: ir.Module, machine: Machine, strict: bool, where: str = "") -> str:
    """Return the function of a kernel module and its tables; the module is used up.

    Raises CompileError that names the op without a form in C, at the nodes `where`.
    """
    legalize(module.operation, machine)
    PassManager.parse(STRUCTURED).run(module.operation)
    try:
        return "\n".join(_Kernel(module, machine, strict).lines)
    except Unsupported as error:
        note = "compile the model to a package, or for a machine that has no need of this op"
        raise CompileError([Diagnostic(where, f"kernel {error}", (note,))]) from None


class _Kernel:
    """Print the tables of a kernel, then its function."""

    def __init__(self, module: ir.Module, machine: Machine, strict: bool) -> None:
        operations = [each.operation for each in module.body.operations]
        (function,) = (each for each in operations if each.name == "func.func")
        symbol = attribute(function, "sym_name").value
        self._printer = Printer(machine, strict, TABLE)
        self.lines: list[str] = []
        for each in operations:
            if each.name == "memref.global":
                table = attribute(each, "sym_name").value
                name = f"{symbol}_{table}"
                self._printer.tables[table] = name
                self.lines.append(print_table(each, name))
        self._print_function(function, symbol)

    def _print_function(self, function: ir.Operation, symbol: str) -> None:
        printer = self._printer
        (block,) = function.regions[0].blocks
        parameters: list[str] = []
        names: list[str] = []
        for argument in block.arguments:
            is_memory = isinstance(argument.type, ir.MemRefType)
            names.append(printer.new_name("p" if is_memory else "n"))
            printer.bind(argument, names[-1])
            star = "*" if is_memory else ""
            parameters.append(f"{element_of(argument.type)} {star}{names[-1]}")
        printer.begin(function)
        printer.print_block(block)
        body = printer.lines()
        used = {word for line in body for word in words(line)}
        unused = [f"  (void){name};" for name in names if name not in used]
        head = f"KERNEL void {symbol}({', '.join(parameters)}) {{"
        self.lines += [head, *unused, *body, "}"]
