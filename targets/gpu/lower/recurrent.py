"""Lowerings of recurrent layers: a product of all inputs, then programs that walk along time.

A program has one row of the batch in one direction, and its whole state in registers. In each step
it multiplies the state by the weights of each gate, and adds what the inputs give. Products of a
few rows by blocks of `tile.dot` would need more registers for f32 than there are.
"""

from collections.abc import Callable, Sequence

from ....dialects import tri
from ....dialects.core.tensor import Tensor
from ...kernels.arithmetic import compute_dtype
from ..kernels.buffer import Buffer
from ..kernels.builder import KernelBuilder
from ..kernels.contraction import Contraction, contract
from ..kernels.coordinates import Coordinates
from ..kernels.depth import FlatDepth
from ..kernels.epilogue import Epilogue
from ..kernels.factor import Matrix
from ..kernels.functions.approximation import sigmoid, tanh
from ..kernels.loop import loop
from ..kernels.value import Value, scalar, zeros
from ..registry import accepts, template
from ..schedule.product_blocks import LEAST, next_power

MOST_HIDDEN = 128
"""The most elements of a state: a program has all of them in registers."""

ACTIVATIONS: dict[str, Callable[[Value], Value]] = {
    "Relu": lambda x: x.maximum(0),
    "Sigmoid": sigmoid,
    "Tanh": tanh,
}

State = Sequence[Value]


@accepts(tri.Rnn, tri.Gru, tri.Lstm)
def common_activations(op: tri.Recurrent) -> bool:
    """Runs recurrent layers only with the activations Relu, Sigmoid and Tanh"""
    return set(op.activations) <= ACTIVATIONS.keys()


@accepts(tri.Rnn, tri.Gru, tri.Lstm)
def small_states(op: tri.Recurrent) -> bool:
    """Runs recurrent layers only with states of up to 128 elements"""
    return op.hidden_size <= MOST_HIDDEN


@accepts(tri.Lstm)
def no_projection(op: tri.Lstm) -> bool:
    """Runs LSTM only without projection"""
    return op.projection is None


@template(tri.Rnn)
def lower_rnn(
    op: tri.Rnn,
    kernel: KernelBuilder,
    x: Buffer,
    w: Buffer,
    r: Buffer,
    b: Buffer | None,
    sequence_lens: Buffer | None,
    initial_h: Buffer | None,
    y: Epilogue,
    y_h: Epilogue,
) -> None:
    layer = _Layer(op, kernel, _inputs(op, kernel, x, w, b, added=1), r, sequence_lens)

    def step(place: Value, state: State) -> list[Value]:
        return [layer.activated(0, layer.total(place, 0, state[0]))]

    layer.walk([initial_h], step, y, [y_h])


@template(tri.Gru)
def lower_gru(
    op: tri.Gru,
    kernel: KernelBuilder,
    x: Buffer,
    w: Buffer,
    r: Buffer,
    b: Buffer | None,
    sequence_lens: Buffer | None,
    initial_h: Buffer | None,
    y: Epilogue,
    y_h: Epilogue,
) -> None:
    layer = _Layer(op, kernel, _inputs(op, kernel, x, w, b, added=2), r, sequence_lens)
    bias = None if b is None else b.split((op.directions, 2, 3, op.hidden_size))

    def step(place: Value, state: State) -> list[Value]:
        (h,) = state
        update, reset = (layer.activated(0, layer.total(place, gate, h)) for gate in (0, 1))
        known = zeros(layer.dtype, "BH")
        if bias is not None:
            last = bias.load([layer.direction, scalar(1), scalar(2), layer.column])
            known = known + last
        if op.linear_before_reset:
            recalled = reset * layer.recalled(2, h, known)
        else:
            recalled = layer.recalled(2, reset * h, known)
        new = layer.activated(1, layer.seen(place, 2) + recalled)
        return [(1 - update) * new + update * h]

    layer.walk([initial_h], step, y, [y_h])


@template(tri.Lstm)
def lower_lstm(
    op: tri.Lstm,
    kernel: KernelBuilder,
    x: Buffer,
    w: Buffer,
    r: Buffer,
    b: Buffer | None,
    sequence_lens: Buffer | None,
    initial_h: Buffer | None,
    initial_c: Buffer | None,
    p: Buffer | None,
    projection: None,
    y: Epilogue,
    y_h: Epilogue,
    y_c: Epilogue,
) -> None:
    layer = _Layer(op, kernel, _inputs(op, kernel, x, w, b, added=4), r, sequence_lens)
    peepholes = None if p is None else p.split((op.directions, 3, op.hidden_size))

    def gate(place: Value, number: int, h: Value, memory: Value) -> Value:
        total = layer.total(place, number, h)
        if peepholes is not None:
            seen = peepholes.load([layer.direction, scalar(number), layer.column])
            total = total + seen * memory
        return layer.activated(0, total)

    def step(place: Value, state: State) -> list[Value]:
        h, memory = state
        taken = gate(place, 0, h, memory)
        kept = 1 - taken if op.input_forget else gate(place, 2, h, memory)
        memory = kept * memory + taken * layer.activated(1, layer.total(place, 3, h))
        return [gate(place, 1, h, memory) * layer.activated(2, memory, clip=False), memory]

    layer.walk([initial_h, initial_c], step, y, [y_h, y_c])


