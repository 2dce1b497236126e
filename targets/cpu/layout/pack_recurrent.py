"""Store constant weights of recurrent layers in the order in which the walk reads them."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ....dialects import cpu, tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.machine import NATIVE, Machine, find_machine
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module
from ....dialects.core.sizes.substitution import likely
from ....dialects.core.tensor import DTYPES, Array, Shape
from ....dialects.cpu.vnni import VNNI
from ....passes.core import Pass
from ....passes.rewriting import NoMatch, Rewriter, rewrite
from ...kernels.arithmetic import compute_dtype
from ..registry import TABLE
from ..schedule.machine_pattern import MachinePattern
from .packed_constants import constant_before, packed_constant

BYTE = np.iinfo(np.int8)


class PackRecurrent(Pass):
    """Multiply the inputs of recurrent layers with constant weights in a separate product.

    The layer keeps the loop over time, on weights of the state that are packed for `machine`.
    Biases are added to the product, except the one that the reset gate of a GRU scales.

        %y, %y_h, %y_c = tri.quantized_lstm %x, %r, %s   =>   cpu.dot_lstm %x, %r_packed, %s, %sums
        %y, %y_h = tri.gru %x, %w, %r, %b
            =>   %p = tri.add (tri.mat_mul %x, %w_turned), %b_sum
                 %y, %y_h = cpu.packed_gru %p, %r_packed
    """

    machine: str = NATIVE

    def run(self, module: Module) -> None:
        machine = find_machine(self.machine)
        rewrite(module, _Pack(machine), _PackBytes(machine))


class _Pack(MachinePattern):
    root = (tri.Rnn, tri.Gru, tri.Lstm)

    def rewrite(self, op: tri.Recurrent, rewriter: Rewriter) -> None:
        if broken := TABLE.broken_limit(op):
            raise NoMatch(broken)
        x = tensor_of(op.x.type)
        if x.dtype != compute_dtype(x.dtype) or not x.size:
            raise NoMatch("has inputs of a type that is widened, or none")
        rewriter.need_weight(op.r)
        rewriter.need_weight(op.w)
        projection = op.projection if isinstance(op, tri.Lstm) else None
        if projection is not None:
            rewriter.need_weight(projection)
        held = op.b if op.b is not None and rewriter.is_held(op.b) else None
        b = None if op.b is None or held else rewriter.constant(op.b)
        parts = _parts(op)

        def turn(w: Array) -> Array:
            return np.ascontiguousarray(w.reshape(-1, x.shape[2]).T)

        def pack(value: ir.Value, parts: Shape) -> ir.Value:
            hidden = tensor_of(value.type).shape[1] // sum(parts)
            units = choose_units(hidden, parts, likely(x.shape[1]), x.dtype, self.machine)
            return packed_constant(
                op, value, lambda r: cpu.pack_recurrent(r, parts, units), rewriter
            )

        packed = pack(op.r, parts)
        turned = packed_constant(op, op.w, turn, rewriter)
        if projection is not None:
            projection = pack(projection, (1,))

        def constant(array: Array, what: str) -> ir.Value:
            return constant_before(op, array, what, rewriter)

        with rewriter.before(op):
            inputs = tri.MatMul.build(op.x, turned).y
            rest: list[ir.Value | None] = [op.sequence_lens, op.initial_h]
            more: dict[str, Any] = {}
            kept = held_kept = None
            if held:
                added, held_kept = _held_biases(op, held)
                inputs = tri.Add.build(inputs, added).y
            if b is not None:
                added, kept = _biases(op, b.reshape(len(b), 2, -1))
                inputs = tri.Add.build(inputs, constant(added.reshape(-1), "bias")).y
            if isinstance(op, tri.Gru):
                rest.append(held_kept if kept is None else constant(kept, "hidden_bias"))
                more["linear_before_reset"] = op.linear_before_reset
            if isinstance(op, tri.Lstm):
                rest += [op.initial_c, op.p, projection]
                more["input_forget"] = op.input_forget
            new = _PACKED[type(op)].build(
                inputs,
                packed,
                *rest,
                hidden_size=op.hidden_size,
                direction=op.direction,
                activations=op.activations,
                alphas=op.alphas,
                betas=op.betas,
                clip=op.clip,
                **more,
            )
        rewriter.replace(op, new)


class _PackBytes(MachinePattern):
    root = tri.QuantizedLstm

    def rewrite(self, op: tri.QuantizedLstm, rewriter: Rewriter) -> None:
        if broken := TABLE.broken_limit(op):
            raise NoMatch(broken)
        r = rewriter.constant(op.r)
        least, most = BYTE.min, BYTE.max
        if r.min(initial=0) < least or r.max(initial=0) > most:
            raise NoMatch(
                f"weights are from {r.min()} to {r.max()}, must be from {least} to {most}"
            )
        batch = likely(tensor_of(op.x.type).shape[1])
        columns = choose_units(r.shape[2], (1,), batch, VNNI, self.machine)
        packed = constant_before(
            op, cpu.pack_vnni_recurrent(r.astype(np.int8), columns), "weight", rewriter
        )
        sums = constant_before(op, r.sum(1, dtype=np.int32), "sums", rewriter)
        old = op.r
        with rewriter.before(op):
            new = cpu.DotLstm.build(
                op.x,
                packed,
                op.r_scale,
                sums,
                op.sequence_lens,
                op.initial_h,
                op.initial_c,
                op.p,
                hidden_size=op.hidden_size,
                direction=op.direction,
                activations=op.activations,
                alphas=op.alphas,
                betas=op.betas,
                clip=op.clip,
                input_forget=op.input_forget,
            )
        rewriter.replace(op, new)
        rewriter.release(old)


_PACKED: dict[type[tri.Recurrent], type[cpu.PackedRecurrent]] = {
    tri.Rnn: cpu.PackedRnn,
    tri.Gru: cpu.PackedGru,
    tri.Lstm: cpu.PackedLstm,
}


def _parts(op: tri.Recurrent) -> Shape:
    """Return the numbers of gates whose weights the state is multiplied by at a time."""
    if isinstance(op, tri.Gru):
        return cpu.gru_parts(op.linear_before_reset)
    return (tensor_of(op.r.type).shape[1] // op.hidden_size,)


def _held_biases(op: tri.Recurrent, b: ir.Value) -> tuple[ir.Value, ir.Value | None]:
    """Build what `_biases` computes of biases that may be updated, at the insertion point."""
    directions, size = tensor_of(b.type).shape
    half = size // 2
    has_own = isinstance(op, tri.Gru) and op.linear_before_reset
    summed = 2 * op.hidden_size if has_own else half

    def part(start: int, count: int) -> ir.Value:
        return tri.Slice.build(b, starts=(0, start), sizes=(directions, count), steps=(1, 1)).y

    total = tri.Add.build(part(0, summed), part(half, summed)).y
    if has_own:
        total = tri.Concat.build([total, part(summed, half - summed)], axis=1).y
    flat = tri.Reshape.build(total, shape=(directions * half,)).y
    return flat, part(half + summed, half - summed) if has_own else None


def _biases(op: tri.Recurrent, b: Array) -> tuple[Array, Array | None]:
    """Return the bias of the inputs of each direction, and that of the hidden part of a state."""
    total = b.sum(1, dtype=b.dtype)
    if not isinstance(op, tri.Gru) or not op.linear_before_reset:
        return total, None
    hidden = slice(2 * op.hidden_size, None)
    total[:, hidden] = b[:, 0, hidden]
    return total, np.ascontiguousarray(b[:, 1, hidden])


ROWS = 3
"""Rows of a batch that use a vector of weights while it is in a register, at most."""

BROADCAST = 0.25
"""What it takes to load an element of a state, as a part of what a vector of weights takes.

Weights come from the second-level cache.
"""

ACTIVATIONS = 100
"""What a cell computes for a vector of units, in the same unit, about."""


def choose_units(
    hidden: int, parts: Sequence[int], batch: int, dtype: str, machine: Machine
) -> int:
    """Return the number of units of a panel with which a step takes the least time.

    The columns of all gates of the first part are whole vectors then. Each element of a state is
    loaded once per panel.
    """
    lanes, gates = machine.lanes(DTYPES[dtype].bits), parts[0]
    least = lanes // math.gcd(lanes, gates)
    most = (machine.registers - 1) // (min(batch, ROWS) + 1)

    def time(units: int) -> float:
        vectors, taken = units * gates // lanes, -(-units // lanes)
        panels = sum(cpu.panels_of_parts(hidden, parts, units))
        return panels * (hidden * (vectors + BROADCAST) + ACTIVATIONS * taken)

    last = max(least, most * lanes // gates)
    return min(range(least, last + 1, least), key=lambda units: (time(units), -units))
