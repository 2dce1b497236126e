"""What NVDLA runs of a model: a loadable for each group, and the steps that run them."""

from collections.abc import Sequence

from ....dialects.core.location import node_names
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module
from ....dialects.core.op import Op
from ....dialects.tri import Group
from ....runtime.dla.part import DESCRIPTION, DlaPart, LoadableProgram
from ....runtime.dla.step import DlaStep
from ...compiled import Buffers, CompiledPart
from ...program.calls import Call, NumberedCall
from ...program.program import Program
from ..schedule.group_members import groups_of
from .choice import NAME, toml_text
from .configuration import Configuration
from .device import open_device
from .emit.emit_loadables import constants_of, entry_of


class LoadableCode(CompiledPart):
    """The loadables of a model by its groups; constants of a group are in its loadable."""

    def __init__(self, module: Module, configuration: Configuration) -> None:
        self.description = toml_text(configuration).encode()
        self.configuration = configuration
        self.numbers: dict[Op, int] = {}
        self.inputs: dict[Op, tuple[ir.Value, ...]] = {}
        for number, group in enumerate(groups_of(module, NAME)):
            constants = constants_of(module, group)
            pairs = zip(group.block.arguments, group.operation.operands, strict=True)
            self.numbers[group] = number
            self.inputs[group] = tuple(
                value for argument, value in pairs if argument not in constants
            )
        self.files = {entry_of(n): module.artifacts[entry_of(n)] for n in self.numbers.values()}

    def call(self, op: Op) -> Call:
        return Call(op, self.inputs[op], tuple(op.results))

    def steps(self, calls: Sequence[NumberedCall], buffers: Buffers) -> list[DlaStep]:
        return [self._step(call, buffers) for _, call in calls]

    def entries(self) -> dict[str, bytes]:
        return {DESCRIPTION: self.description, **self.files} if self.files else {}

    def part(self, program: Program) -> DlaPart | None:
        found = tuple(self._measured(name, data) for name, data in self.files.items())
        return DlaPart(loadables=found) if found else None

    def _measured(self, entry: str, data: bytes) -> LoadableProgram:
        device = open_device(self.description, data, entry)
        memories = device.loadable.memory_list
        return LoadableProgram(
            entry,
            configuration=self.configuration.name,
            operations=device.operations.total(),
            memory_bytes=sum(each.size for each in memories),
            constant_bytes=sum(each.size for each in memories if each.contents),
            winograd=device.winograd,
        )

    def _step(self, call: Call, buffers: Buffers) -> DlaStep:
        assert isinstance(call.op, Group)
        return DlaStep(
            operands=tuple(buffers.number(value) for value in call.operands),
            results=tuple(buffers.number(value) for value in call.results),
            nodes=node_names(call.op.location),
            entry=entry_of(self.numbers[call.op]),
            accelerator=NAME,
        )
