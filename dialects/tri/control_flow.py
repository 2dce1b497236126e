"""Ops that decide at run time what runs: branches and loops, whose bodies are regions."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from ..core.attributes import tensor_of
from ..core.body import check_region
from ..core.data_dependent import DataDependentOp
from ..core.errors import Invalid, Unsupported
from ..core.fields import Operand, Region, Result
from ..core.mlir import ir
from ..core.module import direct_ops
from ..core.op import NO_SIZES, view
from ..core.sizes.atoms import single_symbol
from ..core.sizes.binding import replaced
from ..core.sizes.symbols import Symbol
from ..core.tensor import Array, Tensor, numpy_dtype
from .body_types import check_symbols, check_types, sizes_found, tensors, with_found
from .dialect import TriOp
from .group import Yield, check_closed

RunBody = Callable[[int, Sequence[Array]], Sequence[Array]]
"""Computes the results of a body, by its number, from its arguments."""

UNKNOWN = -1
"""The number of iterations of a loop that decides it at run time."""


class ControlOp(DataDependentOp, TriOp, abstract=True):
    """Base of ops that run their bodies zero or more times.

    Bodies are closed: what they use of the values around them are operands, and their arguments.
    Each ends in `tri.yield`. `result_sizes` are symbols: sizes of results that a run decides.
    """

    result_sizes: tuple[int, ...] = ()

    memory_space: ClassVar[str | None] = "host"  # a session decides what to run
    ends: ClassVar[tuple[str, ...]] = (Yield.op_name,)
    found_sizes = ("result_sizes",)

    @property
    def bodies(self) -> list[ir.Block]:
        """List the block of each region."""
        return [region.blocks[0] for region in self.operation.regions]

    def verify(self) -> None:
        self.check_attributes()
        for region in self.operation.regions:
            check_region(region, *self.ends)
        check_symbols("result_sizes", self.result_sizes, tensors(self.results), "the results")
        self.check_types()
        for block in self.bodies:
            check_closed(block)

    def check_types(self) -> None:
        """Raise Invalid unless operands, results and bodies fit together."""
        raise NotImplementedError

    def define(
        self, operands: Sequence[Any], results: Sequence[Any], sizes: Mapping[str, int]
    ) -> dict[str, int]:
        return sizes_found(self.result_sizes, tensors(self.results), results)


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

    Both bodies take all inputs, and return values of the types of the results; where the size of a
    result is found, one of any size. One of them may end in `tri.fail`: then a run that chooses it
    fails.
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
        inputs, results = tensors(self.inputs), tensors(self.outputs)
        for name, block in zip(self.fields.regions, self.bodies, strict=True):
            check_types(f"{name} takes", tensors(block.arguments), "inputs are", inputs)
            if fault_of(block) is None:
                made = tensors(yielded(block))
                check_types(f"{name} yields", made, "results are", results, self.result_sizes)

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
    a new first axis. Only a loop that knows its iterations scans; the number of outputs of another
    one is found. `carried_sizes` are symbols for sizes of what is carried that change from
    iteration to iteration: the body takes them, and those of the results are found.

    The last outputs, `joined` in number, are joined along their first axis instead of a new one:
    the size of it may differ from iteration to iteration, and that of the result is found.
    """

    trip_count: Operand | None = None
    condition: Operand | None = None
    carried: Sequence[Operand]
    scanned: Sequence[Operand]
    inputs: Sequence[Operand]
    iterations: int = UNKNOWN
    carried_sizes: tuple[int, ...] = ()
    joined: int = 0
    outputs: Sequence[Result]
    body: Region

    quantized = "any"

    @property
    def carried_arguments(self) -> Sequence[ir.Value]:
        """List the arguments of the body for what is carried."""
        return list(self.bodies[0].arguments)[1 : 1 + len(self.carried)]

    @property
    def defined_inside(self) -> tuple[Symbol, ...]:
        return tuple(s for size in self.carried_sizes if (s := single_symbol(size)) is not None)

    @property
    def symbols_used(self) -> frozenset[str]:
        return super().symbols_used - {symbol.name for symbol in self.defined_inside}

    def enter(self, number: int, inputs: Sequence[Any]) -> dict[str, int]:
        arguments = self.carried_arguments
        given = inputs[1 : 1 + len(arguments)]
        return sizes_found(self.carried_sizes, tensors(arguments), given)

    def check_types(self) -> None:
        self._check_end()
        (block,) = self.bodies
        sizes, taken = self.carried_sizes, tensors(self.carried_arguments)
        check_symbols("carried_sizes", sizes, taken, "what the body takes")
        carried = with_found(tensors(self.carried), taken, sizes)
        elements = [_element(each, self.iterations) for each in tensors(self.scanned)]
        wanted = [Tensor((), "i64"), *carried, *elements, *tensors(self.inputs)]
        check_types("body takes", tensors(block.arguments), "must take", wanted)
        condition = [] if self.condition is None else [tensor_of(self.condition.type)]
        first = [*condition, *carried]
        made = tensors(yielded(block))
        check_types("body yields", made[: len(first)], "must yield first", first, sizes)
        self._check_results(carried, made[len(first) :])

    def _check_results(self, carried: Sequence[Tensor], put_out: Sequence[Tensor]) -> None:
        """Check the types of results, where those of what a body takes and puts out are known."""
        results = tensors(self.outputs)
        if not 0 <= self.joined <= len(results) - len(carried):
            raise Invalid(f"joins {self.joined} outputs, has {len(results) - len(carried)}")
        last = len(put_out) - self.joined
        outputs = results[len(carried) : len(results) - self.joined]
        count = self.iterations
        if count == UNKNOWN and (put_out[:last] or outputs):
            if not self.result_sizes or any(
                each.shape[:1] != self.result_sizes[:1] for each in outputs
            ):
                raise Invalid("has outputs, must know the number of its iterations, or find it")
            count = self.result_sizes[0]
        stacked = [Tensor((count, *each.shape), each.dtype) for each in put_out[:last]]
        made = [*carried, *stacked, *put_out[last:]]
        wanted = with_found(made, results, self.result_sizes)
        check_types("results are", results, "must be", wanted)
        joined = results[len(results) - self.joined :] if self.joined else []
        if fixed := [t for t in joined if not t.rank or t.shape[0] not in self.result_sizes]:
            raise Invalid(f"joins outputs to {fixed[0]}, must find the size of its first axis")

    def _check_end(self) -> None:
        if self.trip_count is not None:
            _check_single(self.trip_count, "i64", "trip count")
        if self.condition is not None:
            _check_single(self.condition, "i1", "condition")
        if self.iterations == UNKNOWN:
            if self.scanned:
                raise Invalid("scans, must know the number of its iterations")
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
        none = {symbol.name: 0 for symbol in self.defined}  # nothing was put out
        shapes = [replaced(tensor.shape, {**none, **sizes}) for tensor in results]
        joins = [_stacked] * (len(results) - self.joined) + [_joined] * self.joined
        whole = (
            join(listed, shape).astype(numpy_dtype(tensor.dtype))
            for join, listed, tensor, shape in zip(joins, outputs, results, shapes, strict=True)
        )
        return *carried, *whole


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