def _inputs(
    op: tri.Recurrent, kernel: KernelBuilder, x: Buffer, w: Buffer, b: Buffer | None, added: int
) -> Buffer:
    """Add a prior kernel: all inputs by their weights, [directions, time, batch, gates * hidden].

    It adds the bias of the inputs, and that of the state to the first `added` gates.
    """
    first = kernel.prior_kernel("inputs")
    x, w = first.import_buffer(x), first.import_buffer(w)
    x = x.transpose((1, 0, 2)) if op.layout == 1 else x
    directions, width = w.shape[:2]
    shape = (directions, *x.shape[:2], width)
    bias = None if b is None else first.import_buffer(b).split((directions, 2, width))

    def finish(number: Value, at: Coordinates) -> Value:
        if bias is None:
            return number
        direction, _, _, column = at.indices()
        both = [bias.load([direction, scalar(half), column]) for half in (0, 1)]
        if added < op.cell.gates:
            both[1] = column.less(added * op.hidden_size).select(both[1], 0)
        return number + both[0] + both[1]

    with first:
        made = first.intermediate(Tensor(shape, compute_dtype(x.dtype)), "inputs")
        batch = (0,) if directions != 1 else ()
        sums = Contraction(
            Epilogue(first, shape, op.y, (), {}, {}, {op.y: made}),
            batch,
            (1, 2),
            (3,),
            left=Matrix(x.broadcast_to((directions, *x.shape)), batch, (1, 2), (3,)),
            right=Matrix(w, batch, (1,), (2,)),
            depth=FlatDepth(x.shape[2]),
            finish=finish,
        )
        contract(first, sums)
    return kernel.import_buffer(made)


class _Layer:
    """Walk along time; `inputs` are multiplied already, `r` are the weights of the state."""

    def __init__(
        self,
        op: tri.Recurrent,
        kernel: KernelBuilder,
        inputs: Buffer,
        r: Buffer,
        sequence_lens: Buffer | None,
    ) -> None:
        self.op, self.kernel = op, kernel
        directions, self.length, self.batch, _ = inputs.shape
        hidden, gates = op.hidden_size, op.cell.gates
        self.dtype = compute_dtype(r.dtype)
        self.inputs = inputs.split((*inputs.shape[:3], gates, hidden))
        self.weights = r.split((directions, gates, hidden, hidden))
        width = max(next_power(hidden), LEAST)
        kernel.warps = 4 if width < MOST_HIDDEN else 8
        kernel.block_of("BH", width)
        self.row = kernel.programs(self.batch).named("row")
        several = directions != 1
        self.direction = kernel.programs(directions).named("direction") if several else scalar(0)
        self.column = kernel.indices(0, "BH", "hidden")
        self.lengths = None if sequence_lens is None else sequence_lens.load([self.row]).cast("i32")
        count = len(op.cell.activations)
        names = op.activations or op.cell.activations * directions
        self.names = [names[i : i + count] for i in range(0, len(names), count)]

    def seen(self, place: Value, gate: int) -> Value:
        """Return what the inputs of a time give to a gate."""
        at = [self.direction, place, self.row, scalar(gate), self.column]
        return self.inputs.load(at).named("seen")

    def recalled(self, gate: int, state: Value, added: Value) -> Value:
        """Return a state by the weights of a gate, and something added."""
        at = [self.direction, scalar(gate), self.column.expand(1), self.column.expand(0)]
        weights = self.weights.load(at).named("weights")
        return added + (state.expand(0) * weights).reduce("sum", 1)

    def total(self, place: Value, gate: int, state: Value) -> Value:
        """Return what inputs and state give to a gate."""
        return self.recalled(gate, state, self.seen(place, gate))

    def activated(self, number: int, x: Value, clip: bool = True) -> Value:
        """Apply an activation of the cell by its number, that of the program's direction."""
        if clip and self.op.clip:
            x = x.maximum(-self.op.clip).minimum(self.op.clip)
        first, *others = [ACTIVATIONS[names[number]] for names in self.names]
        if not others or others[0] is first:
            return first(x)
        return self.direction.equal(0).select(first(x), others[0](x))

    def walk(
        self,
        initial: Sequence[Buffer | None],
        step: Callable[[Value, State], State],
        y: Epilogue,
        lasts: Sequence[Epilogue],
    ) -> None:
        """Compute all steps, and store outputs and last states."""

        def body(time: Value, *state: Value) -> list[Value]:
            place, active = self._place(time)
            new = list(step(place, state))
            shown = new[0]
            if active is not None:
                new = [active.select(n, s) for n, s in zip(new, state, strict=True)]
                shown = active.select(shown, 0)
            at = [place, self.direction, self.row, self.column]
            y.store(shown, [at[dim] for dim in (2, 0, 1, 3)] if self.op.layout == 1 else at)
            return new

        state = loop(0, self.length, 1, [self._initial(each) for each in initial], body, "time")
        for number, last in zip(state, lasts, strict=True):
            last.store(number, self._state_at())

    def _place(self, time: Value) -> tuple[Value, Value | None]:
        """Return which time of the input a step has, and which rows have one."""
        active = None if self.lengths is None else time.less(self.lengths)
        if self.op.direction == "forward":
            return time, active
        end = scalar(self.length) if self.lengths is None else self.lengths
        back = end - 1 - time
        if active is not None:
            back = active.select(back, time)
        if self.op.direction == "reverse":
            return back, active
        return self.direction.equal(1).select(back, time), active

    def _initial(self, given: Buffer | None) -> Value:
        if given is None:
            return zeros(self.dtype, "BH")
        return given.load(self._state_at())

    def _state_at(self) -> list[Value]:
        outer = [self.direction, self.row]
        return [*(outer[::-1] if self.op.layout == 1 else outer), self.column]
