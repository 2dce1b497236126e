"""The buffers of operations that the runtime's emulator computes."""

from collections.abc import Iterator

from .....dialects.core.attributes import tensor_of
from .....dialects.core.mlir import ir
from ..cpu.descriptors import FORMATS, Buffer
from ..dialect.dialect import precision_of
from ..dialect.emulated import EmulatedOp
from .images import Images
from .memory_map import TaskMap


def buffers(op: EmulatedOp, images: Images, addresses: TaskMap) -> Iterator[Buffer]:
    """Yield the buffers of the operand and of the result."""
    for value in (op.operation.operands[0], op.results[0]):
        yield _buffer(value, images, addresses)


def _buffer(value: ir.Value, images: Images, addresses: TaskMap) -> Buffer:
    layout, spot = images.layout(value)
    stored = precision_of(tensor_of(value.type).dtype), layout.atom
    cube = addresses.image(spot, layout.channels, layout)
    return Buffer(
        address=cube.address,
        offset=cube.offset,
        size=cube.size,
        format=next(number for number, known in FORMATS.items() if known == stored),
        width=cube.width,
        height=cube.height,
        channels=cube.channels,
        line_stride=cube.line_stride,
        surface_stride=cube.surface_stride,
    )
