"""What a requantisation finishes: the rules for sums and products, and the terms of these."""

from collections.abc import Mapping
from dataclasses import dataclass

from ....dialects import tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.mlir import ir
from ....dialects.core.op import Op
from ....dialects.core.tensor import Shape
from ....passes.rewriting import NoMatch
from .pools import sums_windows
from .selection import OpSelection, QuantizedOperand, Rule


@dataclass(frozen=True)
class RequantizeRules:
    """The rules of an accelerator, by what is requantised; `elements` are of binary ops."""

    conv: Rule
    average: Rule
    product: Rule
    mean: Rule
    elements: Mapping[type[Op | None], Rule]
    scale: Rule
    transposed: Rule | None = None

    def of(self, op: tri.Requantize, selection: OpSelection) -> Rule:
        """Return the rule for what a requantisation finishes."""
        made = selection.rewriter.find_producer(op.x)
        match made:
            case tri.Conv():
                return self.average if sums_windows(made, selection) else self.conv
            case tri.ConvTranspose():
                if self.transposed is None:
                    name = selection.description.name
                    raise NoMatch(f"{name} has no transposed convolutions")
                return self.transposed
            case tri.MatMul():
                return self.product
            case tri.ReduceSum():
                return self.mean
            case tri.Add() if isinstance(selection.rewriter.find_producer(made.a), tri.MatMul):
                return self.product
            case _:
                return self.elements.get(type(made), self.scale)


@dataclass(frozen=True)
class Term:
    """An operand of a binary op: bytes, a factor, and the ops that it covers."""

    bytes: QuantizedOperand
    multiplier: int
    ops: tuple[Op, ...]

    @property
    def shape(self) -> Shape:
        return tensor_of(self.bytes.value.type).shape

    @staticmethod
    def of(value: ir.Value, selection: OpSelection) -> "Term":
        """Return an operand of a product: bytes without a factor."""
        found = selection.quantized_operand(value)
        return Term(found, 1, found.ops)

    @staticmethod
    def scaled(value: ir.Value, selection: OpSelection) -> "Term":
        """Return a term of a sum; raise NoMatch for a factor that is not a number from 0 on."""
        made = selection.rewriter.find_producer(value)
        if not isinstance(made, tri.Mul):
            return Term.of(value, selection)
        multiplier = selection.rewriter.find_scalar(made.b)
        if multiplier is None or multiplier < 0:
            raise NoMatch(f"{selection.description.name} multiplies terms by numbers from 0 on")
        found = selection.quantized_operand(made.a)
        return Term(found, int(multiplier), (*found.ops, made))
