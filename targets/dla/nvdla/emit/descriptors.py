"""The descriptors of each op, with its cubes."""

from dataclasses import dataclass, field, replace
from math import prod

import numpy as np

from .....dialects.core.attributes import tensor_of
from .....dialects.core.errors import CompileError, Diagnostic
from .....dialects.core.location import describe
from .....dialects.core.mlir import ir
from .....dialects.core.op import Op
from .....dialects.core.tensor import Array, Shape
from ..dialect.convolution import Conv
from ..dialect.dialect import bits_of_half, in_precision, precision_of
from ..dialect.moves import Contract
from ..dialect.pools import Cdp, Pdp
from ..dialect.single import STAGES, Sdp
from ..format.network import NO_CUBE, Cube, Precision, Storage
from ..format.operations import (
    CDP,
    CONV,
    PDP,
    RUBIK,
    SDP,
    ConvSurface,
    Descriptor,
    Lut,
    SdpSurface,
    Surface,
    TwoCubes,
)
from ..image_weights import extended, pack_image_weights
from ..pixels import PixelFormat
from ..reference.sdp import PER_CHANNEL
from ..schedule.cbuf import conv_sizes, fit
from ..schedule.pixel_convs import line_stride, pixel_operation
from ..schedule.places import Step, is_image
from ..surfaces import SurfaceLayout, dense, pack, pack_weights
from ..winograd_weights import pack_winograd_weights
from .dependencies import Entry
from .images import Images
from .memory_map import Spot, TaskMap


@dataclass(frozen=True)
class Emitted:
    """An operation of a loadable."""

    entry: Entry
    descriptor: Descriptor
    surface: Surface


