"""PDP and CDP: windows of a channel, and of channels."""

from .....dialects.core.errors import Invalid, need_one_of
from .....dialects.core.fields import Operand, Result
from .....dialects.core.tensor import Array, Tensor
from ..format.operations import CdpOperation, Converter, Lut, PdpOperation
from ..reference import cdp, pdp
from ..reference.lookup import table_fault
from .dialect import (
    NVDLA,
    EngineOp,
    as_stored,
    each,
    in_precision,
    need_images,
    parse,
    precision_of,
    window_sizes,
)
from .single import need_tables, tables_of

MODES = ("average", "max", "min")


class Pdp(EngineOp, dialect=NVDLA):
    """Take the average, greatest or least of windows, i8 or f16; padding counts in averages."""

    x: Operand
    mode: str
    kernel: tuple[int, ...]
    strides: tuple[int, ...] = (1, 1)
    pads: tuple[int, ...] = (0, 0, 0, 0)
    y: Result

    def infer(self, x: Tensor) -> Tensor:
        images, channels, *sizes = need_images("x", x)
        need_one_of("mode", self.mode, MODES)
        if max(self.kernel) > 8:
            raise Invalid(f"kernel is {self.kernel}, must be 8 or less")
        out = window_sizes(sizes, self.kernel, self.strides, (1, 1), self.pads)
        return Tensor((images, channels, *out), x.dtype)

    def reference(self, x: Array) -> Array:
        operation = in_precision(self.descriptor, precision_of(x.dtype))
        return as_stored(each(lambda image: pdp.pool(image, operation), x))

    @property
    def descriptor(self) -> PdpOperation:
        """Return the descriptor."""
        top, left, bottom, right = self.pads
        return PdpOperation(
            mode=MODES.index(self.mode),
            window_width=self.kernel[1] - 1,
            window_height=self.kernel[0] - 1,
            stride_x=self.strides[1],
            stride_y=self.strides[0],
            pad_left=left,
            pad_right=right,
            pad_top=top,
            pad_bottom=bottom,
        )


class Cdp(EngineOp, dialect=NVDLA):
    """Multiply values by what tables have for the squares of `local_size` channels around.

    `lut` is i16 or f16 [322], as for `nvdla.sdp`; `input` and `output` are fields of converters.
    """

    x: Operand
    lut: Operand
    local_size: int
    table: str = ""
    input: str = "scale=1 enable=1"
    output: str = "scale=1 enable=1"
    y: Result

    def infer(self, x: Tensor, lut: Tensor) -> Tensor:
        need_images("x", x)
        need_tables(lut, x)
        fault = cdp.unsupported(self.descriptor) or table_fault(parse(Lut(), self.table))
        if fault is not None:
            raise Invalid(f"has {fault}")
        return x

    def reference(self, x: Array, lut: Array) -> Array:
        found = self.tables(lut)
        operation = in_precision(self.descriptor, precision_of(x.dtype))
        return as_stored(each(lambda image: cdp.normalize(image, operation, found), x))

    @property
    def descriptor(self) -> CdpOperation:
        """Return the descriptor."""
        return CdpOperation(
            lut=0,
            input_converter=parse(Converter(), self.input),
            output_converter=parse(Converter(), self.output),
            local_size=self.local_size,
        )

    def tables(self, entries: Array) -> Lut:
        """Return the descriptor of the tables with some entries."""
        return tables_of(self.table, entries)
