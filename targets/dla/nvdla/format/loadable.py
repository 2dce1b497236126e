"""The loadable: what a compiler for NVDLA writes, and its runtime reads.

A loadable is a FlatBuffers file. Memories are allocated, and filled with blobs; addresses are
places in memories; tasks get addresses, and submits run tasks in order. `schema(Loadable)` of
`flatbuffer.py` prints the schema.
"""

from dataclasses import dataclass
from enum import IntEnum, IntFlag

from .flatbuffer import Reader, Struct, Table, write
from .scalars import I16, I32, U8, U16, U32, U64


class Interface(IntEnum):
    """What a task runs on, and a blob is for."""

    NONE = 0
    DLA1 = 1
    EMU1 = 2


class MemoryFlags(IntFlag):
    """What the runtime does with a memory."""

    ALLOCATE = 1
    SET = 2
    INPUT = 4
    OUTPUT = 8


@dataclass(frozen=True)
class Version(Struct):
    """A version of the format, or of a blob's contents."""

    major: U8 = 0
    minor: U8 = 0
    sub_minor: U8 = 0

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.sub_minor}"


@dataclass(frozen=True)
class Task(Table):
    """A task; its `address_list` are ids of addresses."""

    id: U16 = 0
    interface: U32 = 0
    instance: I16 = 0
    address_list: tuple[U16, ...] = ()
    pre_actions: tuple[U16, ...] = ()
    post_actions: tuple[U16, ...] = ()


@dataclass(frozen=True)
class Memory(Table):
    """A memory of `size` bytes; `contents` are names of blobs, for the `offsets`."""

    id: U16 = 0
    domain: U8 = 0
    flags: U16 = 0
    size: U64 = 0
    alignment: U32 = 0
    contents: tuple[str, ...] = ()
    offsets: tuple[U64, ...] = ()
    bind_id: U16 = 0
    tensor_desc_id: U16 = 0


@dataclass(frozen=True)
class Address(Table):
    """A place in a memory, in bytes."""

    id: U16 = 0
    mem_id: U16 = 0
    offset: U64 = 0
    size: U64 = 0


@dataclass(frozen=True)
class EventEntry(Table):
    """An event that tasks wait for (op 0) or signal (op 1)."""

    id: U16 = 0
    type: U8 = 0
    target: U16 = 0
    val: U32 = 0
    op: U8 = 0


@dataclass(frozen=True)
class Blob(Table):
    """Bytes with a name; `version` is the ABI of its descriptors."""

    name: str = ""
    size: U64 = 0
    interface: U32 = 0
    sub_interface: U32 = 0
    version: Version = Version()
    data: bytes = b""


@dataclass(frozen=True)
class Tensor(Table):
    """An input or output, whose strides are in bytes."""

    name: str = ""
    id: U16 = 0
    mem_id: U16 = 0
    size: U64 = 0
    offset: U64 = 0
    data_format: U8 = 0
    data_type: U8 = 0
    data_category: U8 = 0
    pixel_format: U8 = 0
    pixel_mapping: U8 = 0
    n: I32 = 0
    c: I32 = 0
    h: I32 = 0
    w: I32 = 0
    stride_0: U32 = 0
    stride_1: U32 = 0
    stride_2: U32 = 0
    stride_3: U32 = 0
    stride_4: U32 = 0
    stride_5: U32 = 0
    stride_6: U32 = 0
    stride_7: U32 = 0


@dataclass(frozen=True)
class Relocation(Table):
    """A stride in a blob that the runtime writes for the tensor that is bound."""

    address_id: U16 = 0
    write_id: U16 = 0
    offset: U64 = 0
    interface: U32 = 0
    sub_interface: U32 = 0
    reloc_type: U8 = 0


@dataclass(frozen=True)
class Submit(Table):
    """Tasks that run together."""

    id: U16 = 0
    task_id: tuple[U16, ...] = ()


FORMAT = Version(0, 7, 0)
_NONE = Version()


@dataclass(frozen=True)
class Loadable(Table):
    """The root of the file."""

    version: Version = _NONE
    task_list: tuple[Task, ...] = ()
    memory_list: tuple[Memory, ...] = ()
    address_list: tuple[Address, ...] = ()
    event_list: tuple[EventEntry, ...] = ()
    blobs: tuple[Blob, ...] = ()
    tensor_desc_list: tuple[Tensor, ...] = ()
    reloc_list: tuple[Relocation, ...] = ()
    submit_list: tuple[Submit, ...] = ()

    @staticmethod
    def read(data: bytes, file: str = "loadable") -> "Loadable":
        """Return the tables of a file.

        Raises CompileError with the offset for bytes that are not FlatBuffers, or are cut short,
        and for files of another version than 0.7.
        """
        reader = Reader(data, file)
        found = reader.root(Loadable)
        if (found.version.major, found.version.minor) != (FORMAT.major, FORMAT.minor):
            reader.refuse(0, f"has version {found.version} of the format, must be {FORMAT}")
        return found

    def write(self) -> bytes:
        """Return the file: the same tables give the same bytes. Raises as `flatbuffer.write`."""
        return write(self)
