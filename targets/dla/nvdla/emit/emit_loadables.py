"""Emit a loadable for each group of ops of NVDLA: a file of the package."""

from collections.abc import Sequence
from dataclasses import replace

from .....dialects import tri
from .....dialects.core.attributes import from_attribute, tensor_of
from .....dialects.core.interpret import compute
from .....dialects.core.location import node_names, value_names
from .....dialects.core.mlir import ir
from .....dialects.core.module import Module
from .....dialects.core.op import view
from .....dialects.core.tensor import Array
from .....passes.core import Pass
from ...schedule.group_members import groups_of, outputs_of
from ..choice import NAME, Choice
from ..configuration import Configuration
from ..dialect.dialect import precision_of
from ..format.loadable import FORMAT, Blob, Interface, Loadable, MemoryFlags, Submit, Tensor
from ..format.network import NEWEST
from ..format.packed import Abi
from ..lint.linter import lint
from ..schedule.choose_pixels import pixels_of
from ..schedule.pixel_convs import line_stride
from ..schedule.place_values import ADDRESS, ARENA_BYTES, layout_of
from ..schedule.places import maker_of, places_of
from .images import Constants, Images
from .memory_map import MemoryMap, Spot
from .tasks import chained, emit_task, tasks_of

FULL = Choice()
NODES = "trivium-nodes"
"""The blob with the nodes of each operation, a line each; no memory is filled with it."""

_TYPES = {"i8": 4, "f16": 2}
_IMAGE, _FEATURE, _FORMAT = 0, 2, 1
_PIXELS_OF_8, _PIXELS = 37, 36
"""The formats of feature data in atoms of 8 bytes, and in larger ones."""


class EmitLoadables(Pass):
    """Emit the loadable of each group of NVDLA, in `artifacts`.

    tri.group … {target = "nvdla"}   =>   the same, and dla/nvdla_0.nvdla
    """

    target: Choice = FULL

    def run(self, module: Module) -> None:
        for number, group in enumerate(groups_of(module, NAME)):
            made = emit(module, group, self.target.configuration)
            module.artifacts[entry_of(number)] = made.write()


def entry_of(number: int) -> str:
    """Return the name of the package entry with the loadable of a group."""
    return f"dla/{NAME}_{number}.nvdla"


def emit(
    module: Module, group: tri.Group, configuration: Configuration, abi: Abi = NEWEST
) -> Loadable:
    """Return the loadable of a group; raise RuntimeError, as for any bug, if it has faults."""
    made = _Making(module, group, configuration, abi).run()
    faults = "\n  ".join(map(str, lint(made, configuration)))
    if faults:
        raise RuntimeError(f"a loadable for {configuration.name} has faults:\n  {faults}")
    return made


def constants_of(module: Module, group: tri.Group) -> dict[ir.Value, Array]:
    """Return the arguments of a group that are constants, with their values."""
    found: dict[ir.Value, Array] = {}
    pairs = zip(group.block.arguments, group.operation.operands, strict=True)
    for argument, value in pairs:
        made = view(value.owner) if isinstance(value, ir.OpResult) else None
        if isinstance(made, (tri.Constant, tri.Weight)):
            (found[argument],) = compute(made, [], module.weights)
    return found


