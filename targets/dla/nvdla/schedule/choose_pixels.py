"""Read inputs of few channels as pixels where their convolutions take fewer cycles."""

from collections.abc import Mapping

from .....dialects import tri
from .....dialects.core.attributes import tensor_of
from .....dialects.core.mlir import ir
from .....dialects.core.module import Module, ops
from .....dialects.core.op import view
from .....passes.core import Pass
from .....passes.rewriting import users
from ...schedule.group_members import groups_of
from ..choice import NAME, Choice
from ..configuration import Configuration
from ..dialect.convolution import Conv
from ..pixels import PixelFormat
from ..timing.cycles import conv_cycles
from .cbuf import conv_sizes, fit
from .pixel_convs import format_for, pixel_operation
from .places import Place

FULL = Choice()


class ChoosePixels(Pass):
    """Let convolutions read an input of up to four channels as an image of pixels.

    All uses of the input must be convolutions, which together take fewer cycles then, and fit into
    CBUF. Results are the same.

        nvdla.conv %input, %w   =>   nvdla.conv %input, %w {pixels = "A8B8G8R8"}
    """

    target: Choice = FULL

    def run(self, module: Module) -> None:
        with module.operation.context:
            for group in groups_of(module, NAME):
                for argument in group.block.arguments:
                    _choose(argument, self.target.configuration)


def _choose(argument: ir.Value, configuration: Configuration) -> None:
    tensor = tensor_of(argument.type)
    form = format_for(tensor.shape[1]) if tensor.rank == 4 and tensor.dtype == "i8" else None
    found = [view(each) for each in users(argument)]
    convs = [op for op in found if isinstance(op, Conv) and op.x == argument and op.w != argument]
    if form is None or not convs or len(convs) < len(found):
        return
    if any(op.dilations != (1, 1) for op in convs):
        return
    before = sum(_direct_cycles(op, configuration) for op in convs)
    after = sum(_pixel_cycles(op, form, configuration) for op in convs)
    if after >= before:
        return
    for op in convs:
        op.operation.attributes["pixels"] = ir.StringAttr.get(form.name)
    if not all(_fits(Conv(op.operation), configuration) for op in convs):
        for op in convs:
            del op.operation.attributes["pixels"]


def _fits(op: Conv, configuration: Configuration) -> bool:
    return fit(conv_sizes(op, configuration), configuration) is not None


def _direct_cycles(op: Conv, configuration: Configuration) -> int:
    x, w, y = (tensor_of(value.type).shape for value in (op.x, op.w, op.y))
    return conv_cycles(op.operation_for(x, w, y), w[0], configuration)


def _pixel_cycles(op: Conv, form: PixelFormat, configuration: Configuration) -> int:
    operation = pixel_operation(op, form, configuration)
    return conv_cycles(operation, tensor_of(op.w.type).shape[0], configuration)


def pixels_of(group: tri.Group, places: Mapping[ir.Value, Place]) -> dict[ir.Value, PixelFormat]:
    """Return the inputs that are images of pixels, with their formats."""
    found: dict[ir.Value, PixelFormat] = {}
    for op in ops(group.block):
        form = op.form if isinstance(op, Conv) else None
        if isinstance(op, Conv) and form is not None:
            found[places[op.x].root] = form
    return found
