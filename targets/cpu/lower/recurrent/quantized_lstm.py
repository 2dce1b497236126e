"""Lowerings of LSTM whose state is rounded to bytes for the product with its weights."""

from collections.abc import Callable, Sequence

from .....dialects import cpu, tri
from .....dialects.core.sizes.atoms import is_symbolic
from .....dialects.cpu.vnni import BYTES, VNNI, vnni_count
from .....dialects.tri.recurrent.quantized_lstm import BYTE
from ....kernels.conversion import convert
from ...kernels.buffer import Buffer, Lanes
from ...kernels.builder import KernelBuilder
from ...kernels.epilogue import Epilogue, each_vector
from ...kernels.index import IndexExpr
from ...kernels.products.contraction import Contraction, splat
from ...kernels.products.dot import choose_dot
from ...kernels.products.panels import DirectPanel, StoredPanel
from ...kernels.products.vnni import load_word
from ...kernels.strips import Strip
from ...kernels.value import Value
from ...registry import STATES, template
from ...schedule.tiles import choose_tile, fit_tile
from .cells import lstm_cell
from .packed_rnn import PackedLayer
from .recurrence import Units

FUNCTIONS = ("Sigmoid", "Tanh", "Tanh")

Recall = Callable[[Buffer, int], None]

Store = Callable[[Value, Value, Sequence[IndexExpr], Lanes | None], None]
"""Store bytes, given as floats, of a state; the second value is their zero point."""


@template(tri.QuantizedLstm)
def lower_quantized_lstm(
    op: tri.QuantizedLstm,
    kernel: KernelBuilder,
    x: Buffer,
    r: Buffer,
    r_scale: Buffer,
    sequence_lens: Buffer | None,
    initial_h: Buffer | None,
    initial_c: Buffer | None,
    p: Buffer | None,
    y: Epilogue,
    y_h: Epilogue,
    y_c: Epilogue,
) -> None:
    layer = _IntegerLayer(op, kernel, x, r, r_scale)
    states = [initial_h, initial_c]
    layer.run(FUNCTIONS, lstm_cell(op, p), states, y, [y_h, y_c], sequence_lens)


@template(cpu.DotLstm, types=STATES)
def lower_dot_lstm(
    op: cpu.DotLstm,
    kernel: KernelBuilder,
    x: Buffer,
    r: Buffer,
    r_scale: Buffer,
    r_sums: Buffer,
    sequence_lens: Buffer | None,
    initial_h: Buffer | None,
    initial_c: Buffer | None,
    p: Buffer | None,
    y: Epilogue,
    y_h: Epilogue,
    y_c: Epilogue,
) -> None:
    layer = _DotLayer(op, kernel, x, r, r_scale, r_sums)
    states = [initial_h, initial_c]
    layer.run(FUNCTIONS, lstm_cell(op, p), states, y, [y_h, y_c], sequence_lens)


