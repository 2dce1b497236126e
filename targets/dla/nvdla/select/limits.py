"""What a configuration of NVDLA does not run, however it is split."""

from collections.abc import Iterator
from math import prod

from .....dialects.core.attributes import tensor_of
from .....dialects.core.tensor import Shape
from .....dialects.dla.dialect import TensorOp
from ..configuration import Configuration
from ..dialect.convolution import Conv
from ..dialect.dialect import precision_of
from ..dialect.emulated import ATOM, EmulatedOp
from ..dialect.moves import CHANNELS, Contract, Copy, Join, Window
from ..dialect.pools import Cdp, Pdp
from ..dialect.single import STAGES, Sdp
from ..format.operations import BDMA, CDP, CONV, ENGINE_TYPES, PDP, RUBIK, SDP
from ..reference.sdp import TABLE
from ..schedule.cbuf import conv_sizes, fit
from ..schedule.line_buffer import most_columns

ENGINES: dict[type[TensorOp], int] = {
    Conv: CONV,
    Sdp: SDP,
    Pdp: PDP,
    Cdp: CDP,
    Contract: RUBIK,
    Copy: BDMA,
}
"""The engine that runs each op; the others are places in memory."""

MOST_SIZE = 8192
MOST_KERNEL, MOST_STRIDE, MOST_DILATION = 32, 8, 32
MOST_CONV_PAD, MOST_POOL_PAD, MOST_POOL_STRIDE = 31, 7, 8
LEAST_COLUMNS = 2
"""The line of a single pixel must end with it, which that of a part would not."""


def op_refusal(op: TensorOp, configuration: Configuration) -> str | None:
    """Return why a configuration does not run an op, or None if it does."""
    reason = next(_reasons(op, configuration), None)
    return None if reason is None else f"{configuration.name} {reason}"


def _reasons(op: TensorOp, configuration: Configuration) -> Iterator[str]:
    engine = ENGINES.get(type(op))
    if engine is not None and ENGINE_TYPES[engine].name not in configuration.engines:
        yield f"has no {ENGINE_TYPES[engine].name}"
    precision = precision_of(tensor_of(op.operation.operands[0].type).dtype)
    atom = configuration.atom_elements(precision)
    if precision.name.lower() not in configuration.precisions:
        yield f"does not compute with {precision.name.lower()}"
    for value in (op.operation.operands[0], *op.results):
        shape = tensor_of(value.type).shape
        if max(shape[1:]) > MOST_SIZE:
            yield f"has images of sizes up to {MOST_SIZE}, not {shape[1:]}"
    match op:
        case Conv():
            yield from _conv_reasons(op, configuration)
        case Sdp():
            yield from _stage_reasons(op, configuration)
        case Pdp():
            yield from _most("pads pools by", op.pads, MOST_POOL_PAD)
            yield from _most("pools with strides of", op.strides, MOST_POOL_STRIDE)
            if most_columns(op, configuration) < LEAST_COLUMNS:
                yield f"has {configuration.pdp_buffer} bytes for rows of pools, too few for these"
        case Window() if op.start[0] % atom:
            yield f"reads channels from a multiple of {atom} on, not {op.start[0]}"
        case Join() if op.axis == CHANNELS:
            sizes = [tensor_of(x.type).shape[1] for x in op.xs]
            for size in sizes[:-1]:
                if size % atom:
                    yield f"joins a multiple of {atom} channels, not {size}"
        case EmulatedOp() if configuration.atom != ATOM:
            yield f"has atoms of {configuration.atom} bytes, the emulator on the CPU of {ATOM}"
        case Contract() if op.atom != atom:
            yield f"has atoms of {atom} channels, not {op.atom}"
        case _:
            pass


def _conv_reasons(op: Conv, configuration: Configuration) -> Iterator[str]:
    kernel = tensor_of(op.w.type).shape[2:]
    yield from _most("has kernels of", kernel, MOST_KERNEL)
    yield from _most("convolves with strides of", op.strides, MOST_STRIDE)
    yield from _most("convolves with dilations of", op.dilations, MOST_DILATION)
    yield from _most("pads convolutions by", op.pads, MOST_CONV_PAD)
    if op.winograd and not configuration.winograd:
        yield "has no Winograd"
    if fit(conv_sizes(op, configuration), configuration) is None:
        shape = tensor_of(op.w.type).shape
        precision = precision_of(tensor_of(op.w.type).dtype)
        group = min(shape[0], configuration.kernel_group(precision))
        size = configuration.banks * configuration.bank_bytes
        need = group * prod(shape[1:]) * precision.bytes
        yield (
            f"has {size} bytes of CBUF, too few for a row of windows and {need} bytes of weights"
        )


def _stage_reasons(op: Sdp, configuration: Configuration) -> Iterator[str]:
    descriptor = op.descriptor
    for name in STAGES:
        if getattr(descriptor, name).enable and name not in configuration.sdp_stages:
            yield f"has no stage {name.upper()} of SDP"
    if descriptor.y.activation == TABLE and not configuration.sdp_lut:
        yield "has no look-up table in SDP"


def _most(what: str, numbers: Shape, most: int) -> Iterator[str]:
    if max(numbers) > most:
        yield f"{what} up to {most}, not {max(numbers)}"
