"""Take the schedules of ops from a tuning file."""

from collections.abc import Iterator

from ....dialects.core.attributes import tensor_of
from ....dialects.core.machine import NATIVE, Machine, find_machine
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module, ops
from ....dialects.core.op import Op, view
from ....passes.core import Pass
from ...choices import WINOGRAD_ERROR
from ...tuning_file import Entry
from .candidates import is_possible
from .products import Product, product_of
from .schedule import Schedule, fix_schedule
from .tuning_file import tuning_format


class ApplyTuning(Pass):
    """Fix the schedules of ops that a tuning file has measured, where they are possible.

    `error` is the error allowed to Winograd's method: schedules with a greater one are skipped.
    `machine` is the machine of the kernels: a file of another machine, or of another version of
    Trivium, changes nothing.

        tri.conv %x, %w   =>   tri.conv %x, %w {trivium.schedule = "packed 6x4"}
    """

    file: str = ""
    error: float = WINOGRAD_ERROR
    machine: str = NATIVE

    def run(self, module: Module) -> None:
        if not self.file:
            return
        machine = find_machine(self.machine)
        entries = tuning_format(machine).read(self.file).entries
        with module.operation.context:
            for op, product in tunable(module):
                entry = entries.get(key_of(op))
                best = entry and winner(entry, product, machine, self.error)
                if best:
                    fix_schedule(op, best)


def tunable(module: Module) -> Iterator[tuple[Op, Product]]:
    """Yield the ops of a module whose weights are constants that can be packed."""
    for op in ops(module.operation):
        product = product_of(op)
        if product is not None and _is_constant(op.operation.operands[1]):
            yield op, product


def winner(
    entry: Entry[Schedule], product: Product, machine: Machine, error: float
) -> Schedule | None:
    """Return the schedule of an entry if it is possible, else the fastest that is."""
    ranked = sorted(entry.candidates, key=lambda schedule: entry.candidates[schedule])
    possible = (s for s in (entry.schedule, *ranked) if is_possible(s, product, machine, error))
    return next(possible, None)


def key_of(op: Op) -> str:
    """Spell an op with the types of its operands and its attributes: equal keys, equal times.

    Types with symbols are spelled with their likely sizes.
    """
    names = [field.name for field in op.fields.operands]
    operands = [
        f"{name}={_spell_type(value)}"
        for name, value in zip(names, op.operand_groups(), strict=True)
        if value is not None
    ]
    attributes = [f"{name}={_spell(value)}" for name, value in sorted(op.attributes.items())]
    return " ".join([op.op_name, *operands, *attributes])


def _spell_type(value: ir.Value) -> str:
    tensor = tensor_of(value.type)
    text = str(value.type if tensor.is_static else tensor.likely)
    return text.removeprefix("tensor<").removesuffix(">")


def _spell(value: object) -> str:
    if isinstance(value, tuple):
        return ",".join(map(str, value))  # type: ignore[arg-type]
    return str(value).lower() if isinstance(value, bool) else str(value)


def _is_constant(value: ir.Value) -> bool:
    """Return whether a value depends on no input."""
    owner = view(value.owner) if isinstance(value, ir.OpResult) else None
    return owner is not None and not len(owner.operation.operands)
