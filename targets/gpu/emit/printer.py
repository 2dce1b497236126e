"""Print the body of a kernel: lines of source, and names for its values."""

from collections.abc import Mapping, Sequence

from ....dialects import tile
from ....dialects.core.errors import Unsupported
from ....dialects.core.mlir import ir
from ....dialects.core.module import ops
from ....dialects.core.sizes.atoms import Size, is_symbolic
from ....dialects.tile.types import Memory, Tile, need_memory, plain_type
from . import print_grid
from .loop_names import LoopNames
from .names import Names
from .source import Parameter
from .spelling import SIGNATURE, language_type
from .wrapping import wrapped

PRODUCT = "_product"
HELPERS: Mapping[str, str] = {
    PRODUCT: f"@triton.jit\ndef {PRODUCT}(a, b):\n    return a * b\n",
}
"""Functions that kernels call, by name."""


class Printer:
    """The state of printing one kernel: its lines, names and parameters.

    The *spelling* of a value is its name, or, if it needs no line, a number, a block size or a name
    with new dimensions. `numbers` are the values whose spelling is a Python number.
    """

    def __init__(self, kernel: tile.Kernel, strict: bool) -> None:
        self.kernel = kernel
        self.strict = strict
        self.spellings: dict[ir.Value, str] = {}
        self.numbers: set[ir.Value] = set()
        self.loops = LoopNames()
        self.lines: list[str] = []
        self.depth = 1
        self.names = Names([kernel.sym_name, *kernel.block_sizes, *HELPERS])
        self.arguments: dict[ir.Value, int] = {}
        self.parameters: list[Parameter] = []
        self.sizes: dict[Size, str] = {}
        self._declare()
        self.programs = self._print_programs()

    @property
    def helpers(self) -> str:
        """Return the functions that the kernel calls."""
        text = "\n".join(self.lines)
        used = [helper for name, helper in HELPERS.items() if f"{name})" in text]
        return "".join(f"{helper}\n\n" for helper in used)

    def emit(self, line: str) -> None:
        self.lines += wrapped(line, self.depth)

    # -- operands -----------------------------------------------------------------------------

    def spelling(self, value: ir.Value) -> str:
        """Return the spelling of a value where Triton accepts a Python number, too."""
        return self.spellings[value]

    def tile_spelling(self, value: ir.Value) -> str:
        """Return the spelling of a value as a tile; a number becomes a scalar tile."""
        if value not in self.numbers:
            return self.spellings[value]
        return f"tl.full((), {self.spellings[value]}, {language_type(self.tile(value).dtype)})"

    def listed(self, values: Sequence[ir.Value]) -> str:
        """Return values as arguments of a call."""
        return ", ".join(map(self.spelling, values))

    def tile(self, value: ir.Value) -> Tile:
        """Return the type of a value that is a tile."""
        type_ = plain_type(value.type)
        assert isinstance(type_, Tile), "only loads and stores take memory"
        return type_

    def assign(self, value: ir.Value, text: str, wish: str) -> None:
        """Give a value a line and a name."""
        name = self.loops.name_of_next(value) or self.names.unique(self._wish(value, wish))
        self.spellings[value] = name
        self.emit(f"{name} = {text}")

    def variable(self, value: ir.Value, wish: str) -> str:
        """Give a value a name, without a line."""
        self.spellings[value] = self.names.unique(self._wish(value, wish))
        return self.spellings[value]

    def _wish(self, value: ir.Value, wish: str) -> str:
        location = value.location
        if isinstance(location, ir.NameLoc):
            return location.name_str
        return self.loops.wish(value) or wish

    def number(self, value: ir.Value, word: str) -> None:
        """Give a value the spelling of a number, which needs no line."""
        self.spellings[value] = word
        self.numbers.add(value)

    def size(self, size: Size) -> str:
        """Return the spelling of a size: a number, or the parameter for one with symbols."""
        if not is_symbolic(size):
            return str(size)
        if size not in self.sizes:
            text = str(size)
            self.sizes[size] = self.names.unique(text if text.isidentifier() else "size")
        return self.sizes[size]

    # -- memory -------------------------------------------------------------------------------

    def memory(self, value: ir.Value) -> Memory:
        """Return the type of a value that is memory."""
        return need_memory("operand", plain_type(value.type))

    def pointer(self, value: ir.Value) -> str:
        """Return the parameter that points to memory."""
        return self._parameter(self.arguments[value], f"*{SIGNATURE[self.memory(value).dtype]}")

    def descriptor(self, value: ir.Value, block: Sequence[str]) -> str:
        """Return the parameter that describes memory, and the blocks that are moved."""
        return self._parameter(self.arguments[value], self._descriptor_type(value, block))

    def _parameter(self, argument: int, type_: str) -> str:
        found = [p for p in self.parameters if (p.argument, p.type) == (argument, type_)]
        return found[0].name

    def _descriptor_type(self, value: ir.Value, block: Sequence[str]) -> str:
        sizes = [str(self.kernel.block_sizes.get(size, size)) for size in block]
        return f"tensordesc<{SIGNATURE[self.memory(value).dtype]}[{', '.join(sizes)}]>"

    def _declare(self) -> None:
        """Make a parameter for each way in which an argument is read or written."""
        block = self.kernel.block
        self.arguments = {value: index for index, value in enumerate(block.arguments)}
        wanted: dict[tuple[int, str], Memory] = {}
        for op in ops(block):
            if isinstance(op, tile.View):
                self.arguments[op.y] = self.arguments[op.memory]
            elif isinstance(op, (tile.LoadBlock, tile.StoreBlock)):
                sizes = op.block if isinstance(op, tile.LoadBlock) else self._sizes(op.value)
                type_ = self._descriptor_type(op.memory, sizes)
                key, memory = (self.arguments[op.memory], type_), self.memory(op.memory)
                if wanted.setdefault(key, memory) != memory:
                    raise Unsupported(f"describes argument {key[0]} in two ways")
            elif isinstance(op, (tile.Load, tile.Store)):
                argument = self.arguments[op.memory]
                memory = self.memory(block.arguments[argument])
                wanted[argument, f"*{SIGNATURE[memory.dtype]}"] = memory
        for (argument, type_), memory in sorted(wanted.items(), key=lambda item: item[0]):
            suffix = "ptr" if type_.startswith("*") else "desc"
            name = self.names.unique(f"{self.hint(block.arguments[argument])}_{suffix}")
            self.parameters.append(Parameter(name, type_, argument, memory))

    def hint(self, value: ir.Value) -> str:
        """Return the name of the argument that memory belongs to."""
        location = self.kernel.block.arguments[self.arguments[value]].location
        return location.name_str if isinstance(location, ir.NameLoc) else "x"

    def _sizes(self, value: ir.Value) -> list[str]:
        return [str(size) for size in self.tile(value).shape]

    # -- grid ---------------------------------------------------------------------------------

    def _print_programs(self) -> list[str]:
        """Print the index of a program along each axis of a flat grid; return the names."""
        if not print_grid.is_flat(self.kernel):
            return []
        found = {op.axis: op.y for op in ops(self.kernel.block) if isinstance(op, tile.ProgramId)}
        wishes = [
            self._wish(found[axis], "program") if axis in found else "program"
            for axis in range(len(self.kernel.grid))
        ]
        self.names.reserve(print_grid.RESERVED)
        names = [self.names.unique(wish) for wish in wishes]
        for line in print_grid.program_lines(self.kernel, names, self.size):
            self.emit(line)
        return names