def _element(scanned: Tensor, iterations: int) -> Tensor:
    """Return the type of an element along the first axis, of which there are so many."""
    if scanned.shape[:1] != (iterations,):
        raise Invalid(f"scans {scanned}, must have {iterations} elements along its first axis")
    return Tensor(scanned.shape[1:], scanned.dtype)


def _stacked(listed: Sequence[Array], shape: Sequence[int]) -> Array:
    """Stack what iterations put out; `shape` is that of the result where there were none."""
    _check_alike([each.shape for each in listed])
    return np.stack(listed) if listed else np.zeros(shape)


def _joined(listed: Sequence[Array], shape: Sequence[int]) -> Array:
    """Join what iterations put out along its first axis; the rest is as for `_stacked`."""
    _check_alike([each.shape[1:] for each in listed])
    return np.concatenate(listed) if listed else np.zeros(shape)


def _check_alike(shapes: Sequence[tuple[int, ...]]) -> None:
    if len({*shapes}) > 1:
        raise Invalid(f"puts out tensors of shapes {shapes[0]} and {shapes[-1]}, must be of one")


def run_blocks(function: ir.Operation) -> Iterator[ir.Block]:
    """Yield the block of a function, and the bodies in it, each before those inside of it."""
    pending = [function.regions[0].blocks[0]]
    while pending:
        block = pending.pop(0)
        yield block
        control = [op for op in direct_ops(block) if isinstance(op, ControlOp)]
        pending[:0] = [body for op in control for body in op.bodies]