@dataclass
class Emitter:
    """Make the descriptors of a task; its tables are gathered in `luts`."""

    images: Images
    map: TaskMap
    luts: list[Lut] = field(default_factory=list[Lut])

    def __post_init__(self) -> None:
        self.configuration = self.images.configuration
        self.arrays, self.places = self.images.arrays, self.images.places

    def step(self, step: Step) -> list[Emitted]:
        """Return the operations of a step."""
        match step.op:
            case Sdp() if step.conv is not None:
                return self._convolution(step.conv, step.op, step.pool)
            case Sdp():
                return [self._single(step.op, self._image(step.op.source), None)]
            case Pdp():
                return [self._two(PDP, step.op.x, step.op, step.op.descriptor)]
            case Cdp():
                index = self._table(step.op.tables(self.arrays[step.op.lut]))
                descriptor = replace(step.op.descriptor, lut=index)
                return [self._two(CDP, step.op.x, step.op, descriptor)]
            case Contract():
                return [self._two(RUBIK, step.op.x, step.op, step.op.descriptor)]
            case _:
                message = f"'{step.op.op_name}' op has no descriptor"
                raise CompileError([Diagnostic(describe(step.op.location), message)])

    def _two(self, engine: int, x: ir.Value, op: Op, descriptor: Descriptor) -> Emitted:
        source, read = self._image(x)
        descriptor = in_precision(descriptor, _precision(x))
        destination, written = self._image(op.results[0])
        entry = Entry(engine, (read,), (written,))
        return Emitted(entry, descriptor, TwoCubes(source, destination))

    def _pooled(self, pool: Pdp, fed: Cube) -> Emitted:
        """Return a pool of what SDP feeds it."""
        descriptor = in_precision(pool.descriptor, _precision(pool.x))
        destination, written = self._image(pool.y, fed.channels)
        entry = Entry(PDP, (), (written,), is_fed=True)
        return Emitted(entry, descriptor, TwoCubes(fed, destination))

    def _convolution(self, conv: Conv, ending: Sdp, pool: Pdp | None) -> list[Emitted]:
        sizes = conv_sizes(conv, self.configuration)
        found = fit(sizes, self.configuration)
        assert found is not None, "selection refuses what does not fit"
        kernels, depth, rows, columns = sizes.padded
        precision = sizes.precision
        images = tensor_of(conv.y.type).shape
        if conv.form is None:
            source, read = self._image(conv.x, depth)
            pack_all = pack_winograd_weights if conv.winograd else pack_weights
            stored = _padded(self.arrays[conv.w], sizes.padded)
            weights = pack_all(stored, self.configuration, precision)
            shape = (1, depth, *tensor_of(conv.x.type).shape[2:])
            descriptor = conv.operation_for(shape, sizes.padded, images, precision)
            # Columns of zeros at the end of a kernel reach into the padding.
            more = (columns - sizes.w[3]) * conv.dilations[1]
            descriptor = replace(
                descriptor,
                pad_right=descriptor.pad_right + more,
                entries_per_slice=sizes.entries,
            )
        else:
            source, read = self._pixels(conv.x, conv.form)
            descriptor = pixel_operation(conv, conv.form, self.configuration)
            lines = 1 << descriptor.post_extension
            padded = extended(_padded(self.arrays[conv.w], sizes.padded))
            weights = pack_image_weights(padded, self.configuration, Precision.INT8, lines)
        descriptor = replace(
            descriptor, data_banks=found.data_banks, weight_banks=found.weight_banks
        )
        spot = self.images.constants.add(weights)
        fed = self._fed(kernels, images[2:], precision)
        cube = self.map.at(spot, Cube(size=len(weights), width=columns, height=rows))
        surface = ConvSurface(weights=replace(cube, channels=depth), source=source, destination=fed)
        first = Emitted(Entry(CONV, (read,), ()), descriptor, surface)
        if pool is None:
            return [first, self._single(ending, (fed, None), kernels, mode=descriptor.mode)]
        second = self._single(ending, (fed, None), kernels, is_feeding=True)
        return [first, second, self._pooled(pool, fed)]

    def _fed(self, channels: int, sizes: Shape, precision: Precision) -> Cube:
        """Return the cube of an image that one engine hands to another."""
        height, width = sizes
        layout = dense(channels, height, width, self.configuration.atom, precision.bytes)
        cube = Cube(Storage.ON_THE_FLY, -1, 0, layout.bytes, width, height, channels)
        strides = {"line_stride": layout.line_stride, "surface_stride": layout.surface_stride}
        return replace(cube, **strides)

    def _single(
        self,
        op: Sdp,
        source: tuple[Cube, Spot | None],
        kernels: int | None,
        is_feeding: bool = False,
        mode: int = 0,
    ) -> Emitted:
        """Return an SDP; `kernels` and `mode` are those of the convolution that feeds it."""
        if is_feeding:
            destination, writes = source[0], ()
        else:
            destination, written = self._image(op.result, kernels)
            writes = (written,)
        reads = [] if source[1] is None else [source[1]]
        descriptor = in_precision(op.descriptor, _precision(op.source))
        descriptor = replace(descriptor, conv_mode=mode)
        cubes: list[Cube] = []
        for name, value in zip(STAGES, op.operand_groups()[1:4], strict=True):
            if value is None:
                cubes.append(NO_CUBE)
            elif getattr(descriptor, name).mode == PER_CHANNEL and not is_image(value):
                cubes.append(self._channels(self.arrays[value], destination.channels))
            else:
                cube, spot = self._operand(value, destination.channels)
                cubes.append(cube)
                reads.append(spot)
        if op.lut is not None:
            descriptor = replace(descriptor, lut=self._table(op.tables(self.arrays[op.lut])))
        entry = Entry(SDP, tuple(reads), writes, is_fed=kernels is not None)
        surface = SdpSurface(source[0], cubes[0], cubes[1], cubes[2], destination)
        return Emitted(entry, descriptor, surface)

    def _operand(self, value: ir.Value, channels: int) -> tuple[Cube, Spot]:
        """Return the cube of an operand for each element, which may be a constant.

        It has the channels of the result, which may be more, of its atoms.
        """
        place = self.places[value]
        if place.root not in self.arrays:
            return self._image(value, channels)
        bounds = zip(place.offset, tensor_of(value.type).shape[1:], strict=True)
        given = self.arrays[place.root][0][*(slice(at, at + size) for at, size in bounds)]
        _, height, width = given.shape
        image = np.zeros((channels, height, width), given.dtype)
        image[: len(given)] = given
        layout = dense(channels, height, width, self.configuration.atom, given.itemsize)
        spot = self.images.constants.add(_packed(image, layout))
        return self.map.image(spot, channels, layout), spot

    def _image(self, value: ir.Value, channels: int | None = None) -> tuple[Cube, Spot]:
        """Return the cube of an image, and its bytes; it may have more channels of its atoms."""
        layout, spot = self.images.layout(value, channels)
        return self.map.image(spot, layout.channels, layout), spot

    def _pixels(self, value: ir.Value, form: PixelFormat) -> tuple[Cube, Spot]:
        """Return the cube of an image of pixels, or of some of its rows, and its bytes."""
        place = self.places[value]
        spot, (_, _, height, width) = self.images.spots[place.root], tensor_of(value.type).shape
        line = line_stride(width, form, self.configuration)
        found = Spot(spot.memory, spot.offset + place.offset[1] * line, height * line)
        cube = Cube(0, -1, 0, found.size, width, height, form.channels, line_stride=line)
        return self.map.at(found, cube), found

    def _channels(self, numbers: Array, channels: int) -> Cube:
        """Return the cube of operands of channels, which fill atoms."""
        atom = self.configuration.atom
        stored = np.zeros((-(-channels // atom) * atom, *numbers.shape[1:]), np.int16)
        stored[: len(numbers)] = bits_of_half(numbers)
        spot = self.images.constants.add(stored.astype("<i2").tobytes())
        line = 2 * atom * prod(numbers.shape[1:])
        cube = Cube(size=spot.size, width=1, height=1, channels=channels, line_stride=line)
        return self.map.at(spot, replace(cube, surface_stride=line))

    def _table(self, lut: Lut) -> int:
        if lut not in self.luts:
            self.luts.append(lut)
        return self.luts.index(lut)


def _padded(weights: Array, shape: Shape) -> Array:
    padded = np.zeros(shape, weights.dtype)
    padded[tuple(map(slice, weights.shape))] = weights
    return padded


def _precision(value: ir.Value) -> Precision:
    return precision_of(tensor_of(value.type).dtype)


def _packed(image: Array, layout: SurfaceLayout) -> bytes:
    memory = np.zeros(layout.bytes, np.uint8)
    pack(image, layout, memory)
    return memory.tobytes()
