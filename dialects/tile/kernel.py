"""Kernels, what programs of a kernel know of themselves, and calls of kernels."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..core.errors import Invalid
from ..core.fields import Operand, Region, Result
from ..core.mlir import ir
from ..core.module import ops
from ..core.op import Op
from .dialect import TileOp
from .setting import Setting
from .types import Memory, Tile, need_memory, plain_type

_AXIS = re.compile(r"(\d+)(?:/([A-Za-z_]\w*))?")
_BLOCK = re.compile(r"([A-Za-z_]\w*)=(\d+)")


@dataclass(frozen=True)
class GridAxis:
    """Say how many programs there are along one axis: one for each `block` of `extent` elements.

    Without a block there is one for each element.
    """

    extent: int
    block: str = ""

    @staticmethod
    def parse(text: str) -> "GridAxis":
        """Read `128/BM` or `8`; raise Invalid for anything else."""
        match = _AXIS.fullmatch(text)
        if match is None:
            raise Invalid(f"grid has '{text}', must be like 128/BM or 8")
        return GridAxis(int(match[1]), match[2] or "")

    def count(self, blocks: dict[str, int]) -> int:
        """Count the programs along the axis for given block sizes."""
        return -(-self.extent // blocks[self.block]) if self.block else self.extent

    def __str__(self) -> str:
        return f"{self.extent}/{self.block}" if self.block else str(self.extent)


class Kernel(TileOp):
    """Run `body` once for each point of a grid; its arguments are the inputs, then the outputs.

    `grid` has an entry for each axis, as `GridAxis` reads it; `blocks` gives each named block size
    a value, as in `BM=128`, a power of two. With `group`, programs walk the first two axes in bands
    of that many steps of the first one, so that those that run together share what they read.
    `warps` and `stages` say how a program runs on a GPU; they do not change what it computes.
    `candidates` are other settings to try, as `Setting` reads them.
    """

    sym_name: str
    grid: tuple[str, ...]
    blocks: tuple[str, ...] = ()
    group: int = 0
    warps: int = 4
    stages: int = 1
    candidates: tuple[str, ...] = ()
    body: Region

    @property
    def block(self) -> ir.Block:
        """Return the block of the body."""
        return self.operation.regions[0].blocks[0]

    @property
    def axes(self) -> tuple[GridAxis, ...]:
        """Return the axes of the grid."""
        return tuple(map(GridAxis.parse, self.grid))

    @property
    def block_sizes(self) -> dict[str, int]:
        """Return the block sizes by name."""
        return _block_sizes(self.blocks)

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
        self.check_attributes()
        blocks = self.operation.regions[0].blocks
        if len(blocks) != 1:
            raise Invalid(f"has {len(blocks)} blocks in its body, must have 1")
        last = blocks[0].operations[len(blocks[0].operations) - 1].operation
        if last.name != Return.op_name:
            raise Invalid(f"body ends in '{last.name}', must end in '{Return.op_name}'")
        sizes = self.block_sizes
        for axis in self.axes:
            _need_block(axis.block, sizes, "grid")
        for which, count in (("warps", self.warps), ("stages", self.stages)):
            if count < 1:
                raise Invalid(f"{which} is {count}, must be at least 1")
        if self.group < 0 or (self.group and len(self.grid) < 2):
            raise Invalid(f"group is {self.group}, must be 0, or positive for two axes or more")
        for text in self.candidates:
            names = [name for name, _ in Setting.parse(text).blocks]
            if set(names) != set(sizes):
                raise Invalid(f"candidate '{text}' must set {', '.join(sizes) or 'no block sizes'}")
        self._check_values(sizes)

    def _check_values(self, sizes: dict[str, int]) -> None:
        _ = self.memories
        for op in ops(self.block):
            for value in op.results:
                for size in _named_sizes(value):
                    _need_block(size, sizes, f"'{op.op_name}'")
            if isinstance(op, ProgramId) and op.axis >= len(self.grid):
                raise Invalid(f"grid has {len(self.grid)} axes, '{op.op_name}' asks for {op.axis}")


def _named_sizes(value: ir.Value) -> list[str]:
    """List the names of block sizes in the type of a value."""
    type_ = plain_type(value.type)
    shape = type_.shape if isinstance(type_, Tile) else ()
    return [size for size in shape if isinstance(size, str)]


def _need_block(name: str, sizes: dict[str, int], where: str) -> None:
    if name and name not in sizes:
        known = ", ".join(sizes) or "none"
        raise Invalid(f"{where} names block size '{name}', the kernel has: {known}")


def _block_sizes(texts: Sequence[str]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for text in texts:
        match = _BLOCK.fullmatch(text)
        if match is None or match[1] in sizes:
            raise Invalid(f"blocks has '{text}', must be like BM=128, each name once")
        size = int(match[2])
        if size < 1 or size & (size - 1):
            raise Invalid(f"block size {match[1]} is {size}, must be a power of two")
        sizes[match[1]] = size
    return sizes


class Return(TileOp):
    """End a kernel."""

    terminator = True

    @staticmethod
    def infer() -> tuple[()]:
        return ()


class ProgramId(TileOp):
    """Return where on an axis of the grid the program is."""

    axis: int
    y: Result

    @staticmethod
    def infer(*, axis: int) -> Tile:
        if axis < 0:
            raise Invalid(f"axis is {axis}, must not be negative")
        return Tile((), "i32")


class BlockSize(TileOp):
    """Return the value of a block size."""

    block: str
    y: Result

    @staticmethod
    def infer(*, block: str) -> Tile:
        return Tile((), "i32")


class Arange(TileOp):
    """Return 0, 1, 2, … as many as a block size says."""

    block: str
    y: Result

    @staticmethod
    def infer(*, block: str) -> Tile:
        return Tile((block,), "i32")


class Launch(TileOp):
    """Call a kernel: its inputs are the operands, what it writes to its outputs are the results.

    Operands and results are tensors. The kernel sees the memory of each in its own shape.
    """

    inputs: Sequence[Operand]
    kernel: str
    outputs: Sequence[Result]

    def verify(self) -> None:
        self.check_attributes()
        kernel = find_kernel(self.operation, self.kernel)
        if kernel is None:
            raise Invalid(f"there is no kernel '{self.kernel}'")
        values = [*self.operation.operands, *self.results]
        memories = kernel.memories
        if len(values) != len(memories):
            raise Invalid(
                f"has {len(values)} operands and results, '{self.kernel}' has {len(memories)} "
                "arguments"
            )
        for index, (value, memory) in enumerate(zip(values, memories, strict=True)):
            tensor = Op.plain_type(value.type)
            if tensor.dtype != memory.dtype:
                raise Invalid(f"argument {index} is of {tensor.dtype}, must be of {memory.dtype}")
            if memory.extent > tensor.size:
                raise Invalid(
                    f"argument {index} has {tensor.size} elements, '{self.kernel}' reaches "
                    f"{memory.extent}"
                )


def find_kernel(operation: ir.Operation, name: str) -> Kernel | None:
    """Find a kernel by name in the module that an operation is in."""
    top = operation
    while top.parent is not None:
        top = top.parent.operation
    for nested in top.regions[0].blocks[0].operations:
        if nested.operation.name == Kernel.op_name:
            kernel = Kernel(nested.operation)
            if kernel.sym_name == name:
                return kernel
    return None
