"""Compute at compile time what does not depend on any input."""

from collections.abc import Mapping, Sequence

from ..dialects import tri
from ..dialects.core.attributes import tensor_of
from ..dialects.core.interpret import compute, lookup
from ..dialects.core.location import inner_location
from ..dialects.core.mlir import ir
from ..dialects.core.module import Module, ops
from ..dialects.core.op import Op
from ..dialects.core.quantized import is_quantized
from ..dialects.core.tensor import Array
from .constants import hint
from .core import Pass
from .rewriting import uses

Known = Mapping[ir.Value, Array]


class FoldConstants(Pass):
    """Evaluate ops whose operands are all constants or weights.

    Results up to 1 KiB are written in the IR, larger ones become weights. An op stays when its
    results are larger than `growth` times its operands and `size_budget` bytes: expanding is cheap
    at run time. An op also stays when its results are larger than `growth` times all constants of
    the module and `size_budget`: a chain of ops that each double a constant has no other bound.
    Ops on weights of which the module holds no data stay, too, and so do quantised weights and
    their scales.

        %c = tri.constant {[1.0, 4.0]}; %y = tri.sqrt %c   =>   %y = tri.constant {[1.0, 2.0]}
    """

    size_budget: int = 64 * 1024
    growth: int = 4

    def run(self, module: Module) -> None:
        known: dict[ir.Value, Array] = {}
        found = ops(module.operation)
        most = self.size_budget + self.growth * _constant_bytes(found, module.weights)
        folded = [op for op in found if self._evaluate(op, known, module.weights, most)]
        with module.operation.context:
            for op in reversed(folded):
                _replace(op, known, module)

    def _evaluate(
        self, op: Op, known: dict[ir.Value, Array], weights: Mapping[str, Array], most: int
    ) -> bool:
        """Find out the results of an op if they are constant; say if it is to be folded."""
        if isinstance(op, tri.Weight):
            if op.name in weights:
                known[op.y] = weights[op.name]
            return False
        if isinstance(op, tri.Constant):
            known[op.y] = op.value
            return False
        if not self._foldable(op, known, most):
            return False
        results = compute(op, [lookup(group, known) for group in op.operand_groups()], weights)
        known.update(zip(op.results, results, strict=True))
        return True

    def _foldable(self, op: Op, known: Known, most: int) -> bool:
        operands = list(op.operation.operands)
        if not op.pure or op.terminator or op.fields.regions:
            return False
        if any(operand not in known for operand in operands):
            return False
        if isinstance(op, tri.Dequantize) or any(_is_quantized(value) for value in op.results):
            return False
        taken = sum(known[operand].nbytes for operand in dict.fromkeys(operands))
        made = sum(tensor_of(value.type).size_bytes for value in op.results)
        return made <= min(taken * self.growth + self.size_budget, most)


def _constant_bytes(found: Sequence[Op], weights: Mapping[str, Array]) -> int:
    """Count the bytes of the constants of a module, before anything is folded."""
    small = sum(tensor_of(op.y.type).size_bytes for op in found if isinstance(op, tri.Constant))
    return small + sum(array.nbytes for array in weights.values())


def _is_quantized(value: ir.Value) -> bool:
    return is_quantized(tensor_of(value.type).dtype)


def _replace(op: Op, known: Known, module: Module) -> None:
    """Put constants where results of a folded op are still used, and erase it."""
    used = [(index, value) for index, value in enumerate(op.results) if uses(value)]
    location = op.location if len(op.results) == 1 else inner_location(op.location)
    for index, value in used:
        with ir.InsertionPoint(op.operation), location:
            constant = tri.build_constant(module, known[value], hint(op, index))
        value.replace_all_uses_with(constant.results[0])
    op.operation.erase()