class _Making:
    def __init__(
        self, module: Module, group: tri.Group, configuration: Configuration, abi: Abi
    ) -> None:
        self.group = group
        self.configuration = configuration
        self.map = MemoryMap(abi)
        self.constants = Constants(self.map.add(0), configuration.atom)
        self.arrays = constants_of(module, group)
        self.places = places_of(group)
        self.pixels = pixels_of(group, self.places)
        self.spots: dict[ir.Value, Spot] = {}
        self.tensors: list[Tensor] = []

    def run(self) -> Loadable:
        self._activations()
        inputs = [value for value in self.group.block.arguments if value not in self.arrays]
        self._bound(inputs, MemoryFlags.INPUT, [_name(self.group, each) for each in inputs])
        outputs = outputs_of(self.group)
        names = value_names(self.group.location)
        given = [names[i] if i < len(names) else "" for i in range(len(outputs))]
        self._bound(outputs, MemoryFlags.OUTPUT, given)
        images = Images(
            *(self.configuration, self.map, self.places, self.spots, self.arrays, self.constants)
        )
        parts = tasks_of(self.group)
        tasks, events = chained([emit_task(n, part, images) for n, part in enumerate(parts)])
        data = bytes(self.constants.data) or b"\0"
        self.map.fill(self.constants.memory, "tb-0", data, Interface.NONE)
        lines = [", ".join(node_names(op.location)) for part in parts for s in part for op in s.ops]
        return Loadable(
            FORMAT,
            task_list=tasks,
            memory_list=tuple(self.map.memories),
            address_list=self.map.addresses,
            event_list=events,
            blobs=(*self.map.blobs, _listed(lines)),
            tensor_desc_list=tuple(self.tensors),
            submit_list=tuple(Submit(each.id, (each.id,)) for each in tasks),
        )

    def _activations(self) -> None:
        """Add the memory of images inside of the group."""
        size = _number(self.group.operation, ARENA_BYTES)
        number = self.map.add(size) if size else -1
        for place in self.places.values():
            maker = maker_of(place.root)
            if maker is not None and ADDRESS in maker.operation.attributes:
                address = _number(maker.operation, ADDRESS)
                bytes_ = layout_of(place.root, self.configuration.atom).bytes
                self.spots[place.root] = Spot(number, address, bytes_)

    def _bound(self, values: Sequence[ir.Value], flag: MemoryFlags, names: list[str]) -> None:
        """Add the memories of inputs or outputs, with the tensors that describe them."""
        for bind, (value, name) in enumerate(zip(values, names, strict=True)):
            described = self._tensor(value)
            memory = self.map.add(described.size, flag, bind, len(self.tensors))
            self.spots[value] = Spot(memory, 0, described.size)
            found = replace(described, name=name, id=len(self.tensors), mem_id=memory)
            self.tensors.append(found)

    def _tensor(self, value: ir.Value) -> Tensor:
        """Return the tensor of an input or output, without its name and place."""
        (_, channels, height, width), dtype = (
            tensor_of(value.type).shape,
            tensor_of(value.type).dtype,
        )
        common = Tensor(data_type=_TYPES[dtype], n=1, c=channels, h=height, w=width)
        form = self.pixels.get(value)
        if form is not None:
            line = line_stride(width, form, self.configuration)
            (size,) = form.pixel_bytes
            pixels = {"pixel_format": form.number, "stride_0": size, "stride_1": line}
            return replace(common, size=line * height, data_category=_IMAGE, **pixels)
        layout = layout_of(value, self.configuration.atom)
        return replace(
            common,
            size=layout.bytes,
            data_format=_FORMAT,
            data_category=_FEATURE,
            pixel_format=_PIXELS_OF_8 if self.configuration.atom == 8 else _PIXELS,
            stride_0=precision_of(dtype).bytes,
            stride_1=layout.line_stride,
            stride_2=layout.surface_stride,
        )


def _listed(nodes: list[str]) -> Blob:
    data = "\n".join(nodes).encode()
    return Blob(NODES, len(data), data=data)


def _number(operation: ir.Operation, name: str) -> int:
    return int(from_attribute(operation.attributes[name], int))


def _name(group: tri.Group, argument: ir.Value) -> str:
    """Return the name of the source's value that is an input."""
    number = list[ir.Value](group.block.arguments).index(argument)
    value = group.operation.operands[number]
    made = view(value.owner) if isinstance(value, ir.OpResult) else None
    names = value_names(made.location) if made is not None else ()
    return names[0] if names else f"input {number}"
