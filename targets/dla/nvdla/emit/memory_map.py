"""The memories and addresses of a loadable that is being made."""

from dataclasses import dataclass, field, replace

from ..format.loadable import Address, Blob, Interface, Memory, MemoryFlags, Version
from ..format.network import Cube
from ..format.packed import Abi
from ..surfaces import SurfaceLayout

ALIGNMENT = 4096
EMULATOR = Version(0, 0, 1)
"""The version of the descriptors for the runtime's emulator."""

_WITH_OFFSETS = Abi(0, 12)


@dataclass(frozen=True)
class Spot:
    """Bytes of a memory."""

    memory: int
    offset: int
    size: int


@dataclass
class MemoryMap:
    """Memories by number; each has an address, and more of them where cubes have no offset."""

    abi: Abi
    memories: list[Memory] = field(default_factory=list[Memory])
    blobs: list[Blob] = field(default_factory=list[Blob])
    known: dict[tuple[int, int], int] = field(default_factory=dict[tuple[int, int], int])

    def add(self, size: int, flags: int = 0, bind: int = 0, tensor: int = 0) -> int:
        """Add a memory, and return its number."""
        number, flags = len(self.memories), flags | MemoryFlags.ALLOCATE
        self.memories.append(
            Memory(number, 0, flags, size, ALIGNMENT, bind_id=bind, tensor_desc_id=tensor)
        )
        return number

    def fill(self, number: int, name: str, data: bytes, interface: Interface) -> None:
        """Fill a memory with contents, whose size it gets."""
        versions = {Interface.DLA1: Version(*self.abi), Interface.EMU1: EMULATOR}
        version = versions.get(interface, Version())
        self.blobs.append(Blob(name, len(data), interface, 0, version, data))
        flags = self.memories[number].flags | MemoryFlags.SET
        self.memories[number] = replace(
            self.memories[number], flags=flags, size=len(data), contents=(name,), offsets=(0,)
        )

    def address(self, memory: int, offset: int) -> int:
        """Return the id of the address of a place."""
        return self.known.setdefault((memory, offset), len(self.known))

    @property
    def addresses(self) -> tuple[Address, ...]:
        """Return all addresses, each to the end of its memory, which must be filled by now."""
        return tuple(
            Address(number, memory, offset, self.memories[memory].size - offset)
            for (memory, offset), number in self.known.items()
        )


@dataclass
class TaskMap:
    """The addresses of a task: `ids` has the number that each has in the task, in order."""

    whole: MemoryMap
    ids: dict[int, int] = field(default_factory=dict[int, int])

    def index(self, memory: int, offset: int = 0) -> int:
        """Return the number of the address of a place."""
        return self.ids.setdefault(self.whole.address(memory, offset), len(self.ids))

    def image(self, spot: Spot, channels: int, layout: SurfaceLayout) -> Cube:
        """Return the cube of an image with a layout, which begins at a spot."""
        sizes = layout.width, layout.height, channels
        strides = layout.line_stride, layout.surface_stride
        return self.at(spot, Cube(0, -1, 0, spot.size, *sizes, 0, *strides))

    def at(self, spot: Spot, cube: Cube) -> Cube:
        """Return a cube whose address is a spot."""
        if self.whole.abi >= _WITH_OFFSETS:
            return replace(cube, address=self.index(spot.memory), offset=spot.offset)
        return replace(cube, address=self.index(spot.memory, spot.offset))
