"""A kernel under construction: its grid, its block sizes, its arguments."""

import hashlib
import re
from collections.abc import Hashable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

import numpy as np

from ....dialects import tile
from ....dialects.core.mlir import ir
from ....dialects.core.sizes.atoms import is_symbolic
from ....dialects.core.tensor import Array, Tensor, numpy_dtype
from ....dialects.tile.setting import Setting
from ....dialects.tile.types import Memory, mlir_type, row_major
from ....passes.rewriting import users
from .buffer import Argument, Buffer, Computed
from .cleanup import clean_up
from .value import Value, arange, block_size, made


@dataclass(frozen=True)
class Intermediate:
    """A tensor that one kernel of a group writes and a later one reads."""

    number: int
    tensor: Tensor


@dataclass(frozen=True)
class ConstantTable:
    """A constant tensor that a kernel reads as an argument."""

    tensor: Tensor
    data: bytes

    @property
    def array(self) -> Array:
        numbers = np.frombuffer(self.data, numpy_dtype(self.tensor.dtype))
        return numbers.reshape(self.tensor.shape)


@dataclass(frozen=True)
class Kernel:
    """A finished kernel, and the sources of its arguments: inputs, then outputs."""

    op: tile.Kernel
    inputs: tuple[Hashable, ...]
    outputs: tuple[Hashable, ...]


