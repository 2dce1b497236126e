"""Quantised element types as plain Python: scales, zero points, and their text in MLIR."""

import functools
import math
import re
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from .errors import Invalid

PREFIX = "!quant."
STORAGE = {"i8": "i8", "i16": "i16", "i32": "i32", "u8": "ui8", "u16": "ui16"}
"""Storage types of quantised numbers: MLIR's spelling in `quant` types, and ours."""
EXPRESSED = ("f32", "f16", "bf16", "f64")
_SPELLED = {ours: theirs for theirs, ours in STORAGE.items()}
_TYPE = re.compile(
    r"!quant\.uniform<([iu]\d+)(?:<(-?\d+):(-?\d+)>)?:(\w+)(?::(\d+))?,\s*(\{.*\}|[^{}]*)>"
)


@dataclass(frozen=True)
class QuantizedType:
    """Describe numbers that are stored as integers: `scale * (integer - zero point)`.

    There is one scale and one zero point for all, and `axis` is None; or one for each index of an
    axis. `low` and `high` are the least and the greatest integer in use. Build it by `of` or
    `parse`, which check it. Source: MLIR's dialect `quant`; Jacob et al., "Quantization and
    training of neural networks for efficient integer-arithmetic-only inference", 2018.
    """

    storage: str
    expressed: str
    scales: tuple[float, ...]
    zero_points: tuple[int, ...]
    axis: int | None
    low: int
    high: int

    @staticmethod
    def of(
        storage: str,
        scales: Sequence[float],
        zero_points: Sequence[int] = (0,),
        *,
        axis: int | None = None,
        expressed: str = "f32",
        low: int | None = None,
        high: int | None = None,
    ) -> "QuantizedType":
        """Make a type; one zero point stands for all, and bounds are by default the storage's.

        Raises Invalid for scales that are not positive numbers, zero points out of bounds, and
        types of storage or expression that there are not; ValueError for scales without an axis,
        or other than zero points in number.
        """
        if storage not in _SPELLED:
            raise Invalid(f"quantised numbers are held in {storage}, must be {', '.join(_SPELLED)}")
        least, most = storage_range(storage)
        points = tuple(zero_points) * (len(scales) if len(zero_points) == 1 else 1)
        made = QuantizedType(
            storage,
            expressed,
            tuple(map(float, scales)),
            tuple(map(int, points)),
            axis,
            least if low is None else low,
            most if high is None else high,
        )
        made._check(least, most)
        return made

    @staticmethod
    def parse(text: str) -> "QuantizedType":
        """Read the text of MLIR's type; Invalid for others, those of blocks of an axis included."""
        return _parse(text)

    def _check(self, least: int, most: int) -> None:
        if self.expressed not in EXPRESSED:
            known = ", ".join(EXPRESSED)
            raise Invalid(f"quantised numbers stand for {self.expressed}, must be {known}")
        if not least <= self.low < self.high <= most:
            raise Invalid(f"quantised range {self.low}:{self.high} must be in {least}:{most}")
        if not self.scales or len(self.scales) != len(self.zero_points):
            counts = f"{len(self.scales)} scales and {len(self.zero_points)} zero points"
            raise ValueError(f"quantised type has {counts}, must have as many, and 1 or more")
        if self.axis is None and len(self.scales) != 1:
            raise ValueError(f"quantised type has {len(self.scales)} scales and no axis")
        for scale in self.scales:
            if not (scale > 0 and math.isfinite(scale)):
                raise Invalid(f"quantised type has scale {scale}, must be positive and finite")
        for point in self.zero_points:
            if not self.low <= point <= self.high:
                raise Invalid(f"zero point {point} is outside of {self.low}:{self.high}")

    def __str__(self) -> str:
        """Return a text that MLIR parses to the same type, and that is one for each type."""
        return self._text

    @functools.cached_property
    def _text(self) -> str:
        whole = (self.low, self.high) == storage_range(self.storage)
        bounds = "" if whole else f"<{self.low}:{self.high}>"
        numbers = [
            _decimal(scale) + (f":{point}" if point else "")
            for scale, point in zip(self.scales, self.zero_points, strict=True)
        ]
        along = "" if self.axis is None else f":{self.axis}"
        listed = numbers[0] if self.axis is None else f"{{{','.join(numbers)}}}"
        return f"!quant.uniform<{_SPELLED[self.storage]}{bounds}:{self.expressed}{along}, {listed}>"


