"""Select what tables of f16 have: local response normalisation by CDP, curves by SDP."""

from math import ceil, log2

import numpy as np

from .....dialects import tri
from .....dialects.core.mlir import ir
from .....dialects.core.tensor import Array
from .....passes.rewriting import NoMatch
from ..dialect.dialect import spell
from ..dialect.pools import Cdp
from ..dialect.single import EXPONENTIAL_ENTRIES, LINEAR_ENTRIES
from ..format.operations import Lut, SdpStage
from ..reference import sdp
from .selection import NvdlaSelection, image_of
from .stages import Pending

_SPAN = 8.0
"""The linear table of a normalisation goes up to sums that are this many times the bias."""
_CURVE_END, _CURVE_STEP = 8.0, -4
_BYTE = 0xFF
_LARGEST = 0x7F7FFFFF
"""The bits of the largest number of 32 bits."""


def select_lrn(op: tri.Lrn, selection: NvdlaSelection) -> None:
    """Select a normalisation: the tables have (bias + alpha / size * n)^-beta of sums n.

    The linear table has small sums, the exponential one, by powers of two, those beyond.
    """
    name = selection.description.name
    if op.bias <= 0 or op.alpha <= 0:
        raise NoMatch(f"{name} normalises with bias and alpha above 0")
    step = ceil(log2(_SPAN * op.bias * op.size / op.alpha / (LINEAR_ENTRIES - 1)))
    end = (LINEAR_ENTRIES - 1) * 2.0**step
    first = step
    sums = np.arange(LINEAR_ENTRIES) * 2.0**step
    powers = 2.0 ** (first + np.arange(EXPONENTIAL_ENTRIES))
    entries = (op.bias + op.alpha / op.size * np.concatenate([powers, sums])) ** -op.beta
    form = Lut(
        exponential_offset=first & _BYTE,
        exponential_end=_bits(powers[-1]),
        linear_offset=step & _BYTE,
        linear_end=_bits(end),
        hybrid_priority=1,
        underflow_priority=1,
    )
    with selection.place():
        tables = selection.build_constant(_halves(entries, name), "factors")
        y = selection.build(Cdp, image_of(op.x), tables, local_size=op.size, table=spell(form)).y
    selection.replaced(y, ())


def select_curve(op: tri.Sigmoid | tri.Tanh, selection: NvdlaSelection) -> None:
    """Select a curve from -8 to 8, beyond which it is constant: the linear table of stage Y."""
    places = np.linspace(-_CURVE_END, _CURVE_END, LINEAR_ENTRIES)
    values = np.tanh(places) if isinstance(op, tri.Tanh) else 1 / (1 + np.exp(-places))
    tables = np.concatenate([np.zeros(EXPONENTIAL_ENTRIES), values])
    form = Lut(
        exponential_start=_LARGEST,
        exponential_end=_LARGEST,
        linear_offset=_CURVE_STEP & _BYTE,
        linear_start=_bits(-_CURVE_END),
        linear_end=_bits(_CURVE_END),
        hybrid_priority=1,
        underflow_priority=1,
        overflow_priority=1,
        method=1,
    )
    with selection.place():
        pending = Pending.on(op.x, selection)
        pending.forms["y"] = SdpStage(enable=1, activation=sdp.TABLE)
        lut: ir.Value = selection.build_constant(
            _halves(tables, selection.description.name), "table"
        )
        y = pending.build(lut=lut, table=spell(form))
    selection.replaced(y, pending.covered)


def _halves(entries: Array, name: str) -> Array:
    found = entries.astype(np.float16)
    if not np.isfinite(found).all():
        raise NoMatch(f"{name} has tables of f16, which do not hold {entries.max():g}")
    return found


def _bits(number: float) -> int:
    """Return the bits of a number of 32."""
    return int(np.float32(number).view(np.uint32))
