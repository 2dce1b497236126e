"""Compute in half precision what is in f32."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import cast

import numpy as np

from ..dialects import tri
from ..dialects.core.attributes import tensor_of, type_of
from ..dialects.core.errors import CompileError, Diagnostic, Invalid
from ..dialects.core.location import inner_location, node_names
from ..dialects.core.mlir import ir
from ..dialects.core.module import Module, functions, ops
from ..dialects.core.op import Op, view
from ..dialects.core.tensor import Array, Tensor, is_integer, numpy_dtype
from .constants import hint
from .core import Pass
from .rewriting import LOGS, users

FULL, HALVES = "f32", ("f16", "bf16")

COMPARISONS = (tri.Equal, tri.Less, tri.Greater, tri.LessEqual, tri.GreaterEqual)

KEPT: Mapping[type[Op], str] = {
    **dict.fromkeys(COMPARISONS, "decides otherwise when a threshold is rounded"),
    **dict.fromkeys((tri.CumSum, tri.CumProd), "adds up an error along an axis"),
    **dict.fromkeys((tri.Rnn, tri.Gru, tri.Lstm), "adds up an error from step to step"),
    tri.QuantizedLstm: "adds up an error from step to step",
    tri.RecurrentStack: "adds up an error from step to step",
    tri.LinearAttention: "adds up an error from step to step",
    **dict.fromkeys((tri.ReduceSumSquare, tri.ReduceProd), "leaves the range of half precision"),
    tri.CouplePairs: "adds up an error from step to step",
    tri.Det: "leaves the range of half precision",
    tri.Inverse: "magnifies errors where a matrix is nearly singular",
    tri.Dft: "adds up an error from stage to stage",
    **dict.fromkeys((tri.GridSample, tri.DeformConv), "has coordinates as operands"),
    **dict.fromkeys((tri.RoiAlign, tri.MaxRoiPool), "has coordinates as operands"),
    tri.Group: "is a kernel already",
    **dict.fromkeys((tri.If, tri.Loop), "decides what runs, its bodies stay as they are"),
}
"""The ops that stay in f32, and why. Sums inside of all others are kept in f32 anyway."""

UNCONVERTED: Mapping[type[Op], str] = {tri.Attention: "masks"}
"""The operands that may be in f32 beside half precision, and are, but for constants that it holds.