def storage_range(storage: str) -> tuple[int, int]:
    """Return the least and the greatest integer of a type of storage."""
    bits = int(storage.lstrip("ui"))
    return (
        (0, (1 << bits) - 1) if storage.startswith("u") else (-(1 << bits - 1), (1 << bits - 1) - 1)
    )


def is_quantized(dtype: str) -> bool:
    """Report whether an element type, as MLIR spells it, is one of MLIR's `quant`."""
    return dtype.startswith(PREFIX)


def canonical(dtype: str) -> str:
    """Return the canonical text of a quantised type; other element types are unchanged."""
    return str(QuantizedType.parse(dtype)) if is_quantized(dtype) else dtype


def check_scales(shape: Sequence[int], dtype: str) -> None:
    """Raise Invalid unless a tensor of a quantised type has a scale for each index of its axis."""
    if not is_quantized(dtype):
        return
    kind = QuantizedType.parse(dtype)
    if kind.axis is None:
        return
    if kind.axis >= len(shape) or shape[kind.axis] != len(kind.scales):
        sizes = "x".join(map(str, shape)) or "scalar"
        raise Invalid(f"{len(kind.scales)} scales along axis {kind.axis} do not fit shape {sizes}")


def with_axis(dtype: str, moved: Callable[[int], int]) -> str:
    """Return an element type after its axis of scales, if it has one, has become another."""
    if not is_quantized(dtype):
        return dtype
    kind = QuantizedType.parse(dtype)
    return dtype if kind.axis is None else str(replace(kind, axis=moved(kind.axis)))


def with_part(dtype: str, part_of: Callable[[int], slice]) -> str:
    """Return the element type of a part of a tensor, of which a function says how axes are cut."""
    if not is_quantized(dtype):
        return dtype
    kind = QuantizedType.parse(dtype)
    if kind.axis is None:
        return dtype
    part = part_of(kind.axis)
    if not (scales := kind.scales[part]):
        raise Invalid("takes nothing of the axis of scales, must keep 1 or more")
    return str(replace(kind, scales=scales, zero_points=kind.zero_points[part]))


def single_scale(dtype: str) -> bool:
    """Report whether an element type has one scale for all numbers."""
    return is_quantized(dtype) and QuantizedType.parse(dtype).axis is None


@functools.lru_cache(1 << 10)
def _parse(text: str) -> QuantizedType:
    found = _TYPE.fullmatch(text)
    if found is None:
        raise Invalid(f"{text} must be !quant.uniform with a scale, or scales along an axis")
    storage, low, high, expressed, axis, numbers = found.groups()
    pairs = [number.strip().partition(":") for number in numbers.strip("{}").split(",")]
    if (axis is None) == numbers.startswith("{"):
        raise Invalid(f"{text} must have one scale, or an axis and a scale for each index")
    try:
        scales = [_number(scale) for scale, _, _ in pairs]
        points = [int(point or 0) for _, _, point in pairs]
    except ValueError:
        raise Invalid(f"{text} has a scale or zero point that is no number") from None
    return QuantizedType.of(
        STORAGE.get(storage, storage),
        scales,
        points,
        axis=None if axis is None else int(axis),
        expressed=expressed,
        low=None if low is None else int(low),
        high=None if high is None else int(high),
    )


def _number(text: str) -> float:
    """Read a number, or its bits in hexadecimal."""
    bits = text.removeprefix("0x")
    return float(text) if bits == text else float(struct.unpack(">d", bytes.fromhex(bits))[0])


def _decimal(number: float) -> str:
    """Print a number so that MLIR reads it and it stays the same: with six decimals if they do."""
    short = f"{number:.6e}"
    return short if float(short) == number else f"{number:.16e}"
