"""Print a `tile.kernel` as a Triton kernel: a Python module that runs by itself.

Each op is a line, with the name that its location gives it. Sizes are literals, or parameters where
they depend on symbols; block sizes are parameters. The text works in Triton 3.6 to 3.9, compiled
and in its interpreter.
"""

from ....dialects import tile
from ....dialects.core.errors import CompileError, Diagnostic, Unsupported
from ....dialects.core.location import describe, node_names
from ....dialects.core.mlir import ir
from ...emitter import Emitter
from .print_body import print_block
from .print_grid import launch_grid
from .printer import Printer
from .source import SizeParameter, Source
from .wrapping import wrapped

HEAD = "import triton\nimport triton.language as tl\n\n\n"


def print_kernels(module: ir.Operation, strict: bool = False) -> list[Source]:
    """Print all kernels of a module, in order."""
    return [print_kernel(kernel, strict) for kernel in tile.kernels_of(module)]


TRITON = Emitter(
    "triton",
    lambda module: [source.file for source in print_kernels(module.operation)],
    "the IR has no kernels for a GPU: --emit=triton prints those that --lower-to-tile makes of "
    "groups on the GPU; those of a model: -p 'fuse-epilogues,place{targets=gpu},lower-to-tile'",
)


def print_kernel(kernel: tile.Kernel, strict: bool = False) -> Source:
    """Print a kernel; with `strict`, quotients and roots are rounded as IEEE 754 wants it.

    Raises CompileError for an op that Triton cannot express.
    """
    try:
        printer = Printer(kernel, strict)
        print_block(printer, kernel.block)
        if not printer.lines:
            printer.emit("pass")
        grid = launch_grid(kernel)
        sizes = tuple(SizeParameter(name, size) for size, name in printer.sizes.items())
    except Unsupported as error:
        message = f"'{kernel.op_name}' op {error}"
        raise CompileError([Diagnostic(describe(kernel.location), message)]) from None
    arguments = [parameter.name for parameter in printer.parameters]
    arguments += [size.name for size in sizes]
    arguments += [f"{block}: tl.constexpr" for block in kernel.block_sizes]
    head = wrapped(f"def {kernel.sym_name}({', '.join(arguments)}):")
    return Source(
        text="\n".join([HEAD + printer.helpers + "@triton.jit", *head, *printer.lines, ""]),
        name=kernel.sym_name,
        parameters=tuple(printer.parameters),
        constexprs=tuple(kernel.block_sizes.items()),
        grid=grid,
        nodes=node_names(kernel.location),
        sizes=sizes,
    )