What is added to scores is often the lowest number of f32, which would become -inf.
"""

MOVES = (tri.Reshape, tri.Transpose, tri.Slice, tri.Concat, tri.Split, tri.Expand)
"""Ops that hand on numbers as they are."""


class LowerPrecision(Pass):
    """Compute in `to`, which is f16 or bf16, what the model computes in f32.

    Inputs and outputs keep their types, weights are converted at compile time. Some ops stay in
    f32: those that lose too much, arithmetic of which the result becomes an integer or whose
    operands all come of integers, as places and masks are, ops on constants that the type does
    not hold, ops that read what became of numbers beyond its range, and those on constants alone,
    of which the result is rounded once. So do ops of the nodes in `full`: names, or patterns such
    as `*norm*`; one that is of no node raises CompileError. With `to` f32, nothing changes.

        %y = tri.exp %x; return %y
            =>   %a = tri.cast %x to f16; %b = tri.exp %a; %y = tri.cast %b to f32; return %y
    """

    to: str = FULL
    full: tuple[str, ...] = ()

    def run(self, module: Module) -> None:
        if self.to == FULL:
            return
        if self.to not in HALVES:
            raise CompileError(f"precision is '{self.to}', must be {FULL}, f16 or bf16")
        self._check_nodes(module)
        with module.operation.context, ir.Location.unknown():
            for function in functions(module.operation):
                _Lowering(self, module, function.regions[0].blocks[0]).run()

    def _check_nodes(self, module: Module) -> None:
        nodes = {node for op in ops(module.operation) for node in node_names(op.location)}
        faults = [
            Diagnostic(
                "", f"keep_f32 has '{pattern}', which is no node of the model, or of none left"
            )
            for pattern in self.full
            if not any(fnmatchcase(node, pattern) for node in nodes)
        ]
        if faults:
            raise CompileError(faults)

    def stays(self, op: Op) -> bool:
        """Return whether an op is of a node that stays in f32."""
        nodes = node_names(op.location) if self.full else ()
        return any(fnmatchcase(node, pattern) for node in nodes for pattern in self.full)


class _Lowering:
    """Know the values of a block in half precision and in full, as far as they were asked for."""

    def __init__(self, rule: LowerPrecision, module: Module, block: ir.Block) -> None:
        self.rule, self.module, self.block, self.to = rule, module, block, rule.to
        self.half: dict[ir.Value, ir.Value] = {}
        self.full: dict[ir.Value, ir.Value] = {}
        self.constant: set[ir.Value] = set()
        self.exact = _exact_values(block)
        self.beyond: set[ir.Value] = set()

    def run(self) -> None:
        for operation in list(self.block.operations):
            op = view(operation)
            reason = self._reason(op)
            if op is not None and _is_step(op) and any(map(self._is_beyond, operation.operands)):
                self.beyond.update(op.results)
            if op is not None and reason:
                for log in LOGS:
                    log.add(self.rule, op, reason)
            if op is not None and reason is None:
                self._lower(op)
            else:
                self._keep(operation.operation)

    def _reason(self, op: Op | None) -> str | None:
        """Return why an op is left as it is, or None when it is computed in half precision."""
        if op is None:
            return "returns what the model does"
        if self.rule.stays(op):
            return "is of a node that stays in f32"
        if op.operation.operands and all(map(self._depends_on_none, op.operation.operands)):
            self.constant.update(op.results)
            return "is computed from constants alone"
        if type(op) in KEPT:
            return KEPT[type(op)]
        unconverted = self._unconverted(op)
        operands = [v for v in op.operation.operands if v not in unconverted]
        read = [v for v in operands if v in self.half or _is_full(v)]
        if not read:
            return f"reads no {FULL}"
        if any(value in self.exact for value in op.results):
            return "computes with whole numbers"
        if any(not self._holds(value) for value in read):
            return f"has a constant that {self.to} does not hold"
        if any(value in self.beyond for value in read):
            return f"reads numbers that {self.to} may not hold"
        return self._refusal(op, unconverted)

    def _unconverted(self, op: Op) -> Sequence[ir.Value]:
        """List the operands that stay in f32 when the op is computed in half precision."""
        name = UNCONVERTED.get(type(op))
        found: Sequence[ir.Value] = getattr(op, name) if name else ()
        return [v for v in found if _is_full(v) and not (_is_constant(v) and self._holds(v))]

    def _is_beyond(self, value: ir.Value) -> bool:
        """Return whether finite numbers of a value may be out of the range of half precision."""
        array = self._constant(value) if _is_full(value) else None
        return value in self.beyond or (array is not None and self._overflows(array))

    def _overflows(self, array: Array) -> bool:
        with np.errstate(over="ignore", under="ignore"):
            half = array.astype(numpy_dtype(self.to)).astype(np.float64)
        return not np.isfinite(half[np.isfinite(array)]).all()

    def _holds(self, value: ir.Value) -> bool:
        """Return whether a constant loses no more than digits; small weights may become zero."""
        array = self._constant(value)
        if array is None:
            return True
        if self._overflows(array):
            return False
        if array.size > 1:
            return True
        finite = np.isfinite(array)
        half = array.astype(numpy_dtype(self.to)).astype(np.float64)
        digits = 2.0 ** -(10 if self.to == "f16" else 7)
        return bool((np.abs(half - array)[finite] <= digits * np.abs(array[finite])).all())

    def _refusal(self, op: Op, unconverted: Sequence[ir.Value]) -> str | None:
        """Return why an op does not work on half precision, or None when all its results do."""
        groups = [self._types(group, unconverted) for group in op.operand_groups()]
        try:
            inferred = op.without_operation().infer(*groups)
        except Invalid as error:
            return str(error)
        types = cast("tuple[Tensor, ...]", inferred if isinstance(inferred, tuple) else (inferred,))
        wanted = tuple(self._lowered(tensor_of(value.type)) for value in op.results)
        return None if types == wanted else f"makes {types[0]}"

    def _types(self, group: object, unconverted: Sequence[ir.Value]) -> object:
        if group is None:
            return None
        if isinstance(group, ir.Value):
            tensor = tensor_of(group.type)
            return tensor if group in unconverted else self._lowered(tensor)
        return [self._types(value, unconverted) for value in cast("list[ir.Value]", group)]

    def _lowered(self, tensor: Tensor) -> Tensor:
        return Tensor(tensor.shape, self.to) if tensor.dtype == FULL else tensor

    # -- changing -----------------------------------------------------------------------------

    def _lower(self, op: Op) -> None:
        unconverted = self._unconverted(op)
        for index, value in enumerate(list(op.operation.operands)):
            if value not in unconverted and (value in self.half or _is_full(value)):
                op.operation.operands[index] = self._half(value, op.operation)
        for value in op.results:
            if _is_full(value):
                value.set_type(type_of(self._lowered(tensor_of(value.type))))
                self.half[value] = value

    def _keep(self, operation: ir.Operation) -> None:
        for index, value in enumerate(list(operation.operands)):
            if value in self.half and not _is_full(value):
                operation.operands[index] = self._full(value, operation)

    def _half(self, value: ir.Value, reader: ir.Operation) -> ir.Value:
        if value not in self.half:
            with ir.InsertionPoint(reader):
                self.half[value] = self._converted(value)
        return self.half[value]

    def _full(self, value: ir.Value, reader: ir.Operation) -> ir.Value:
        if value not in self.full:
            location = inner_location(value.location)
            with ir.InsertionPoint(reader):
                self.full[value] = tri.Cast.build(value, to=FULL, loc=location).y
        return self.full[value]

    def _converted(self, value: ir.Value) -> ir.Value:
        location = inner_location(value.location)
        array = self._constant(value)
        if array is None:
            return tri.Cast.build(value, to=self.to, loc=location).y
        half = array.astype(numpy_dtype(self.to))
        op = view(value.owner)
        assert op is not None
        name = op.name if isinstance(op, tri.Weight) else hint(op)
        return tri.build_constant(self.module, half, f"{name}.{self.to}", location).results[0]

    def _depends_on_none(self, value: ir.Value) -> bool:
        """Return whether a value depends on no input."""
        return value in self.constant or _is_constant(value)

    def _constant(self, value: ir.Value) -> Array | None:
        op = view(value.owner) if isinstance(value, ir.OpResult) else None
        if isinstance(op, tri.Weight):
            return self.module.weights.get(op.name)
        return op.value if isinstance(op, tri.Constant) else None


def _is_full(value: ir.Value) -> bool:
    return tensor_of(value.type).dtype == FULL


def _exact_values(block: ir.Block) -> set[ir.Value]:
    """Return what comes of integers alone, and what only becomes integers, by simple steps."""
    steps = [op for op in map(view, block.operations) if op is not None and _is_step(op)]
    exact: set[ir.Value] = set()
    for op in steps:
        read = [v for v in op.operation.operands if not _is_constant(v)]
        if read and all(v in exact or _is_whole(v) for v in read):
            exact.update(op.results)
    for op in reversed(steps):
        readers = [view(user) for value in op.results for user in users(value)]
        read = bool(readers) and all(_is_exact(reader, exact) for reader in readers)
        if read or all(map(_is_whole, op.results)):
            exact.update(op.results)
    return exact


def _is_step(op: Op) -> bool:
    return op.elementwise or isinstance(op, MOVES)


def _is_exact(op: Op | None, exact: set[ir.Value]) -> bool:
    return op is not None and not op.terminator and all(v in exact for v in op.results)


def _is_whole(value: ir.Value) -> bool:
    return is_integer(tensor_of(value.type).dtype)


def _is_constant(value: ir.Value) -> bool:
    op = view(value.owner) if isinstance(value, ir.OpResult) else None
    return isinstance(op, (tri.Constant, tri.Weight))
