"""Kernels, and ops that return the position of a program in its grid."""

import re
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from ..core.errors import Invalid
from ..core.fields import Result
from ..core.mlir import ir
from ..core.module import find_symbol, ops
from ..core.op import Op, view
from ..core.sizes.atoms import is_symbolic
from ..core.sizes.dim import ceildiv
from ..core.symbol_table import SymbolTable, symbol_table
from .dialect import BodyOp, TileOp
from .setting import Setting, numbers_of
from .types import NAME, Memory, Tile, need_memory, plain_type, size_of

_AXIS = re.compile(rf"(.+?)(?:(?<!/)/({NAME.pattern}))?")


@dataclass(frozen=True)
class GridAxis:
    """Count the programs along one axis: one for each `block` of `extent` elements.

    Without a block there is one for each element. The extent may depend on symbols.
    """

    extent: int
    block: str = ""

    @staticmethod
    def parse(text: str, table: SymbolTable) -> "GridAxis":
        """Read `128/BM`, `8` or `N*T/BM`; raise Invalid for anything else."""
        match = _AXIS.fullmatch(text)
        try:
            extent = table.parse(match[1]) if match else -1
        except Invalid as error:
            raise Invalid(f"grid has '{text}', must be like 128/BM or 8: {error}") from None
        if match is None or str(extent) != match[1] or (not is_symbolic(extent) and extent < 0):
            raise Invalid(f"grid has '{text}', must be like 128/BM or 8")
        return GridAxis(extent, match[2] or "")

    def count(self, blocks: Mapping[str, int]) -> int:
        """Count the programs along the axis for given block sizes."""
        return ceildiv(self.extent, blocks[self.block]) if self.block else self.extent

    def __str__(self) -> str:
        return f"{self.extent}/{self.block}" if self.block else str(self.extent)


class Kernel(BodyOp):
    """Run `body` once for each point of a grid; its arguments are the inputs, then the outputs.

    Its parent is a module. `grid` has an entry for each axis, as `GridAxis` reads it; `blocks` give
    each named block size a value, as in `BM=128`, a power of two. With `group`, programs walk the
    first two axes in bands of that many steps of the first one, so that those that run together
    share what they read. `warps`, a power of two, and `stages` are for the GPU;
    they do not change the results, and neither does `group`. `candidates` are other settings
    to try, as `Setting` reads them. Sizes in memory and in the grid may depend on symbols, whose
    ranges the attribute `trivium.symbols` has, as that of a function.
    """

    sym_name: str
    grid: tuple[str, ...]
    blocks: tuple[str, ...] = ()
    group: int = 0
    warps: int = 4
    stages: int = 1
    candidates: tuple[str, ...] = ()

    last = "tile.return"

    @property
    def axes(self) -> tuple[GridAxis, ...]:
        """Return the axes of the grid."""
        table = symbol_table(self.operation.context)
        return tuple(GridAxis.parse(text, table) for text in self.grid)

    @property
    def block_sizes(self) -> dict[str, int]:
        """Return the block sizes by name."""
        return numbers_of(self.blocks, "blocks")

    @property
    def setting(self) -> Setting:
        """Return the setting that the kernel has."""
        return Setting(tuple(self.block_sizes.items()), self.warps, self.stages)

    def use(self, setting: Setting) -> None:
        """Give the kernel another setting, with values for the same block sizes."""
        blocks = tuple(f"{name}={size}" for name, size in setting.blocks)
        self.set_attributes({"blocks": blocks, "warps": setting.warps, "stages": setting.stages})

    @property
    def memories(self) -> tuple[Memory, ...]:
        """Return the types of the arguments."""
        types = [plain_type(argument.type) for argument in self.block.arguments]
        return tuple(need_memory(f"argument {i}", type_) for i, type_ in enumerate(types))

    def verify(self) -> None:
        self.check_form()
        parent = self.operation.parent
        if parent is not None and parent.name != "builtin.module":
            raise Invalid(f"stands in '{parent.name}', must stand in a module")
        if not NAME.fullmatch(self.sym_name):
            raise Invalid(f"is called '{self.sym_name}', must be an identifier")
        self._check_settings()
        _ = self.memories
        _check_closed(self.block, frozenset())
        self._check_names()

    def _check_settings(self) -> None:
        sizes = self.block_sizes
        for axis in self.axes:
            _check_named(axis.block, sizes, "grid")
        self.setting.check()
        if self.group < 0 or (self.group and len(self.grid) < 2):
            raise Invalid(f"group is {self.group}, must be 0, or positive for two axes or more")
        for text in self.candidates:
            names = [name for name, _ in Setting.parse(text).blocks]
            if set(names) != set(sizes):
                raise Invalid(f"candidate '{text}' must set {', '.join(sizes) or 'no block sizes'}")

    def _check_names(self) -> None:
        """Raise Invalid when the body names a block size or an axis that the kernel lacks."""
        sizes = self.block_sizes
        for operation in nested(self.block):
            op = view(operation)
            if not isinstance(op, TileOp):
                raise Invalid(f"body has '{operation.name}', must have ops on tiles")
            for name in _named_sizes(op):
                _check_named(name, sizes, f"'{op.op_name}'")
            if isinstance(op, ProgramId) and op.axis >= len(self.grid):
                raise Invalid(f"grid has {len(self.grid)} axes, '{op.op_name}' asks for {op.axis}")


