"""Lower groups on an accelerator to programs: ops on tiles, with explicit loads and stores."""

from ....dialects import dla, tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.errors import Unsupported
from ....dialects.core.interpret import compute
from ....dialects.core.location import describe, inner_location
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module
from ....dialects.core.op import Op, view
from ....dialects.dla.types import ACTIVATIONS, INPUTS, OUTPUTS, SRAM, memref_of
from ....passes.core import Pass
from ..layout.memory_layout import MemoryLayout
from ..registry import VANILLA, Configuration
from ..retry import Retry
from .alias_analysis import AliasAnalysis, in_place_candidates
from .assign_residency import RESIDENT
from .group_members import groups_of, is_constant, members_of, outputs_of
from .placement import BufferWindow, ImagePlacement
from .tiler import Tiler
from .tilings import cut, tiling_of


class LowerToBuffers(Pass):
    """Make a program of each group on an accelerator, and call it in place of the group.

    Resident values (see `assign-residency`) have one buffer in SRAM; windows of other values are
    loaded into tiles, and tiles of results are stored. Tiles are as large as `tile_share` percent
    of the free memory allows, so that two of them fit, or else one. Raises Retry if not even the
    smallest tile of an op fits.

        %y = tri.group %x { dla.conv } {target = "vanilla"}
            =>   dla.program @vanilla_0 { dla.load … dla.conv_tile … dla.store … }
                 %y = dla.run @vanilla_0(%x, %weights)
    """

    target: Configuration = VANILLA
    tile_share: int = 100

    def run(self, module: Module) -> None:
        layout = MemoryLayout(self.target.description)
        with module.operation.context, ir.Location.unknown():
            for number, group in enumerate(groups_of(module, self.target.name)):
                _Lowering(module, group, layout, self.tile_share).run(number)


