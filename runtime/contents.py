"""The contents of a package without its steps: ports, buffers, memory, and parts of targets."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, TypeVar

from .dtypes import TEXT, itemsize
from .frozen import Frozen
from .kinds import LEFT_OUT, Kind
from .sizes.size_expressions import Size

if TYPE_CHECKING:
    from .report import EntryKind, PartReport

# The bases: memory of the process, constants, what is computed from them when the package is
# loaded; then the inputs and the outputs; then, for each other memory space, arena and weights.
ARENA, WEIGHTS, PREPARED, FIRST_PORT = range(4)

PROCESS = "host"
"""The memory space of the process, in which inputs and outputs are."""

ABSENT = -1
"""The number of an operand that is left out."""

WEIGHTS_ENTRY, STATE_ENTRY, SIGNATURE_ENTRY = "weights.bin", "state.bin", "signature"

COMPLEX = {"float32": "complex64", "float64": "complex128"}
"""The types of ports whose buffers have real and imaginary parts along a last axis, by theirs."""


class Symbol(Frozen):
    """Name a size that changes from run to run; it is a multiple of `step`.

    `high` is None for no limit; code was chosen for the size `likely`. Expressions may also name
    the quotient of the size and its step: that of `T` and 16 is `T_16`. Inputs give the symbols of
    stage 0; those of other stages are found when the package runs, by the step that begins a stage.
    """

    name: str
    low: int
    high: int | None
    likely: int
    step: int = 1
    stage: int = field(default=0, metadata=LEFT_OUT)

    @property
    def unit(self) -> str:
        """Return the name of the quotient."""
        return self.name if self.step == 1 else f"{self.name}_{self.step}"


class NamedSize(Frozen):
    """Name an expression, for the expressions that are read after it."""

    name: str
    expression: Size


class SizeCheck(Frozen):
    """Require an expression of symbols to be in a `relation` to 0, `>=` or `==`.

    `message` is what is wrong with `node` otherwise.
    """

    expression: Size
    relation: str
    node: str
    message: str


class Region(Frozen):
    """Place `size` bytes of an arena above earlier regions of it: after the last of their ends.

    The regions of a package are numbered; expressions of offsets may name that of region 3 `at_3`.
    """

    base: int
    size: Size
    above: tuple[int, ...]


class Port(Frozen):
    """Name one input or output; `buffer` is the buffer that holds it.

    The buffer of complex numbers has them as pairs of real ones, along an axis more.
    """

    name: str
    shape: tuple[Size, ...]
    dtype: str
    buffer: int


class Buffer(Frozen):
    """Place one tensor at `offset` bytes into a base.

    `name` is the source value that it holds. `layout` describes the order of its elements where
    that is not the model's.
    """

    name: str
    base: int
    offset: Size
    shape: tuple[Size, ...]
    dtype: str
    layout: str = ""

    @property
    def size_bytes(self) -> int:
        """Return how many bytes the tensor takes."""
        return math.prod(self.shape) * (itemsize(self.dtype) or 1)


class Memory(Frozen):
    """Give the bytes of a run in the memory of the process, and a lower bound for any arena.

    `thread_bytes` is for each thread but the first. `prepared_bytes` is for the results of the load
    steps and the memory that they need meanwhile; all sessions of a package share it. The arena of
    a package with regions is described at the likely sizes of its symbols.
    """

    arena_bytes: int
    arena_lower_bound: int
    weight_bytes: int
    thread_bytes: Size = 0
    prepared_bytes: int = 0


class MemorySpace(Frozen):
    """Give the bytes of a run in the memory space `name`; fields are those of `Memory`."""

    name: str
    arena_bytes: int
    arena_lower_bound: int
    weight_bytes: int

    @property
    def weights_entry(self) -> str:
        """Return the name of the entry that holds its constants."""
        return f"{self.name}/{WEIGHTS_ENTRY}"


class Math(Frozen):
    """Record what code may do to numbers: `mode` is fast or strict.

    `winograd_error` is what a layer may lose by Winograd's method, relative to its largest output.
    `precision` is what f32 is computed in: f32, tf32, fp16 or bf16.
    """

    mode: str = "fast"
    winograd_error: float = 0.0
    precision: str = "f32"


class RunSettings(Frozen):
    """Record on how many threads sessions run unless they are told, and on which cores.

    No threads stand for as many as there are cores, no cores for all that a process may use.
    """

    threads: int = field(default=0, metadata=LEFT_OUT)
    cores: tuple[int, ...] = field(default=(), metadata=LEFT_OUT)


class Entry(Frozen):
    """Vouch for one file of the package.

    A large one has a checksum for each of its `ranges`, so that a run need not read the whole; its
    own `checksum` is then that of the text of these. The bytes of one with a `file` are there, from
    `offset` on, and not in the package: the name is that of a file in the folder of the package.
    """

    name: str
    size: int
    checksum: str
    ranges: tuple[str, ...] = field(default=(), metadata=LEFT_OUT)
    file: str = field(default="", metadata=LEFT_OUT)
    offset: int = field(default=0, metadata=LEFT_OUT)


class Part(Kind):
    """Base of what a target adds to a manifest; subclasses are frozen dataclasses with a `kind`."""

    group: ClassVar[str] = "trivium.parts"
    module: ClassVar[str] = "part"

    def check(self, contents: "Contents") -> None:
        """Raise PackageError where fields do not fit together, or not to the rest."""

    @property
    def variants(self) -> tuple[str, ...]:
        """Return the architectures that a user named behind the target, as in `gpu:sm_80+sm_90`."""
        return ()

    @property
    def lacks_ir(self) -> bool:
        """Report whether the IR of the package does not have what the code was compiled from."""
        return False

    def summary(self) -> str:
        """Return what the part describes, in a few words for reports."""
        return ""

    def entry_kinds(self, contents: "Contents") -> "Iterable[EntryKind]":
        """Yield the entries that belong to the part, by their content."""
        return ()

    def ops(self) -> Iterable[str]:
        """Yield the names of the ops that the code of the part was compiled from."""
        return ()

    def report(self, contents: "Contents", steps: Sequence[Kind]) -> "PartReport":
        """Return the report of the part; `steps` are those of a run."""
        from .report import PartReport

        return PartReport()


P = TypeVar("P", bound=Part)


class CarriedPort(Frozen):
    """Name an output that is the new value of an input, for the next run.

    A session binds it when it begins, if it `is_bound`. The first run then takes zeros, or what is
    in the entry `state.bin` from the byte `initial` on. One that is `in_place` is written over the
    input, in its memory: the output has none.
    """

    output: str
    input: str
    initial: int | None = field(default=None, metadata=LEFT_OUT)
    is_bound: bool = field(default=True, metadata=LEFT_OUT)
    in_place: bool = field(default=False, metadata=LEFT_OUT)


class Contents(Frozen, kw_only=True):
    """Describe the contents of a package, without the steps that use them.

    `target` is the one that the model was compiled for, the first of `targets`, which take what it
    refuses. `spaces` are the memory spaces beside that of the process, `parts` what targets add.

    Where there are `symbols`, sizes may be expressions of them. The `checks` are made when the
    sizes of a run are known, and the offsets of the `regions` of arenas are computed. What long
    expressions have in common has names: `named_sizes`, each of which may use earlier ones.

    Sessions run as the `settings` say unless they are told. What is `carried` from run to run are
    new values of inputs. Outputs that are `kept` are not returned by a run, but held by the
    session. Each value that a loop carries with sizes that change has an arena of its own in the
    memory of the process: `carried_arenas` lists the stages of these. Of the constants that are
    text, weights have handles; `strings` lists the text itself.
    """

    producer: str
    source: str
    target: str
    targets: tuple[str, ...] = ()
    math: Math = Math()
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    buffers: tuple[Buffer, ...]
    memory: Memory
    spaces: tuple[MemorySpace, ...] = ()
    parts: tuple[Part, ...] = ()
    entries: tuple[Entry, ...] = ()
    symbols: tuple[Symbol, ...] = field(default=(), metadata=LEFT_OUT)
    named_sizes: tuple[NamedSize, ...] = field(default=(), metadata=LEFT_OUT)
    checks: tuple[SizeCheck, ...] = field(default=(), metadata=LEFT_OUT)
    regions: tuple[Region, ...] = field(default=(), metadata=LEFT_OUT)
    carried: tuple[CarriedPort, ...] = field(default=(), metadata=LEFT_OUT)
    carried_arenas: tuple[int, ...] = field(default=(), metadata=LEFT_OUT)
    kept: tuple[str, ...] = field(default=(), metadata=LEFT_OUT)
    strings: tuple[str, ...] = field(default=(), metadata=LEFT_OUT)
    settings: RunSettings = field(default=RunSettings(), metadata=LEFT_OUT)

    @cached_property
    def symbolic_buffers(self) -> frozenset[int]:
        """Return the numbers of buffers of which a size or the offset depends on symbols."""
        buffers = enumerate(self.buffers)
        return frozenset(
            i for i, b in buffers if any(type(s) is not int for s in (*b.shape, b.offset))
        )

    @property
    def returned(self) -> tuple[Port, ...]:
        """Return the outputs that are not kept."""
        return tuple(port for port in self.outputs if port.name not in self.kept)

    @property
    def has_text(self) -> bool:
        """Return whether a buffer has strings."""
        return any(buffer.dtype == TEXT for buffer in self.buffers)

    def part(self, kind: type[P]) -> P:
        """Return the part of a class; one with its defaults where the package has none."""
        return next((part for part in self.parts if isinstance(part, kind)), kind())

    @property
    def stages(self) -> int:
        """Return how many times sizes are found while the package runs."""
        return max((symbol.stage for symbol in self.symbols), default=0)

    @property
    def first_stage(self) -> int:
        """Return the base of the arena for what depends on the sizes that are found first.

        It is that of the process; those in other memory spaces follow, then those of other stages.
        """
        return self.first_carried + len(self.carried_arenas)

    @property
    def first_carried(self) -> int:
        """Return the base of the first of the `carried_arenas`."""
        return self.first_space + 2 * len(self.spaces)

    @property
    def arenas_of_stages(self) -> int:
        """Return how many arenas there are for what depends on sizes that are found."""
        return len(self.carried_arenas) + self.stages * (1 + len(self.spaces))

    def stage_of(self, base: int) -> int:
        """Return the stage of the arena that a base is; 0 for any other base."""
        if self.is_carried(base):
            return self.carried_arenas[base - self.first_carried]
        return max((base - self.first_stage) // (1 + len(self.spaces)) + 1, 0)

    def arenas_in(self, stage: int) -> range:
        """Return the bases of the arenas that are new when a stage begins."""
        each = 1 + len(self.spaces)
        return range(self.first_stage + (stage - 1) * each, self.first_stage + stage * each)

    @property
    def base_count(self) -> int:
        """Return how many bases there are, in all memory spaces.

        Behind them are those of values that a session gives memory of their own.
        """
        return self.first_carried + self.arenas_of_stages

    @property
    def first_space(self) -> int:
        """Return the first base that is in none of the memory of the process."""
        return FIRST_PORT + len(self.inputs) + len(self.outputs)

    def bases_in(self, space: str) -> tuple[int, int]:
        """Return the bases of arena and weights in a memory space that the package has."""
        if space == PROCESS:
            return ARENA, WEIGHTS
        first = self.first_space + 2 * [each.name for each in self.spaces].index(space)
        return first, first + 1

    def space_of(self, base: int) -> str:
        """Return the memory space of a base."""
        number, found = base - self.first_space, base - self.first_stage
        if number < 0 or self.is_carried(base):
            return PROCESS
        if found < 0:
            return self.spaces[number // 2].name
        return (PROCESS, *(space.name for space in self.spaces))[found % (1 + len(self.spaces))]

    @cached_property
    def updated(self) -> Mapping[str, str]:
        """Return the inputs that a run updates in place, by the outputs with their new values."""
        return {pair.output: pair.input for pair in self.carried if pair.in_place}

    @cached_property
    def updated_bases(self) -> frozenset[int]:
        """Return the bases of the inputs that a run updates in place."""
        names = {*self.updated.values()}
        return frozenset(b for b, p in enumerate(self.inputs, FIRST_PORT) if p.name in names)

    def is_written(self, base: int) -> bool:
        """Return whether steps of a run may write to a base: an arena, an output, or a state."""
        is_output = FIRST_PORT + len(self.inputs) <= base < self.first_space
        is_port = is_output or base in self.updated_bases
        return is_port or self.is_arena(base) or base >= self.first_carried

    def is_carried(self, base: int) -> bool:
        """Return whether a base is one of the `carried_arenas`."""
        return 0 <= base - self.first_carried < len(self.carried_arenas)

    def is_arena(self, base: int) -> bool:
        """Return whether a base is the arena of a memory space."""
        if base == ARENA or 0 <= base - self.first_carried < self.arenas_of_stages:
            return True
        return self.first_space <= base < self.first_carried and (base - self.first_space) % 2 == 0