def nested(block: ir.Block) -> Iterator[ir.Operation]:
    """Yield all operations of a block, each before those in its regions."""
    for operation in block.operations:
        yield operation.operation
        for region in operation.operation.regions:
            for inner in region.blocks:
                yield from nested(inner)


def _check_closed(block: ir.Block, outer: AbstractSet[ir.Value]) -> None:
    """Raise Invalid when an op uses a value from outside of the kernel or from further down."""
    known = {*outer, *block.arguments}
    for operation in block.operations:
        for index, value in enumerate(operation.operation.operands):
            if value not in known:
                name = operation.operation.name
                raise Invalid(f"body does not define what '{name}' uses: operand {index}")
        for region in operation.operation.regions:
            for inner in region.blocks:
                _check_closed(inner, known)
        known.update(operation.operation.results)


def _named_sizes(op: TileOp) -> list[str]:
    """List the block sizes that an op names; types that are none are for its own verifier."""
    if isinstance(op, BlockSize):
        return [op.block]
    names: list[str] = []
    for value in op.results:
        try:
            type_ = plain_type(value.type)
        except Invalid:
            continue
        shape = type_.shape if isinstance(type_, Tile) else ()
        names += [size for size in shape if isinstance(size, str)]
    return names


def _check_named(name: str, sizes: Mapping[str, int], where: str) -> None:
    if name and name not in sizes:
        known = ", ".join(sizes) or "none"
        raise Invalid(f"{where} names block size '{name}', the kernel has: {known}")


class Return(TileOp):
    """End a kernel."""

    terminator = True

    def infer(self) -> tuple[()]:
        return ()


class ProgramId(TileOp):
    """Return where on an axis of the grid the program is."""

    axis: int
    y: Result

    def infer(self) -> Tile:
        if self.axis < 0:
            raise Invalid(f"axis is {self.axis}, must not be negative")
        return Tile((), "i32")


class BlockSize(TileOp):
    """Return the value of the block size called `block`."""

    block: str
    y: Result

    def infer(self) -> Tile:
        return Tile((), "i32")


class SizeOf(TileOp):
    """Return the value of a size that depends on symbols."""

    size: int
    y: Result

    def infer(self) -> Tile:
        return Tile((), "i32")


class Arange(TileOp):
    """Return 0, 1, 2, … as many as `block` is: a power of two, or the name of a block size."""

    block: str
    y: Result

    def infer(self) -> Tile:
        return Tile((size_of(self.block),), "i32")


def find_kernel(operation: ir.Operation, name: str) -> Kernel:
    """Find a kernel by name in the module that an operation is in; raise Invalid without one."""
    found = find_symbol(operation, name)
    if not isinstance(found, Kernel):
        raise Invalid(f"there is no kernel '{name}'")
    return found


def kernels_of(scope: ir.Operation) -> list[Kernel]:
    """List the kernels of a module, in order."""
    return [op for op in ops(scope) if isinstance(op, Kernel)]


def body_ops(block: ir.Block) -> list[Op]:
    """List the ops of one block of a kernel, without those in their regions."""
    return [_view(operation.operation) for operation in block.operations]


def _view(operation: ir.Operation) -> Op:
    op = view(operation)
    assert op is not None, "kernels consist of ops of the tile dialect"
    return op
