"""Kernel modules: the code of one kernel as IR, and all that its callers need to know about it.

A kernel module is a `builtin.module` inside the module of the model: a function, `@kernel` until it
is named by its content, and constant tables. Its attributes describe the kernel at every level,
from kernel IR to the llvm dialect:

    module @k_0123456789abcdef attributes {
        cpu.scratch = [tensor<4x8xf32>, tensor<16xf32>],   the pieces of scratch memory
        cpu.private = array<i64: 1>,                       which pieces each thread has for itself
        cpu.words = 2 : i64,                               the words of its record, if it has one
        cpu.phases = array<i64: 32, 1200, 1, 1, 40, 1>}    iterations, work, steps of each phase
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ....dialects.core.attributes import from_attribute, tensor_of, to_attribute, type_of
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module
from ....dialects.core.sizes.atoms import Size
from ...program.calls import Scratch
from .record import declare_words

PHASE, BEGIN, END, MEMORY = range(4)
"""The arguments of a kernel: a phase, the range of its iterations to run, then pointers."""

FUNCTION = "kernel"
"""The symbol of the function of a kernel that is not named yet."""

KERNEL = "cpu.kernel"
"""The attribute of a group that names its kernel."""

RECORD = "cpu.record"
"""The attribute of a group that says what the words of the record of its kernel are."""

_NAME, _SCRATCH, _PRIVATE, _PHASES = "sym_name", "cpu.scratch", "cpu.private", "cpu.phases"
_WORDS = "cpu.words"


class Phase(NamedTuple):
    """Describe a phase to its caller, which may run ranges of its iterations in any order.

    `work` is the estimated number of instructions of all iterations. Where there are `steps`, both
    are those of one: the iterations of a step come after all those of the steps before it.
    """

    iterations: Size = 1
    work: Size = 0
    steps: Size = 1


@dataclass(frozen=True)
class Kernel:
    """One unit of code, named by its content.

    Its arguments are the number of a phase and the range of its iterations to do, then pointers:
    the inputs, the outputs, then one for each piece of scratch memory, which the caller provides
    and nobody reads afterwards, then one to its record, if it has `words`. Sizes of scratch memory
    and of phases are expressions of these words.
    """

    symbol: str
    scratch: tuple[Scratch, ...]
    phases: tuple[Phase, ...]
    words: int = 0


class KernelModule:
    """View a `builtin.module` as a kernel module."""

    def __init__(self, operation: ir.Operation) -> None:
        self.operation = operation

    @property
    def kernel(self) -> Kernel:
        """Return the description of a kernel that is named and split into phases."""
        return Kernel(self.symbol, self.scratch, self.phases, self.words)

    @property
    def block(self) -> ir.Block:
        return self.operation.regions[0].blocks[0]

    @property
    def function(self) -> ir.Operation:
        """Return the function of the kernel, of the func or of the llvm dialect."""
        found = (each.operation for each in self.block.operations)
        return next(op for op in found if _symbol(op) in (FUNCTION, self.symbol))

    @property
    def symbol(self) -> str:
        """Return the name of the kernel; empty until it is named."""
        return _symbol(self.operation)

    @symbol.setter
    def symbol(self, name: str) -> None:
        function = self.function
        for operation in (self.operation, function):
            operation.attributes[_NAME] = to_attribute(name, str)

    @property
    def scratch(self) -> tuple[Scratch, ...]:
        """Return the scratch memory, in the order of the arguments."""
        declare_words(self.operation.context, self.words)
        private = self._numbers(_PRIVATE)
        types = self.operation.attributes[_SCRATCH]
        return tuple(
            Scratch(tensor_of(type_.value), number in private) for number, type_ in enumerate(types)
        )

    @scratch.setter
    def scratch(self, pieces: Sequence[Scratch]) -> None:
        types = [ir.TypeAttr.get(type_of(piece.tensor)) for piece in pieces]
        private = [number for number, piece in enumerate(pieces) if piece.private]
        self.operation.attributes[_SCRATCH] = ir.ArrayAttr.get(types)
        self.operation.attributes[_PRIVATE] = to_attribute(private, tuple[int, ...])

    @property
    def words(self) -> int:
        """Return the number of words of the record, the last argument; 0 if there is none."""
        attributes = self.operation.attributes
        return attributes[_WORDS].value if _WORDS in attributes else 0

    @words.setter
    def words(self, count: int) -> None:
        if count:
            self.operation.attributes[_WORDS] = to_attribute(count, int)

    @property
    def private_arguments(self) -> frozenset[int]:
        """Return the numbers of the arguments that point to memory of a thread."""
        arguments = len(self.function.regions[0].blocks[0].arguments) - bool(self.words)
        first = arguments - len(self.scratch)
        return frozenset(first + number for number in self._numbers(_PRIVATE))

    @property
    def is_split(self) -> bool:
        """Report whether the kernel is split into phases."""
        return _PHASES in self.operation.attributes

    @property
    def phases(self) -> tuple[Phase, ...]:
        """Return the phases of a kernel that is split."""
        numbers = iter(self._numbers(_PHASES))
        return tuple(Phase(*three) for three in zip(numbers, numbers, numbers, strict=True))

    @phases.setter
    def phases(self, phases: Sequence[Phase]) -> None:
        numbers = [number for phase in phases for number in phase]
        self.operation.attributes[_PHASES] = to_attribute(numbers, tuple[int, ...])

    def alone(self, name: str = "") -> ir.Module:
        """Return a copy of the code as a module of its own, without the attributes.

        With `name`, that is the name of the function.
        """
        function = self.function
        with self.operation.context, ir.Location.unknown():
            module = ir.Module.create()
            for each in self.block.operations:
                copy = each.operation.clone(ir.InsertionPoint(module.body))
                if name and each.operation == function:
                    copy.attributes[_NAME] = to_attribute(name, str)
        return module

    def _numbers(self, name: str) -> tuple[int, ...]:
        return from_attribute(self.operation.attributes[name], tuple[int, ...])

    @staticmethod
    def create(location: ir.Location) -> "KernelModule":
        """Create an empty kernel module at the current insertion point."""
        _load_dialects(location.context)
        operation = ir.Operation.create("builtin.module", regions=1, loc=location)
        ir.Block.create_at_start(operation.regions[0], [])
        made = KernelModule(operation)
        made.scratch = ()
        return made


def set_record(operation: ir.Operation, record: Sequence[Size]) -> None:
    """Note on a group what the words of the record of its kernel are; nothing without words."""
    if record:
        operation.attributes[RECORD] = to_attribute(tuple(record), tuple[int, ...])


def record_of(operation: ir.Operation) -> tuple[Size, ...]:
    """Return what the words of the record of a group's kernel are."""
    if RECORD not in operation.attributes:
        return ()
    record: tuple[Size, ...] = from_attribute(operation.attributes[RECORD], tuple[int, ...])
    return record


def kernel_modules(module: Module) -> Iterator[KernelModule]:
    """Yield the kernel modules in the module of a model, in order, or a kernel module itself."""
    _load_dialects(module.operation.context)
    for each in [module, *module.operation.regions[0].blocks[0].operations]:
        operation = each.operation
        if operation.name == "builtin.module" and _SCRATCH in operation.attributes:
            yield KernelModule(operation)


def _load_dialects(context: ir.Context) -> None:
    """Load MLIR's dialects, of which passes on kernels create operations, unless they are."""
    context.load_all_available_dialects()


def _symbol(operation: ir.Operation) -> str:
    attributes = operation.attributes
    return str(attributes[_NAME].value) if _NAME in attributes else ""
