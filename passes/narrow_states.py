"""Store caches in half precision: what a model writes rows to and keeps for its next run."""

from ..dialects import tri
from ..dialects.core.attributes import tensor_of, type_of
from ..dialects.core.errors import CompileError
from ..dialects.core.interface import set_signature
from ..dialects.core.location import inner_location
from ..dialects.core.mlir import ir
from ..dialects.core.module import Module
from ..dialects.core.op import Op, view
from ..dialects.core.states.carried import initial_of
from ..dialects.core.states.declared import State, states_of
from ..dialects.core.tensor import Tensor
from .building import cast
from .core import Pass
from .rewriting import users

FULL, HALVES = "f32", ("f16", "bf16")


class NarrowStates(Pass):
    """Store states of f32 in `to`, which is f16 or bf16, where the model only writes rows of them.

    Inputs and outputs get that type: new rows are rounded when they are written. Attention reads
    the rows as they are, anything else what they are in f32. States that begin with other values
    than zeros stay as they are. With `to` f32, nothing changes.

        %y = tri.tensor_scatter %past, %new     =>   %rows = tri.cast %new to f16
        tri.cached_attention %q, %y, …               %y = tri.tensor_scatter %past, %rows
                                                     tri.cached_attention %q, %y, …
    """

    to: str = FULL

    def run(self, module: Module) -> None:
        if self.to == FULL:
            return
        if self.to not in HALVES:
            raise CompileError(f"pass '{self.name}': to is '{self.to}', must be one of {HALVES}")
        for state in states_of(module):
            scatter = _scatter_of(state)
            if scatter is not None and state.input not in initial_of(module.main):
                _narrow(state, scatter, self.to)
        for op in [op for op in map(view, module.main_block.operations) if op is not None]:
            if isinstance(op, tri.CachedAttention):
                _read_narrow(op)
        set_signature(module.main)


def _scatter_of(state: State) -> tri.TensorScatter | None:
    """Return what makes a state of f32 by writing rows of it, if nothing else reads it."""
    op = view(state.value.owner) if isinstance(state.value, ir.OpResult) else None
    if not isinstance(op, tri.TensorScatter) or op.x != state.argument:
        return None
    readers = list(users(state.argument))
    alone = len(readers) == 1 and op.updates != state.argument
    return op if alone and tensor_of(op.y.type).dtype == FULL else None


def _narrow(state: State, op: tri.TensorScatter, dtype: str) -> None:
    argument: ir.Value = state.argument
    with ir.InsertionPoint(op.operation), inner_location(op.location):
        argument.set_type(type_of(Tensor(tensor_of(argument.type).shape, dtype)))
        rows = cast(op.updates, dtype)
        made = tri.TensorScatter.build(op.x, rows, op.starts, op.counts, **op.attributes)
        wide = cast(made.y, FULL)
    for use in list(op.y.uses):
        owner = use.owner.operation
        owner.operands[use.operand_number] = made.y if owner.name == "func.return" else wide
    op.operation.erase()


def _read_narrow(op: tri.CachedAttention) -> None:
    """Let attention read keys and values before they are widened."""
    k, v = (_before_cast(value) for value in (op.k, op.v))
    if k is None or v is None or tensor_of(k.type).dtype != tensor_of(v.type).dtype:
        return
    casts = [view(value.owner) for value in (op.k, op.v)]
    op.operation.operands[1], op.operation.operands[2] = k, v
    for each in casts:
        if isinstance(each, Op) and not list(each.results[0].uses):
            each.operation.erase()


def _before_cast(value: ir.Value) -> ir.Value | None:
    op = view(value.owner) if isinstance(value, ir.OpResult) else None
    if not isinstance(op, tri.Cast) or tensor_of(op.x.type).dtype not in HALVES:
        return None
    return op.x
