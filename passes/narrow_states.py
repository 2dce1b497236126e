"""Store caches in fewer bits: what a model writes rows to and keeps for its next run."""

from collections.abc import Mapping
from dataclasses import dataclass

from ..dialects import tri
from ..dialects.core.attributes import tensor_of, type_of
from ..dialects.core.errors import CompileError
from ..dialects.core.location import inner_location
from ..dialects.core.mlir import ir
from ..dialects.core.module import Module
from ..dialects.core.op import view
from ..dialects.core.states.carried import initial_of
from ..dialects.core.states.declared import State, states_of
from ..dialects.core.tensor import Tensor, normalize_axis
from .building import cast, scaled
from .core import Pass
from .rewriting import users
from .scale_ports import ScalePorts

FULL, HALVES, BYTES = "f32", ("f16", "bf16"), "i8"


class NarrowStates(Pass):
    """Store states of f32 in `to`, f16, bf16 or i8, where the model only writes rows of them.

    Inputs and outputs get that type: new rows are rounded when they are written. Attention reads
    the rows as they are, anything else what they are in f32. States that begin with other values
    than zeros stay as they are. With `to` f32, nothing changes.

        %y = tri.tensor_scatter %past, %new     =>   %rows = tri.cast %new to f16
        tri.cached_attention %q, %y, …               %y = tri.tensor_scatter %past, %rows
                                                     tri.cached_attention %q, %y, …

    Rows of bytes, along the last axis, have a scale each. The scales are states, too: the input
    and the output have the names of the others with `.scales` behind them.

        %rows, %new_scales = tri.quantize_rows %new
        %y = tri.tensor_scatter %past, %rows
        %scales = tri.tensor_scatter %past_scales, %new_scales
        tri.cached_attention %q, %y, …, %scales, …
    """

    to: str = FULL

    def run(self, module: Module) -> None:
        if self.to == FULL:
            return
        if self.to not in (*HALVES, BYTES):
            known = (*HALVES, BYTES)
            raise CompileError(f"pass '{self.name}': to is '{self.to}', must be one of {known}")
        ports, stored = ScalePorts(module), dict[ir.Value, Stored]()
        for state in states_of(module):
            scatter = _scatter_of(state)
            if scatter is None or state.input in initial_of(module.main):
                continue
            if self.to != BYTES:
                _narrow(state, scatter, self.to, stored)
            elif _has_whole_rows(scatter):
                _quantize(state, scatter, ports, stored)
        for op in [op for op in map(view, module.main_block.operations) if op is not None]:
            if isinstance(op, tri.CachedAttention):
                _read_narrow(op, stored)
        for wide, kept in stored.items():
            _erase_unused(wide, kept.numbers)
        ports.finish()


@dataclass(frozen=True)
class Stored:
    """Hold what a state is stored as, in place of f32; only bytes have scales."""

    numbers: ir.Value
    scales: ir.Value | None = None


def _scatter_of(state: State) -> tri.TensorScatter | None:
    """Return what makes a state of f32 by writing rows of it, if nothing else reads it."""
    op = view(state.value.owner) if isinstance(state.value, ir.OpResult) else None
    if not isinstance(op, tri.TensorScatter) or op.x != state.argument:
        return None
    readers = list(users(state.argument))
    alone = len(readers) == 1 and op.updates != state.argument
    return op if alone and tensor_of(op.y.type).dtype == FULL else None


def _has_whole_rows(op: tri.TensorScatter) -> bool:
    """Return whether all of the last axis is written at once."""
    rank = tensor_of(op.x.type).rank
    return normalize_axis(op.axis, rank) != rank - 1


def _narrow(
    state: State, op: tri.TensorScatter, dtype: str, stored: dict[ir.Value, Stored]
) -> None:
    with ir.InsertionPoint(op.operation), inner_location(op.location):
        _set_dtype(state.argument, dtype)
        rows = cast(op.updates, dtype)
        made = tri.TensorScatter.build(op.x, rows, op.starts, op.counts, **op.attributes)
        wide = cast(made.y, FULL)
    stored[wide] = Stored(made.y)
    _replace(op, made.y, wide)


def _quantize(
    state: State, op: tri.TensorScatter, ports: ScalePorts, stored: dict[ir.Value, Stored]
) -> None:
    type_ = tensor_of(op.x.type)
    axis, circular = normalize_axis(op.axis, type_.rank), op.circular
    with ir.InsertionPoint(op.operation), inner_location(op.location):
        _set_dtype(state.argument, BYTES)
        past = ports.add_input(state, Tensor(type_.shape[:-1], FULL))
        rows = tri.QuantizeRows.build(op.updates)
        made, scales = (
            tri.TensorScatter.build(x, new, op.starts, op.counts, axis=axis, circular=circular).y
            for x, new in ((op.x, rows.numbers), (past, rows.scales))
        )
        wide = scaled(made, scales)
    ports.add_output(state, scales)
    stored[wide] = Stored(made, scales)
    _replace(op, made, wide)


def _set_dtype(argument: ir.Value, dtype: str) -> None:
    argument.set_type(type_of(Tensor(tensor_of(argument.type).shape, dtype)))


def _replace(op: tri.TensorScatter, stored: ir.Value, wide: ir.Value) -> None:
    """Return what is stored, and let all others read it in f32."""
    for use in list(op.y.uses):
        owner = use.owner.operation
        owner.operands[use.operand_number] = stored if owner.name == "func.return" else wide
    op.operation.erase()


def _read_narrow(op: tri.CachedAttention, stored: Mapping[ir.Value, Stored]) -> None:
    """Let attention read keys and values as they are stored."""
    k, v = stored.get(op.k), stored.get(op.v)
    if k is None or v is None:
        return
    with ir.InsertionPoint(op.operation), op.location:
        made = tri.CachedAttention.build(
            op.q, k.numbers, v.numbers, op.starts, k.scales, v.scales, **op.attributes
        )
    op.y.replace_all_uses_with(made.y)
    op.operation.erase()


def _erase_unused(value: ir.Value, until: ir.Value) -> None:
    """Erase what makes a value of another one, as far as nothing uses it."""
    if value == until or list(value.uses):
        return
    made = value.owner
    before = list(made.operands)
    made.erase()
    for each in before:
        if isinstance(each, ir.OpResult) and each.owner != until.owner:
            _erase_unused(each, until)
