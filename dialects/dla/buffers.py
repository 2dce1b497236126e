"""The base class of ops in buffer form, and in scheduled form."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

from ..core.errors import Invalid
from ..core.fields import Operand, Result
from ..core.mlir import ir
from ..core.op import Op
from ..core.tensor import Array
from .access import Access
from .dialect import DLA
from .types import TOKEN, BufferType, buffer_of

Self = TypeVar("Self", bound="BufferOp")

Touched = tuple[ir.Value, BufferType, Access]
"""A buffer that an op accesses, its type, and the window."""


class BufferOp(Op, dialect=DLA, abstract=True):
    """Base of ops that move or compute parts of buffers: each becomes one packet.

    The fields of the packet follow from the op: an address for each operand with an attribute
    `<operand>_at`, the start of its window, and a value for each other attribute. A subclass lists
    its accesses in `accesses`, and computes in `execute`, which is what the packet computes, too.

    In scheduled form an op names the `engine` that runs it, waits for the tokens of others, and has
    a token as its result.
    """

    packet: ClassVar[str]

    engine: str = ""
    waits: Sequence[Operand]
    done: Sequence[Result]

    pure = False

    in_place: ClassVar[bool] = False
    """Whether the op may overwrite the window that it reads."""

    spaces: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """The spaces that each operand may be in."""

    @classmethod
    def put(
        cls: type[Self], *buffers: ir.Value, loc: ir.Location | None = None, **given: Any
    ) -> Self:
        """Create the op at the current insertion point, unscheduled; defaults are omitted."""
        made = cls.create([[], *buffers], [], given, loc=loc)
        for field in cls.fields.attributes:
            if not field.required and made.attribute(field) == field.default:
                del made.operation.attributes[field.name]
        return made

    def accesses(self, atom: int) -> tuple[Access, ...]:
        """Return the windows of operands that the op reads and writes, for atoms of channels."""
        raise NotImplementedError

    def execute(self, windows: Mapping[str, Array]) -> None:
        """Compute the op on windows, by the names of operands."""
        raise NotImplementedError

    def check(self) -> None:
        """Raise Invalid for attributes out of range."""

    @property
    def buffers(self) -> dict[str, ir.Value]:
        """Return the buffer operands by name."""
        names = [group.name for group in self.fields.operands[1:]]
        return dict(zip(names, self.operand_groups()[1:], strict=True))

    @property
    def scheduled(self) -> bool:
        """Report whether the op has an engine."""
        return bool(self.engine)

    @property
    def atom(self) -> int:
        """Return the number of channels written at once, an attribute of the program."""
        parent = self.operation.parent
        if parent is None or parent.name != "dla.program" or "atom" not in parent.attributes:
            raise Invalid("is in no program, must be in one, which has the size of an atom")
        atom = parent.attributes["atom"]
        if not isinstance(atom, ir.IntegerAttr) or atom.value < 1:
            raise Invalid(f"is in a program whose atom is {atom}")
        return atom.value

    def verify(self) -> None:
        self.check_attributes()
        _ = self.attributes, self.atom
        self._check_tokens()
        for name, value in self.buffers.items():
            space = buffer_of(value.type).space
            if space not in self.spaces[name]:
                raise Invalid(f"'{name}' is in {space}, must be in {', '.join(self.spaces[name])}")
        self.check()
        found = touched(self)
        for _, buffer, access in found:
            access.check(buffer)
        self._check_place(found)

    def _check_tokens(self) -> None:
        waits, *_ = self.operand_groups()
        for token in [*waits, *self.results]:
            if str(token.type) != TOKEN:
                raise Invalid(f"waits for or returns {token.type}, must be {TOKEN}")
        if not self.engine and (waits or len(self.results)):
            raise Invalid("has tokens and no engine")
        if self.engine and len(self.results) != 1:
            raise Invalid(f"returns {len(self.results)} tokens, must return 1")

    def _check_place(self, found: Sequence[Touched]) -> None:
        """Raise Invalid for a result that overwrites its operand."""
        for (source, _, read), (target, _, write) in made_of(found):
            same = self.in_place and read.start == write.start
            if source == target and not same and read.meets(write):
                raise Invalid(
                    f"writes '{write.operand}' over '{read.operand}', of which it is made"
                )


def made_of(found: Sequence[Touched]) -> Iterator[tuple[Touched, Touched]]:
    """Yield the pairs of a read access and a write access of an op."""
    for write in (entry for entry in found if entry[2].writes):
        for read in (entry for entry in found if entry[2].reads and entry is not write):
            yield read, write


def touched(op: BufferOp) -> list[Touched]:
    """List the accesses of an op with their buffers."""
    buffers = op.buffers
    return [
        (buffers[a.operand], buffer_of(buffers[a.operand].type), a) for a in op.accesses(op.atom)
    ]