class _Lowering:
    def __init__(self, module: Module, group: tri.Group, layout: MemoryLayout, share: int) -> None:
        self.module = module
        self.group = group
        self.layout = layout
        self.target = layout.description.name
        self.share = share
        self.members = members_of(group)
        self.outputs = outputs_of(group)
        self.resident_inputs = self._resident_inputs()
        self.aliases = AliasAnalysis.of(self.members, self.outputs, layout)
        self.reusable = in_place_candidates(self.members, self.aliases)
        self.live: dict[ir.Value, tuple[int, int]] = {}
        self.last: dict[ir.Value, int] = {}
        for index, op in enumerate(self.members):
            self.last[op.results[0]] = index
            self.last.update(dict.fromkeys(op.operation.operands, index))

    def run(self, number: int) -> None:
        """Write the program, and call it in place of the group."""
        name = f"{self.target}_{number}"
        block = self._program(name).block
        inputs = [v for v in self.group.block.arguments if not is_constant(self.group, v)]
        outputs = list(dict.fromkeys(self.outputs))
        tiler = Tiler(self.module, block, self.layout, self.group.operation)
        for space, values in ((INPUTS, inputs), (OUTPUTS, outputs)):
            tiler.values |= {value: self._argument(value, space, block) for value in values}
        with ir.InsertionPoint(block):
            self._constants(tiler)
            for index, op in enumerate(self.members):
                self._write(op, index, tiler)
            dla.End.create([], [], {})
        operands = self.group.operation.operands
        outside: dict[ir.Value, ir.Value] = dict(
            zip(self.group.block.arguments, operands, strict=True)
        )
        given = [*(outside[value] for value in inputs), *tiler.constants]
        types = [value.type for value in outputs]
        with ir.InsertionPoint(self.group.operation):
            call = dla.Run.create([given], types, {"program": name}, loc=self.group.location)
        for old, value in zip(self.group.results, self.outputs, strict=True):
            old.replace_all_uses_with(call.results[outputs.index(value)])
        self.group.operation.erase()

    def _program(self, name: str) -> dla.Program:
        atom = self.layout.description.atom
        fields = {"sym_name": name, "target": self.target, "atom": atom}
        with ir.InsertionPoint(self.module.main):
            program = dla.Program.create([], [], fields, loc=self.group.location)
        ir.Block.create_at_start(program.operation.regions[0], [])
        return program

    def _argument(self, value: ir.Value, space: str, block: ir.Block) -> ImagePlacement:
        shape = tensor_of(value.type).shape
        type_ = memref_of(self.layout.images(shape, space))
        argument = block.add_argument(type_, self.group.location)
        return ImagePlacement(shape, dram=BufferWindow(argument))

    def _constants(self, tiler: Tiler) -> None:
        pairs = zip(self.group.block.arguments, self.group.operation.operands, strict=True)
        for argument, value in pairs:
            made = view(value.owner) if isinstance(value, ir.OpResult) else None
            if isinstance(made, (tri.Constant, tri.Weight)):
                (tiler.arrays[argument],) = compute(made, [], self.module.weights)

    def _resident_inputs(self) -> set[ir.Value]:
        if RESIDENT not in self.group.operation.attributes:
            return set()
        numbers = list(self.group.operation.attributes[RESIDENT])
        return {self.group.block.arguments[number] for number in numbers}

    def _load(self, tiler: Tiler, value: ir.Value) -> None:
        """Load a resident input as a whole."""
        reader = tiler.reader(value)
        images = reader.images
        images.sram = self._resident(value, tiler)
        rows, columns, channels = images.shape[1:]
        for image in range(images.shape[0]):
            ranges = ((0, rows), (0, columns), (0, channels))
            reader.load(image, ranges, images.sram.moved((image, 0, 0, 0)))

    def _resident(self, value: ir.Value, tiler: Tiler) -> BufferWindow:
        """Return the buffer of a resident value: that of an operand it may overwrite, or a new one.

        It is live until the last use of the value and its subviews.
        """
        buffer = self.layout.images(tensor_of(value.type).shape, SRAM)
        operands = [each for each in self.reusable.get(value, ()) if each in tiler.values]
        found = (tiler.values[each].sram for each in operands)
        place = next(filter(None, found), None) or BufferWindow(tiler.alloc(buffer))
        last = max(self.last[each] for each in self.aliases.with_subviews(value))
        self.live[place.buffer] = last, buffer.size_bytes
        return place

    def _place(self, value: ir.Value, tiler: Tiler) -> ImagePlacement:
        """Return the placement of a result: inside its parent, or in a buffer of its own."""
        shape = tensor_of(value.type).shape
        images = tiler.values.setdefault(value, ImagePlacement(shape))
        if images.sram is not None or (images.dram is not None and value not in self.outputs):
            return images
        if value in self.aliases.subviews:
            subview = self.aliases.subviews[value]
            parent = self._place(subview.parent, tiler)
            images.parent, images.at = parent, subview.offset
            images.sram = parent.sram.moved(subview.offset) if parent.sram else None
            images.dram = parent.dram.moved(subview.offset) if parent.dram else None
        is_resident = RESIDENT in value.owner.attributes and not self.aliases.is_window(value)
        if images.sram is None and is_resident:
            images.sram = self._resident(value, tiler)
        if images.sram is None and images.dram is None:
            images.dram = BufferWindow(tiler.alloc(self.layout.images(shape, ACTIVATIONS)))
        return images

    def _write(self, op: Op, index: int, tiler: Tiler) -> None:
        """Write the tiles of one op."""
        tiler.location = inner_location(op.location)
        for value in op.operation.operands:
            if value in self.resident_inputs and tiler.values[value].sram is None:
                self._load(tiler, value)
        self._place(op.results[0], tiler)
        sram, weights = self._free(index), self.layout.capacity("weights")
        try:
            cut(tiling_of(op), op, tiler, sram * self.share // 100, weights * self.share // 100)
        except Unsupported as reason:
            raise Retry(f"'{op.op_name}' op of {describe(op.location)} {reason}") from None

    def _free(self, index: int) -> int:
        """Return the bytes of SRAM that no resident value uses while an op runs."""
        used = sum(size for last, size in self.live.values() if last >= index)
        return max(self.layout.capacity("sram") - used, 0)
