"""SDP: up to three stages of arithmetic for each value, and a converter to i8."""

from dataclasses import replace

import numpy as np

from .....dialects.core.errors import Invalid
from .....dialects.core.fields import Operand, Result
from .....dialects.core.tensor import Array, Tensor
from ..format.network import Precision
from ..format.operations import Converter, Lut, SdpOperation, SdpStage
from ..reference import sdp
from ..reference.lookup import table_fault
from .dialect import (
    NVDLA,
    EngineOp,
    as_computed,
    as_stored,
    bits_of_half,
    in_precision,
    need_images,
    parse,
    precision_of,
    spell,
)

STAGES = ("x1", "x2", "y")
EXPONENTIAL_ENTRIES, LINEAR_ENTRIES = 65, 257
RESULTS = {"i8": "i8", "i32": "i8", "f16": "f16", "f32": "f16"}
"""The type of results, by that of the source."""
OPERANDS = {"i8": "i16", "f16": "f16"}
"""The type of operands of channels and of tables, by that of results."""


class Sdp(EngineOp, dialect=NVDLA):
    """Compute up to three stages on values i8, or on the sums of a convolution, i32: to i8.

    Values f16 or sums f32 become f16; operands and tables are of f16 then, numbers of a stage are
    the bits of f16, and nothing is shifted or converted.

    `x1`, `x2` and `y` are fields of `SdpStage` that differ from their defaults; an empty text is a
    stage that is not used. Operands are those of stages that have one for each channel, i16 [C] or
    [C, 2] (ALU, multiplier), or i8 [N, C, 1, 1] of precision 0, which may be f16 among f16; or for
    each element, i8 as `x`.
    `lut` is i16 [322], the 65 and then the 257 entries of the tables that `table` describes. The
    result is (v - `offset`) * `scale` / 2^`truncate`, rounded, in the range of i8.
    """

    source: Operand
    x1_operand: Operand | None = None
    x2_operand: Operand | None = None
    y_operand: Operand | None = None
    lut: Operand | None = None
    x1: str = ""
    x2: str = ""
    y: str = ""
    table: str = ""
    offset: int = 0
    scale: int = 1
    truncate: int = 0
    result: Result

    def infer(
        self,
        source: Tensor,
        x1_operand: Tensor | None = None,
        x2_operand: Tensor | None = None,
        y_operand: Tensor | None = None,
        lut: Tensor | None = None,
    ) -> Tensor:
        need_images("source", source, *RESULTS)
        if not -(1 << 15) <= self.scale < 1 << 15 or not 0 <= self.truncate < 64:
            raise Invalid("scale must have 16 bits, and truncate must be 0 to 63")
        operation = in_precision(self.descriptor, precision_of(source.dtype))
        for name, given in zip(STAGES, (x1_operand, x2_operand, y_operand), strict=True):
            _check_stage(name, getattr(operation, name), given, source)
        if (operation.y.activation == sdp.TABLE) != (lut is not None):
            raise Invalid("must have tables if stage y looks up, and none otherwise")
        if lut is not None:
            need_tables(lut, source)
        fault = sdp.unsupported(operation) or table_fault(parse(Lut(), self.table))
        if fault is not None:
            raise Invalid(f"has {fault}")
        return Tensor(source.shape, RESULTS[source.dtype])

    def reference(
        self,
        source: Array,
        x1_operand: Array | None = None,
        x2_operand: Array | None = None,
        y_operand: Array | None = None,
        lut: Array | None = None,
    ) -> Array:
        operation = in_precision(self.descriptor, precision_of(source.dtype))
        given = (x1_operand, x2_operand, y_operand)
        stages = [getattr(operation, name) for name in STAGES]
        tables = None if lut is None else self.tables(lut)
        results: list[Array] = []
        for n, image in enumerate(list(source)):
            first, second, third = (
                _operands(stage, operand, n) for stage, operand in zip(stages, given, strict=True)
            )
            values = as_computed(image)
            results.append(sdp.process(values, operation, first, second, third, tables))
        return as_stored(np.stack(results))

    @property
    def descriptor(self) -> SdpOperation:
        """Return the descriptor; raise Invalid for text that is none of a stage's."""
        return SdpOperation(
            lut=0 if self.table else -1,
            converter=Converter(self.scale, self.truncate, 1, self.offset),
            x1=_stage(self.x1),
            x2=_stage(self.x2),
            y=_stage(self.y),
        )

    def tables(self, entries: Array) -> Lut:
        """Return the descriptor of the tables with some entries."""
        return tables_of(self.table, entries)


def tables_of(form: str, entries: Array) -> Lut:
    """Return the descriptor of tables, i16 or f16 [322], whose other fields a text has."""
    numbers = tuple(int(each) for each in bits_of_half(entries))
    first, second = numbers[:EXPONENTIAL_ENTRIES], numbers[EXPONENTIAL_ENTRIES:]
    return replace(parse(Lut(), form), exponential=first, linear=second)


def need_tables(lut: Tensor, x: Tensor) -> None:
    """Raise Invalid for tables of another size or type than those for values of a type."""
    wanted = Tensor((EXPONENTIAL_ENTRIES + LINEAR_ENTRIES,), OPERANDS[RESULTS[x.dtype]])
    if lut != wanted:
        raise Invalid(f"tables are {lut}, must be {wanted}")


def spelled(stage: SdpStage) -> str:
    """Return the text of a stage that is used."""
    return spell(stage).removeprefix("enable=1").lstrip() or "kind=0"


def _stage(text: str) -> SdpStage:
    return parse(SdpStage(enable=1), text) if text else SdpStage()


def _check_stage(name: str, stage: SdpStage, given: Tensor | None, source: Tensor) -> None:
    needs = bool(stage.enable and stage.kind and stage.mode)
    if needs != (given is not None):
        raise Invalid(f"stage {name} must have an operand if its mode is not 0, and none otherwise")
    if given is None:
        return
    result = RESULTS[source.dtype]
    if result == "f16" and stage.precision != Precision.FP16:
        wrong = f"operands of precision {stage.precision}"
        raise Invalid(f"stage {name} has {wrong}, must be {Precision.FP16:d} for f16")
    wanted = Tensor(source.shape, result)
    # Images of a pixel have operands of the size of their elements.
    is_pixel = given.rank == 4 if result == "f16" else not stage.precision
    if stage.mode == sdp.PER_CHANNEL and is_pixel and stage.kind != sdp.BOTH:
        wanted = Tensor((*source.shape[:2], 1, 1), result)
    elif stage.mode == sdp.PER_CHANNEL:
        pairs = (2,) if stage.kind == sdp.BOTH else ()
        wanted = Tensor((source.shape[1], *pairs), OPERANDS[result])
    if given != wanted:
        raise Invalid(f"operand of stage {name} is {given}, must be {wanted}")


def _operands(stage: SdpStage, given: Array | None, image: int) -> sdp.Operands:
    """Return the operands of a stage for an image of a batch."""
    if not stage.enable or not stage.kind:
        return sdp.NO_OPERANDS
    if given is None:
        alu, multiplier = np.asarray(stage.alu_operand), np.asarray(stage.mul_operand)
    elif stage.mode == sdp.PER_ELEMENT or given.ndim == 4:
        alu = multiplier = bits_of_half(given[image])
    else:
        columns = bits_of_half(given).reshape(len(given), -1)[:, :, None, None]
        alu, multiplier = columns[:, 0], columns[:, -1]
    return sdp.Operands(
        alu.astype(np.int64) if stage.kind & sdp.ALU else None,
        multiplier.astype(np.int64) if stage.kind & sdp.MULTIPLY else None,
    )
