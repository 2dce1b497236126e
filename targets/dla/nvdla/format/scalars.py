"""Types of fields: `width: U16` in a dataclass is an int that a file stores in two bytes.

The classes of `loadable.py` and `operations.py` are written with these, and the codecs in
`flatbuffer.py` and `packed.py` derive the rest.
"""

import struct
from functools import cache
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints


class Scalar(NamedTuple):
    """A stored number: its type in FlatBuffers, and in the module struct."""

    name: str
    code: str

    @property
    def size(self) -> int:
        """Return the bytes of a number."""
        return struct.calcsize(self.code)

    def holds(self, value: float) -> bool:
        """Report whether a value is in the range of the type."""
        if self.code == "f":
            return abs(value) < 2.0**128
        bits = 8 * self.size
        if self.code.isupper():
            return 0 <= value < 1 << bits
        return -(1 << bits - 1) <= value < 1 << bits - 1


U8 = Annotated[int, Scalar("ubyte", "B")]
I8 = Annotated[int, Scalar("byte", "b")]
U16 = Annotated[int, Scalar("ushort", "H")]
I16 = Annotated[int, Scalar("short", "h")]
U32 = Annotated[int, Scalar("uint", "I")]
I32 = Annotated[int, Scalar("int", "i")]
U64 = Annotated[int, Scalar("ulong", "Q")]
I64 = Annotated[int, Scalar("long", "q")]
F32 = Annotated[float, Scalar("float", "f")]


class Field(NamedTuple):
    """A field of a dataclass: the type of its value, or of its elements where it is a tuple.

    `kind` is a Scalar, str, bytes or a dataclass; `notes` are the other annotations.
    """

    name: str
    kind: Any
    is_tuple: bool
    notes: tuple[Any, ...]

    @property
    def scalar(self) -> Scalar | None:
        """Return the stored type of a number, None for other fields."""
        return self.kind if isinstance(self.kind, Scalar) else None


@cache
def fields_of(cls: type) -> tuple[Field, ...]:
    """Return the fields of a dataclass in order, which is the order in the file."""
    hints = get_type_hints(cls, include_extras=True)
    return tuple(_field(name, hint) for name, hint in hints.items())


def _field(name: str, hint: Any) -> Field:
    kind, notes = _unwrap(hint)
    if get_origin(kind) is not tuple:
        return Field(name, kind, False, notes)
    element, inner = _unwrap(get_args(kind)[0])
    return Field(name, element, True, notes + inner)


def _unwrap(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return a type without Annotated, a Scalar in place of int, and the other annotations."""
    if get_origin(hint) is not Annotated:
        return hint, ()
    kind, *notes = get_args(hint)
    scalars = [each for each in notes if isinstance(each, Scalar)]
    rest = tuple(each for each in notes if not isinstance(each, Scalar))
    return (scalars[0] if scalars else kind), rest
