"""Select the ops on integers that an accelerator has packets for."""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from ....dialects import tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.errors import Invalid
from ....dialects.core.location import node_names
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module, functions, ops
from ....dialects.core.op import Op
from ....dialects.core.tensor import is_float
from ....dialects.dla.dialect import TensorOp
from ....passes.core import Pass
from ....passes.rewriting import NoMatch, Pattern, Rewriter, rewrite
from ...registry import find_target
from ..core.description import Description
from ..registry import VANILLA, Configuration
from .elementwise import OPERATORS, is_lookup, select_copy, select_elements, select_lookup
from .moves import select_concat, select_resize, select_slice
from .pools import (
    is_requantized,
    select_average,
    select_counted_average,
    select_max_pool,
    select_mean,
    select_rescaled_max_pool,
)
from .products import select_conv, select_product
from .requantized import RequantizeRules
from .selection import HasRules, Rule, Rules, Selection

BYTES = ("i8", "ui8")

SUMS = (tri.Requantize, tri.RequantizeMean)
"""Ops that finish sums."""


QUANTIZED = (TensorOp, tri.Quantize, tri.Dequantize, tri.Requantize, tri.StorageCast)
"""Ops that only a quantised model has."""


class SelectDla(Pass):
    """Replace ops on integers by those of an accelerator, on images [N, rows, columns, channels].

    Limits, roundings and bits are those of its description. Rules of the target's own are tried
    before the shared ones. Refusals are a result of the pass: `refusals` of the module has the
    reason of each refused node.

        tri.requantize (tri.conv (%x - zero : i32), (%w : i32), %b)
            =>   tri.transpose (dla.conv (tri.transpose %x), %w', %b)
    """

    target: Configuration = VANILLA

    def run(self, module: Module) -> None:
        owner = find_target(self.target.name)
        own: Rules = owner.rules if isinstance(owner, HasRules) else {}
        select(module, self.target.name, _Select(self.target.description, own))


def select(module: Module, name: str, pattern: "SelectOps") -> None:
    """Select the ops of a pattern, and note in the module why the others are refused."""
    rewrite(module, pattern)
    before = module.refusals.get(name) if pattern.makes != BYTES else None
    before = _unquantized(module, name, pattern.remedy) if before is None else before
    made = _nodes_of(module, pattern.makes) if pattern.makes != BYTES else set[str]()
    kept = {node: why for node, why in before.items() if node not in made}
    module.refusals[name] = {**kept, **pattern.by_node(module)}


def _nodes_of(module: Module, dtypes: Sequence[str]) -> set[str]:
    """Return the nodes of ops that make values of some types."""
    return {
        node
        for op in ops(module.operation)
        if any(tensor_of(value.type).dtype in dtypes for value in op.results)
        for node in node_names(op.location)
    }


def _unquantized(module: Module, name: str, remedy: str) -> dict[str, str]:
    """Return a refusal for each node on floats in functions that are not quantised at all."""
    found: dict[str, str] = {}
    for function in functions(module.operation):
        members = ops(function)
        if any(isinstance(op, QUANTIZED) for op in members):
            continue
        for op in members:
            if dtype := first_float(op):
                reason = f"{name} computes on integers, not on {dtype}: {remedy}"
                found.update(dict.fromkeys(node_names(op.location), reason))
    return found


def first_float(op: Op) -> str | None:
    """Return the first type of floats among the operands and results of an op, or None."""
    types = (tensor_of(value.type).dtype for value in (*op.operation.operands, *op.results))
    return next((dtype for dtype in types if is_float(dtype)), None)


class SelectOps(Pattern):
    """Try rules on ops that make bytes; `refused` has the reason of the last rule for each op."""

    makes: ClassVar[tuple[str, ...]] = BYTES
    remedy = "quantise the model first"

    def __init__(self, roots: Sequence[type[Op]]) -> None:
        self.root = tuple(dict.fromkeys(roots))
        self.refused: dict[ir.Value, str] = {}

    def selection(self, op: Op, rewriter: Rewriter) -> Any:
        """Return the selection that rules get."""
        raise NotImplementedError

    def rules(self, op: Op, selection: Any) -> Iterator[Rule]:
        """Yield the rules for an op; the reason of the last one is the one that users see."""
        raise NotImplementedError

    def by_node(self, module: Module) -> dict[str, str]:
        """Return why the ops that remain were refused, by node."""
        found: dict[str, str] = {}
        for op in ops(module.operation):
            if isinstance(op, self.root) and op.results[0] in self.refused:
                reason = self.refused[op.results[0]]
                found.update(dict.fromkeys(node_names(op.location), reason))
        return found

    def rewrite(self, op: Op, rewriter: Rewriter) -> None:
        if tensor_of(op.results[0].type).dtype not in self.makes:
            raise NoMatch(f"makes no {' or '.join(self.makes)}")
        selection = self.selection(op, rewriter)
        refusals: list[str] = []
        for rule in self.rules(op, selection):
            try:
                return rule(op, selection)
            except (NoMatch, Invalid) as reason:
                refusals.append(str(reason))
        self.refused[op.results[0]] = refusals[-1]
        raise NoMatch("; ".join(refusals))


class _Select(SelectOps):
    shared = (*SUMS, tri.MaxPool, tri.Gather, tri.Concat, tri.Slice, tri.Resize)

    def __init__(self, description: Description, own: Rules) -> None:
        super().__init__([*self.shared, *own])
        self.description = description
        self.own = own

    def selection(self, op: Op, rewriter: Rewriter) -> Selection:
        return Selection(self.description, rewriter, op)

    def rules(self, op: Op, selection: Any) -> Iterator[Rule]:
        yield from self.own.get(type(op), ())
        if isinstance(op, self.shared):
            # Last: its reason needs no knowledge of the others.
            yield _rule(op, selection)


def _rule(op: Op, selection: Selection) -> Rule:
    match op:
        case tri.MaxPool():
            if is_requantized(op):
                raise NoMatch("is brought to another scale, which the same packet does")
            return select_max_pool
        case tri.Gather():
            if not is_lookup(op):
                raise NoMatch("looks up no bytes in a table of all")
            return select_lookup
        case tri.Concat():
            return select_concat
        case tri.Slice():
            return select_slice
        case tri.Resize():
            return select_resize
        case tri.RequantizeMean():
            return select_counted_average
        case tri.Requantize():
            return REQUANTIZE.of(op, selection)
        case _:
            raise NoMatch("is no root")


def _select_scale(op: tri.Requantize, selection: Selection) -> None:
    """Select another scale: of the greatest values of windows, or of any values."""
    try:
        select_rescaled_max_pool(op, selection)
    except NoMatch:
        select_copy(op, selection)


REQUANTIZE = RequantizeRules(
    conv=select_conv,
    average=select_average,
    product=select_product,
    mean=select_mean,
    elements=dict.fromkeys(OPERATORS, select_elements),
    scale=_select_scale,
)