class KernelBuilder:
    """Build one kernel at the insertion point of a module, with `with builder:` for its body.

    `precision` is the precision of f32 factors, as in `tile.dot`.
    """

    def __init__(
        self, module: ir.Module, name: str, location: ir.Location, precision: str = "ieee"
    ) -> None:
        self.module = module
        self.name = name
        self.location = location
        self.precision = precision
        self.warps = 4
        self.stages = 1
        self.group = 0
        self.candidates: Sequence[Setting] = ()
        self.before: list[KernelBuilder] = []
        self._grid: list[tile.GridAxis] = []
        self._blocks: dict[str, int] = {}
        self._buffers: dict[Hashable, tuple[Argument, bool]] = {}
        attributes = {"sym_name": name, "grid": (), "blocks": (), "group": 0, "candidates": ()}
        with ir.InsertionPoint(module.body), location:
            self.op = tile.Kernel.create([], [], {**attributes, "warps": 4, "stages": 1})
            self.block = ir.Block.create_at_start(self.op.operation.regions[0])

    # -- the grid -----------------------------------------------------------------------------

    def block_of(self, name: str, size: int) -> Value:
        """Declare a block size and its value unless tuning finds a better one; return it."""
        assert self._blocks.setdefault(name, size) == size, f"block size {name} is declared twice"
        return block_size(name)

    def programs(self, extent: int, block: str = "") -> Value:
        """Add an axis to the grid, a program for each block of an extent; return where one is.

        A static grid has a program at least; nothing is launched where a size of a run is 0.
        """
        extent = extent if is_symbolic(extent) else max(extent, 1)
        self._grid.append(tile.GridAxis(extent, block))
        return made(tile.ProgramId.build(axis=len(self._grid) - 1))

    def axis(self, extent: int, block: str, size: int, name: str = "") -> Value:
        """Add an axis to the grid; return the indices of the elements in a program's block."""
        self.block_of(block, size)
        program = self.programs(extent, block).named(f"{name or block.lower()}_program")
        start = (program * block_size(block)).named(f"{name or block.lower()}_start")
        return self.indices(start, block, name)

    def indices(self, first: Value | int, block: str, name: str = "") -> Value:
        """Return the indices of a block that begins at `first`."""
        found = arange(block) + first
        return found.named(name) if name else found

    # -- arguments ----------------------------------------------------------------------------

    def argument(
        self,
        source: Hashable,
        tensor: Tensor,
        order: Sequence[int] = (),
        name: str = "x",
        output: bool = False,
    ) -> Argument:
        """Return the argument for a source; `order` is the order of dims in memory."""
        if source not in self._buffers:
            strides = ordered_strides(tensor, order)
            type_ = mlir_type(Memory(tensor.shape, strides, tensor.dtype))
            memory = self.block.add_argument(type_, ir.Location.name(name, context=type_.context))
            self._buffers[source] = Argument(tensor, strides, memory, source), output
        return self._buffers[source][0]

    def import_buffer(self, buffer: Buffer) -> Buffer:
        """Import a buffer of another kernel, to read."""
        if isinstance(buffer, Computed):
            leaves = tuple(self.import_buffer(leaf) for leaf in buffer.leaves)
            return replace(
                buffer, leaves=leaves, narrow=buffer.narrow and self.import_buffer(buffer.narrow)
            )
        assert isinstance(buffer, Argument), "buffers are arguments or computed"
        if buffer.source not in self._buffers:
            memory = self.block.add_argument(buffer.memory.type, buffer.memory.location)
            self._buffers[buffer.source] = replace(buffer, memory=memory), False
        return replace(buffer, memory=self._buffers[buffer.source][0].memory)

    def table(self, array: Array, name: str = "table") -> Buffer:
        """Add a constant tensor as an argument to read."""
        table = ConstantTable(Tensor.of(array), np.ascontiguousarray(array).tobytes())
        return self.argument(table, table.tensor, name=name)

    def prior_kernel(self, suffix: str) -> "KernelBuilder":
        """Add a kernel that runs before this one."""
        builder = KernelBuilder(self.module, f"{self.name}_{suffix}", self.location, self.precision)
        self.before.append(builder)
        return builder

    def intermediate(
        self, tensor: Tensor, name: str = "partial", order: Sequence[int] = ()
    ) -> Argument:
        """Add an output that a later kernel reads; `order` is the order of dims in memory."""
        source = Intermediate(id(self) + len(self._buffers), tensor)
        return self.argument(source, tensor, order, name, output=True)

    # -- building -----------------------------------------------------------------------------

    def __enter__(self) -> "KernelBuilder":
        self._inside = ExitStack()
        self._inside.enter_context(ir.InsertionPoint(self.block))
        self._inside.enter_context(ir.Location.unknown())
        return self

    def __exit__(self, *error: object) -> None:
        self._inside.close()

    def finish(self) -> list[Kernel]:
        """Close the kernels before this one, then this one; return them in order."""
        earlier = [kernel for builder in self.before for kernel in builder.finish()]
        with self:
            tile.Return.build()
        clean_up(self.block)
        op = self.op.operation
        used = {s: (b, out) for s, (b, out) in self._buffers.items() if out or users(b.memory)}
        inputs = [source for source, (_, output) in used.items() if not output]
        outputs = [source for source, (_, output) in used.items() if output]
        self._order_arguments([used[source][0] for source in (*inputs, *outputs)])
        settings = {
            "grid": tuple(map(str, self._grid)) or ("1",),
            "blocks": tuple(f"{name}={size}" for name, size in self._blocks.items()),
            "group": self.group,
            "warps": self.warps,
            "stages": self.stages,
            "candidates": tuple(map(str, self.candidates)),
        }
        kernel = tile.Kernel(op)
        kernel.set_attributes(settings | {"sym_name": self.name})
        name = f"{self.name}_{content_hash(op)}"
        kernel.set_attributes({"sym_name": name})
        return [*earlier, Kernel(kernel, tuple(inputs), tuple(outputs))]

    def _order_arguments(self, buffers: Sequence[Argument]) -> None:
        """Give the body the arguments of these buffers, in order, and no others."""
        for buffer in buffers:
            memory = buffer.memory
            twin = self.block.add_argument(memory.type, memory.location)
            memory.replace_all_uses_with(twin)
        for _ in range(len(self.block.arguments) - len(buffers)):
            self.block.erase_argument(0)


def ordered_strides(tensor: Tensor, order: Sequence[int] = ()) -> tuple[int, ...]:
    """Return the strides of a tensor with an order of dims in memory, outermost first."""
    order = tuple(order) or tuple(range(tensor.rank))
    inner = row_major(tuple(tensor.shape[dim] for dim in order))
    return tuple(inner[order.index(dim)] for dim in range(tensor.rank))


def content_hash(operation: ir.Operation) -> str:
    """Return a short hash of a kernel's computation, without its name and block sizes."""
    attributes = "|".join(("sym_name", "blocks", "warps", "stages", "candidates"))
    text = re.sub(rf'({attributes}) = ("[^"]*"|\[[^]]*\]|\d+)', "", operation.get_asm())
    return hashlib.sha256(text.encode()).hexdigest()[:12]
