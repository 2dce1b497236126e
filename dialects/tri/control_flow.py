"""Ops that decide at run time what runs: branches and loops, whose bodies are regions."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from ..core.attributes import tensor_of
from ..core.body import check_region
from ..core.errors import Invalid, Unsupported
from ..core.fields import Operand, Region, Result
from ..core.mlir import ir
from ..core.module import direct_ops
from ..core.op import NO_SIZES, view
from ..core.sizes.binding import replaced
from ..core.tensor import Array, Tensor, numpy_dtype
from .dialect import TriOp
from .group import Yield, check_closed

RunBody = Callable[[int, Sequence[Array]], Sequence[Array]]
"""Computes the results of a body, by its number, from its arguments."""

UNKNOWN = -1
"""The number of iterations of a loop that decides it at run time."""


class ControlOp(TriOp, abstract=True):
    """Base of ops that run their bodies zero or more times.

    Bodies are closed: what they use of the values around them are operands, and their arguments.
    Each ends in `tri.yield`.
    """

    memory_space: ClassVar[str | None] = "host"  # a session decides what to run
    ends: ClassVar[tuple[str, ...]] = (Yield.op_name,)

    @property
    def bodies(self) -> list[ir.Block]:
        """List the block of each region."""
        return [region.blocks[0] for region in self.operation.regions]

    def verify(self) -> None:
        self.check_attributes()
        for region in self.operation.regions:
            check_region(region, *self.ends)
        self.check_types()
        for block in self.bodies:
            check_closed(block)

    def check_types(self) -> None:
        """Raise Invalid unless operands, results and bodies fit together."""
        raise NotImplementedError


class Fail(TriOp):
    """End a body that cannot run; `message` says why."""

    message: str

    terminator = True

    def infer(self) -> tuple[()]:
        if not self.message:
            raise Invalid("has no message, must say why the body cannot run")
        return ()


class If(ControlOp):
    """Run `then_body` if the condition is true, `else_body` if not. Source: ONNX `If`.

    Both bodies take all inputs, and return values of the types of the results. One of them may end
    in `tri.fail`: then a run that chooses it fails.
    """

    condition: Operand
    inputs: Sequence[Operand]
    outputs: Sequence[Result]
    then_body: Region
    else_body: Region

    quantized = "any"
    ends: ClassVar[tuple[str, ...]] = (Yield.op_name, Fail.op_name)

    def check_types(self) -> None:
        _check_single(self.condition, "i1", "condition")
        if None not in map(fault_of, self.bodies):
            raise Invalid("has two bodies that fail, must have one that does not")
        for name, block in zip(self.fields.regions, self.bodies, strict=True):
            _check_same(f"{name} takes", block.arguments, "inputs are", self.inputs)
            if fault_of(block) is None:
                _check_same(f"{name} yields", yielded(block), "results are", self.outputs)

    def run_bodies(
        self, groups: Sequence[Any], run: RunBody, sizes: Mapping[str, int] = NO_SIZES
    ) -> Sequence[Array]:
        condition, inputs = groups
        chosen = 0 if condition.reshape(()) else 1
        if (fault := fault_of(self.bodies[chosen])) is not None:
            raise Unsupported(fault)
        return run(chosen, inputs)


class Loop(ControlOp):
    """Run the body again and again. Source: ONNX `Loop`, `Scan`.

    It ends after `trip_count` iterations, and before one for which the condition is false; it has
    none of the two where it has a known number of `iterations`.

    The body takes the number of the iteration (a scalar of i64), what is carried, an element of
    each tensor that is `scanned` along its first axis, and the inputs, which are the same each
    time. It returns the condition for the next iteration, if the loop has one, what is carried to
    it, and outputs. The results are what was carried last, then the outputs of all iterations along
    a new first axis. Only a loop that knows its iterations scans, or has outputs.
    """

    trip_count: Operand | None = None
    condition: Operand | None = None
    carried: Sequence[Operand]
    scanned: Sequence[Operand]
    inputs: Sequence[Operand]
    iterations: int = UNKNOWN
    outputs: Sequence[Result]
    body: Region

    quantized = "any"

    def check_types(self) -> None:
        self._check_end()
        block, carried = self.bodies[0], list(self.carried)
        elements = [_spell_element(x, self.iterations) for x in self.scanned]
        wanted = ["tensor<i64>", *_spell(carried), *elements, *_spell(self.inputs)]
        _check_spelt("body takes", _spell(block.arguments), "must take", wanted)
        made = _spell(yielded(block))
        condition = [] if self.condition is None else [str(self.condition.type)]
        first = [*condition, *_spell(carried)]
        _check_spelt("body yields", made[: len(first)], "must yield first", first)
        put_out = yielded(block)[len(first) :]
        stacked = [_spell_stacked(value, self.iterations) for value in put_out]
        results = [*_spell(carried), *stacked]
        _check_spelt("results are", _spell(self.outputs), "must be", results)

    def _check_end(self) -> None:
        if self.trip_count is not None:
            _check_single(self.trip_count, "i64", "trip count")
        if self.condition is not None:
            _check_single(self.condition, "i1", "condition")
        if self.iterations == UNKNOWN:
            if self.scanned or len(self.outputs) != len(self.carried):
                raise Invalid("scans or has outputs, must know the number of its iterations")
            if self.trip_count is None and self.condition is None:
                raise Invalid("never ends, must have a trip count, a condition or iterations")
        elif self.iterations < 0:
            raise Invalid(f"has {self.iterations} iterations, must be at least 0, or {UNKNOWN}")
        elif self.trip_count is not None or self.condition is not None:
            raise Invalid("has a trip count or a condition, and iterations, must have one")

    def run_bodies(
        self, groups: Sequence[Any], run: RunBody, sizes: Mapping[str, int] = NO_SIZES
    ) -> Sequence[Array]:
        trips, going, carried, scanned, inputs = groups
        conditions = 0 if going is None else 1
        limit = _limit(trips, replaced(self.iterations, sizes))
        outputs: list[list[Array]] = [[] for _ in self.outputs[len(carried) :]]
        number = 0
        while number < limit and (going is None or going.reshape(())):
            elements = [x[number] for x in scanned]
            made = run(0, [np.array(number), *carried, *elements, *inputs])
            going = made[0] if conditions else None
            carried = made[conditions : conditions + len(carried)]
            for listed, array in zip(outputs, made[conditions + len(carried) :], strict=True):
                listed.append(array)
            number += 1
        results = [tensor_of(value.type) for value in self.outputs[len(carried) :]]
        shapes = [replaced(tensor.shape, sizes) for tensor in results]
        stacked = (
            np.array(listed, numpy_dtype(tensor.dtype)).reshape(shape)
            for listed, tensor, shape in zip(outputs, results, shapes, strict=True)
        )
        return *carried, *stacked


def yielded(block: ir.Block) -> Sequence[ir.Value]:
    """Return what a body returns; nothing for one that fails."""
    return list(block.operations[len(block.operations) - 1].operation.operands)


def fault_of(block: ir.Block) -> str | None:
    """Return why a body cannot run; None for one that can."""
    end = view(block.operations[len(block.operations) - 1])
    return end.message if isinstance(end, Fail) else None


def _limit(trips: Array | None, iterations: int) -> int:
    if iterations != UNKNOWN:
        return iterations
    return np.iinfo(np.int64).max if trips is None else int(trips.reshape(()))


def _check_single(value: ir.Value, dtype: str, what: str) -> None:
    tensor = tensor_of(value.type)
    if tensor.dtype != dtype or tensor.size != 1:
        raise Invalid(f"{what} is {tensor}, must be one {dtype}")


def _spell(values: Sequence[ir.Value]) -> list[str]:
    return [str(value.type) for value in values]


def _check_same(what: str, has: Sequence[ir.Value], wanted: str, must: Sequence[ir.Value]) -> None:
    _check_spelt(what, _spell(has), wanted, _spell(must))


def _check_spelt(what: str, has: Sequence[str], wanted: str, must: Sequence[str]) -> None:
    if list(has) != list(must):
        raise Invalid(f"{what} ({', '.join(has)}), {wanted} ({', '.join(must)})")


def _spell_element(scanned: ir.Value, iterations: int) -> str:
    """Spell the type of an element along the first axis, of which there are so many."""
    tensor = tensor_of(scanned.type)
    if tensor.shape[:1] != (iterations,):
        raise Invalid(f"scans {tensor}, must have {iterations} elements along its first axis")
    return str(Tensor(tensor.shape[1:], tensor.dtype))


def _spell_stacked(output: ir.Value, iterations: int) -> str:
    tensor = tensor_of(output.type)
    return str(Tensor((iterations, *tensor.shape), tensor.dtype))


def run_blocks(function: ir.Operation) -> Iterator[ir.Block]:
    """Yield the block of a function, and the bodies in it, each before those inside of it."""
    pending = [function.regions[0].blocks[0]]
    while pending:
        block = pending.pop(0)
        yield block
        control = [op for op in direct_ops(block) if isinstance(op, ControlOp)]
        pending[:0] = [body for op in control for body in op.bodies]
