"""Memory of a GPU for values that a memory strategy allocates one by one."""

from .device import Device
from .handles import DeviceMemory


class DeviceHeap:
    """Allocate memory of a GPU by the driver, whose addresses are multiples of 256."""

    maps_lazily = False

    def __init__(self, device: Device) -> None:
        self._device = device
        self._blocks: dict[int, DeviceMemory] = {}

    def allocate(self, size: int, alignment: int) -> int:
        """Return the address of memory; raise RunError where the GPU has too little."""
        block = DeviceMemory(self._device, size, "a session for its values")
        self._blocks[block.address] = block
        return block.address

    def free(self, address: int) -> None:
        """Free what `allocate` has returned; the driver waits for what uses it."""
        self._blocks.pop(address).close()

    def reserve(self, size: int) -> int:
        """Return the address of memory for a range, all of which is there at once."""
        return self.allocate(size, 1)

    def discard(self, address: int, size: int) -> None:
        """Do nothing: a part of a block cannot be freed."""
