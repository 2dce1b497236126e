"""Replace groups on an accelerator by programs: ops on tiles, with explicit loads and stores."""

from ....dialects import dla, tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.errors import Unsupported
from ....dialects.core.interpret import compute
from ....dialects.core.location import describe, inner_location
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module, ops
from ....dialects.core.op import Op, view
from ....dialects.dla.types import ACTIVATIONS, INPUTS, OUTPUTS, SRAM, buffer_type
from ....passes.core import Pass
from ..layout.memory_layout import Layout, layout_of
from ..retry import Retry
from .alias_analysis import Joins
from .assign_residency import STAYS
from .group_members import is_constant, members_of, outputs_of
from .in_place import replaced
from .placement import Images, Window
from .tiler import Tiler, cut
from .tilings import tiling_of


class LowerToBuffers(Pass):
    """Make a program of each group on an accelerator, and run it where the group was.

    Values that stay (see `choose-memory`) are in sram as wholes; windows of others are loaded into
    tiles, and what is made of them is stored. Tiles are as large as `tile_share` percent of what is
    left of the memories allows, so that two of them fit, or one where two cannot. Asks for another
    attempt where not even the smallest tile of an op fits.

        %y = tri.group %x { dla.conv } {target = "vanilla"}
            =>   dla.program @vanilla_0 { dla.load … dla.conv_tile … dla.store … }
                 %y = dla.run @vanilla_0(%x, %weights)
    """

    target: str = "vanilla"
    description: str = ""
    tile_share: int = 100

    def run(self, module: Module) -> None:
        layout = layout_of(self.target, self.description)
        with module.operation.context, ir.Location.unknown():
            found = [
                op
                for op in ops(module.main)
                if isinstance(op, tri.Group) and op.target == self.target
            ]
            for number, group in enumerate(found):
                _Lowering(module, group, layout, self.target, self.tile_share).run(number)


class _Lowering:
    def __init__(
        self, module: Module, group: tri.Group, layout: Layout, target: str, share: int
    ) -> None:
        self.module = module
        self.group = group
        self.layout = layout
        self.target = target
        self.share = share
        self.members = members_of(group)
        self.outputs = outputs_of(group)
        self.staying = self._staying()
        self.joins = Joins.of(self.members, self.outputs, layout)
        self.replaced = replaced(self.members, self.joins)
        self.kept: dict[ir.Value, tuple[int, int]] = {}
        self.last: dict[ir.Value, int] = {}
        for index, op in enumerate(self.members):
            self.last[op.results[0]] = index
            self.last.update(dict.fromkeys(op.operation.operands, index))

    def run(self, number: int) -> None:
        """Write the program, and call it in place of the group."""
        name = f"{self.target}_{number}"
        program = self._program(name)
        block = program.block
        inputs = self._inputs(block)
        tiler = Tiler(self.module, block, self.layout, self.group.operation)
        tiler.values = inputs | self._outputs(block)
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
        outputs = list(dict.fromkeys(self.outputs))
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

    def _inputs(self, block: ir.Block) -> dict[ir.Value, Images]:
        """Make an argument of the program for each input that is no constant."""
        arguments = [v for v in self.group.block.arguments if not is_constant(self.group, v)]
        return {value: self._argument(value, INPUTS, block) for value in arguments}

    def _outputs(self, block: ir.Block) -> dict[ir.Value, Images]:
        made: dict[ir.Value, Images] = {}
        for value in dict.fromkeys(self.outputs):
            made[value] = self._argument(value, OUTPUTS, block)
        return made

    def _argument(self, value: ir.Value, space: str, block: ir.Block) -> Images:
        shape = tensor_of(value.type).shape
        type_ = buffer_type(self.layout.images(shape, space))
        return Images(shape, dram=Window(block.add_argument(type_, self.group.location)))

    def _constants(self, tiler: Tiler) -> None:
        pairs = zip(self.group.block.arguments, self.group.operation.operands, strict=True)
        for argument, value in pairs:
            made = view(value.owner) if isinstance(value, ir.OpResult) else None
            if isinstance(made, (tri.Constant, tri.Weight)):
                (tiler.arrays[argument],) = compute(made, [], self.module.weights)

    def _staying(self) -> set[ir.Value]:
        """Return the inputs that stay in sram."""
        if STAYS not in self.group.operation.attributes:
            return set()
        numbers = list(self.group.operation.attributes[STAYS])
        return {self.group.block.arguments[number] for number in numbers}

    def _bring(self, tiler: Tiler, value: ir.Value) -> None:
        """Load an input that stays as a whole."""
        reader = tiler.reader(value)
        images = reader.images
        images.sram = self._keep(value, tiler)
        rows, columns, channels = images.shape[1:]
        for image in range(images.shape[0]):
            ranges = ((0, rows), (0, columns), (0, channels))
            reader.bring(image, ranges, images.sram.moved((image, 0, 0, 0)))

    def _keep(self, value: ir.Value, tiler: Tiler) -> Window:
        """Return the place in sram of a value that stays, until it and its parts are last used.

        That is the place of what it replaces, if that stays as well, or a buffer of its own.
        """
        buffer = self.layout.images(tensor_of(value.type).shape, SRAM)
        over = [each for each in self.replaced.get(value, ()) if each in tiler.values]
        found = (tiler.values[each].sram for each in over)
        place = next(filter(None, found), None) or Window(tiler.alloc(buffer))
        last = max(self.last[each] for each in self.joins.family(value))
        self.kept[place.buffer] = last, buffer.size_bytes
        return place

    def _place(self, value: ir.Value, tiler: Tiler) -> Images:
        """Return where a result is to be: a part where the whole is, all else in its own place."""
        shape = tensor_of(value.type).shape
        images = tiler.values.setdefault(value, Images(shape))
        if images.sram is not None or (images.dram is not None and value not in self.outputs):
            return images
        taken = self.joins.is_taken(value)
        if value in self.joins.parts:
            part = self.joins.parts[value]
            images.within, images.at = self._place(part.whole, tiler), part.at
            whole = images.within
            images.sram = whole.sram.moved(part.at) if whole.sram else None
            images.dram = whole.dram.moved(part.at) if whole.dram else None
        if images.sram is None and STAYS in value.owner.attributes and not taken:
            images.sram = self._keep(value, tiler)
        if images.sram is None and images.dram is None:
            images.dram = Window(tiler.alloc(self.layout.images(shape, ACTIVATIONS)))
        return images

    def _write(self, op: Op, index: int, tiler: Tiler) -> None:
        """Write the tiles of one op."""
        tiler.location = inner_location(op.location)
        for value in self.staying.intersection(op.operation.operands):
            if tiler.values[value].sram is None:
                self._bring(tiler, value)
        self._place(op.results[0], tiler)
        self._cut(op, self._left(index) * self.share // 100, tiler)

    def _cut(self, op: Op, room: int, tiler: Tiler) -> None:
        weights = self.layout.capacity("weights") * self.share // 100
        try:
            cut(tiling_of(op), op, tiler, room, weights)
        except Unsupported as reason:
            raise Retry(f"'{op.op_name}' op of {describe(op.location)} {reason}") from None

    def _left(self, index: int) -> int:
        """Return how many bytes of sram are not taken by values that stay during an op."""
        taken = sum(size for last, size in self.kept.values() if last >= index)
        return max(self.layout.capacity("sram") - taken, 0)
