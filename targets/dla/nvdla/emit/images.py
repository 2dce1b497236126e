"""Where the images and constants of a group are in the memories of a loadable."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from .....dialects.core.attributes import tensor_of
from .....dialects.core.mlir import ir
from .....dialects.core.tensor import Array
from ..configuration import Configuration
from ..schedule.place_values import layout_of
from ..schedule.places import Place
from ..surfaces import SurfaceLayout
from .memory_map import MemoryMap, Spot

_UNIT = 32
"""Constants begin at multiples of this many bytes."""


@dataclass
class Constants:
    """The constants of all tasks, which are gathered in a memory; each is stored once."""

    memory: int
    unit: int
    data: bytearray = field(default_factory=bytearray)
    known: dict[bytes, Spot] = field(default_factory=dict[bytes, Spot])

    def add(self, data: bytes) -> Spot:
        """Return where a constant is."""
        if data not in self.known:
            self.data += bytes(-len(self.data) % max(_UNIT, self.unit))
            self.known[data] = Spot(self.memory, len(self.data), len(data))
            self.data += data
        return self.known[data]


@dataclass
class Images:
    """Where the values of a group are; `spots` has the images that are stored as a whole."""

    configuration: Configuration
    map: MemoryMap
    places: Mapping[ir.Value, Place]
    spots: dict[ir.Value, Spot]
    arrays: Mapping[ir.Value, Array]
    constants: Constants

    def layout(self, value: ir.Value, channels: int | None = None) -> tuple[SurfaceLayout, Spot]:
        """Return how an image is stored, and its bytes; it may have more channels of its atoms."""
        place = self.places[value]
        root, spot = layout_of(place.root, self.configuration.atom), self.spots[place.root]
        _, own, height, width = tensor_of(value.type).shape
        channel, row, column = place.offset
        offset = channel // root.elements * root.surface_stride
        offset += row * root.line_stride + column * root.atom
        layout = replace(root, channels=channels or own, height=height, width=width)
        return layout, Spot(spot.memory, spot.offset + offset, layout.bytes)
