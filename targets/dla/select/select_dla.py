"""Give an accelerator the ops on integers that it has packets for."""

from collections.abc import Iterator
from pathlib import Path

from ....dialects import tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.errors import Invalid
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module
from ....dialects.core.op import Op
from ....passes.core import Pass
from ....passes.rewriting import NoMatch, Pattern, Rewriter, rewrite
from ...registry import find_target
from ..core.description import Description
from ..registry import find_instructions
from .elementwise import OPERATORS, is_lookup, select_copy, select_elements, select_lookup
from .moves import select_concat, select_resize, select_slice
from .pools import (
    is_requantized,
    select_average,
    select_counted_average,
    select_max_pool,
    select_mean,
    select_rescaled_max_pool,
    sums_windows,
)
from .products import select_conv, select_product
from .selection import Rule, Rules, Selection

REFUSAL = "dla.refusal"
"""The attribute of an op that says why the accelerator does not have it."""

BYTES = ("i8", "ui8")

SUMS = (tri.Requantize, tri.RequantizeMean)
"""Ops that finish sums."""


class SelectDla(Pass):
    """Replace ops on integers by those of an accelerator, on images [N, rows, columns, channels].

    A description says what there is: limits, roundings, bits. It is that of `target`, or is read
    from the file `description`. What it refuses stays, and says why. Rules of the target's own are
    asked first.

        tri.requantize (tri.conv (%x - zero : i32), (%w : i32), %b)
            =>   tri.transpose (dla.conv (tri.transpose %x), %w', %b)
        tri.concat %a, %b   =>   tri.concat %a, %b {dla.refusal = "vanilla joins parts of …"}
    """

    target: str = "vanilla"
    description: str = ""

    def run(self, module: Module) -> None:
        file = Path(self.description) if self.description else None
        description = find_instructions(self.target, file).description
        rewrite(module, _Select(description, _own_rules(self.target)))


def _own_rules(name: str) -> Rules:
    from ..accelerator import Accelerator  # which has this pass among its own

    target = find_target(name)
    return target.rules if isinstance(target, Accelerator) else {}


class _Select(Pattern):
    shared = (*SUMS, tri.MaxPool, tri.Gather, tri.Concat, tri.Slice, tri.Resize)

    def __init__(self, description: Description, own: Rules) -> None:
        self.description = description
        self.own = own
        self.root = tuple(dict.fromkeys([*self.shared, *own]))

    def rewrite(self, op: Op, rewriter: Rewriter) -> None:
        if tensor_of(op.results[0].type).dtype not in BYTES:
            raise NoMatch("makes no bytes")
        selection = Selection(self.description, rewriter, op)
        refusals: list[str] = []
        for rule in self._rules(op, selection):
            try:
                return rule(op, selection)
            except (NoMatch, Invalid) as reason:
                refusals.append(str(reason))
        # The last rule is that of all accelerators, if they have one: its reason is the plain one.
        op.operation.attributes[REFUSAL] = ir.StringAttr.get(refusals[-1])
        raise NoMatch("; ".join(refusals))

    def _rules(self, op: Op, selection: Selection) -> Iterator[Rule]:
        yield from self.own.get(type(op), ())
        if isinstance(op, self.shared):
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
            return _rule_of_sums(op, selection)
        case _:
            raise NoMatch("is no root")


def _rule_of_sums(op: tri.Requantize, selection: Selection) -> Rule:
    """Return the rule for what a requantisation finishes."""
    made = selection.rewriter.find_producer(op.x)
    match made:
        case tri.Conv():
            return select_average if sums_windows(made, selection) else select_conv
        case tri.MatMul():
            return select_product
        case tri.ReduceSum():
            return select_mean
        case tri.Add() if _adds_bias(made, selection):
            return select_product
        case _ if type(made) in OPERATORS:
            return select_elements
        case _:
            return _select_scale


def _adds_bias(op: tri.Add, selection: Selection) -> bool:
    return isinstance(selection.rewriter.find_producer(op.a), tri.MatMul)


def _select_scale(op: tri.Requantize, selection: Selection) -> None:
    """Select another scale: of the greatest values of windows, or of any values."""
    try:
        select_rescaled_max_pool(op, selection)
    except NoMatch:
        select_copy(op, selection)