class _RoundedLayer(PackedLayer):
    """Round a state by its range before it is multiplied; scale the product."""

    def __init__(
        self,
        op: tri.QuantizedLstm | cpu.DotLstm,
        kernel: KernelBuilder,
        x: Buffer,
        r: Buffer,
        r_scale: Buffer,
    ) -> None:
        super().__init__(op, kernel, x, r, (4,))
        self.r_scale = r_scale

    def direction_units(self, number: IndexExpr) -> Units:
        totals = self.memory((self.batch, self.width), self.dtype)
        return self.units(totals, self.recalling(number, totals))

    def recalling(self, number: IndexExpr, totals: Buffer) -> Recall:
        """Return what rounds a state and multiplies it by the weights of a direction."""
        raise NotImplementedError

    def round(self, state: Buffer, store: Store) -> tuple[Value, Value]:
        """Hand on the bytes of a state as floats; return their scale and zero point, in f32."""
        flat = state.reshape((1, self.batch * self.hidden))
        strip = Strip(IndexExpr(0), self.batch * self.hidden, self.kernel.lanes(self.dtype))
        low = strip.reduce("min", flat.load, self.dtype).minimum(0)
        high = strip.reduce("max", flat.load, self.dtype).maximum(0)
        step = (high - low) / BYTE
        step = step.equal(0).select(step.like(1), step)
        zero = ((step.like(0) - low) / step).apply("roundeven")

        def one(at: list[IndexExpr], lanes: Lanes | None) -> None:
            divisor, shift = (_repeated(value, lanes) for value in (step, zero))
            number = (state.load(at, lanes) / divisor).apply("roundeven") + shift
            store(number.maximum(0).minimum(BYTE), shift, at, lanes)

        each_vector((self.batch, self.hidden), self.kernel.lanes(self.dtype), one)
        return step, zero

    def scaled(
        self, total: Value, step: Value, number: IndexExpr, j: IndexExpr, lanes: Lanes
    ) -> Value:
        """Return a sum of products of integers as a float."""
        scale = self.r_scale.load([number, j], lanes) * splat(step, lanes.width)
        return total.cast(self.dtype) * scale


class _IntegerLayer(_RoundedLayer):
    """Multiply by integers of 32 bits, as they are."""

    def recalling(self, number: IndexExpr, totals: Buffer) -> Recall:
        integers = self.memory((self.batch, self.hidden), VNNI)
        tile = choose_tile(self.kernel.machine, VNNI, self.batch, self.width)

        def store(value: Value, shift: Value, at: Sequence[IndexExpr], lanes: Lanes | None) -> None:
            integers.store((value - shift).cast(VNNI), at, lanes)

        def recall(state: Buffer, part: int) -> None:
            step, _ = self.round(state, store)
            Contraction(
                self.batch,
                self.width,
                (self.hidden,),
                VNNI,
                lambda rows, i, k: integers.load([rows.first + i, *k]),
                DirectPanel(self.r.part([number])),
                lambda i, j, total, lanes: totals.store(
                    self.scaled(total, step, number, j, lanes), [i, j], lanes
                ),
            ).emit(tile)

        return recall


class _DotLayer(_RoundedLayer):
    """Multiply by bytes, four at a time."""

    def __init__(
        self,
        op: cpu.DotLstm,
        kernel: KernelBuilder,
        x: Buffer,
        r: Buffer,
        r_scale: Buffer,
        r_sums: Buffer,
    ) -> None:
        super().__init__(op, kernel, x, r, r_scale)
        self.r_sums = r_sums

    def recalling(self, number: IndexExpr, totals: Buffer) -> Recall:
        words = vnni_count(self.hidden, BYTES)
        taken = self.memory((self.batch, words * BYTES), "ui8")
        rows = 0 if is_symbolic(self.batch) else self.batch
        tile = fit_tile(self.kernel.machine, VNNI, self.batch, self.r.shape[3], rows)

        def store(value: Value, shift: Value, at: Sequence[IndexExpr], lanes: Lanes | None) -> None:
            taken.store(convert(value, "ui8"), at, lanes)

        def recall(state: Buffer, part: int) -> None:
            step, zero = self.round(state, store)
            offset = zero.cast(VNNI)

            def finish(i: IndexExpr, j: IndexExpr, total: Value, lanes: Lanes) -> None:
                sums = self.r_sums.load([number, j], lanes)
                centred = total - sums * splat(offset, lanes.width)
                totals.store(self.scaled(centred, step, number, j, lanes), [i, j], lanes)

            Contraction(
                self.batch,
                self.width,
                (words,),
                VNNI,
                lambda rows, i, k: load_word(taken, rows.first + i, k[0]),
                StoredPanel(self.r.part([number]), (words,), tile),
                finish,
                multiply=choose_dot(self.kernel.machine, "ui8"),
            ).emit(tile)

        return recall


def _repeated(value: Value, lanes: Lanes | None) -> Value:
    return value if lanes is None else splat(value, lanes.width)
