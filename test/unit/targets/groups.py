"""Build groups of one op, from cases: an op with its operands and attributes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from trivium.dialects import tri
from trivium.dialects.core.attributes import tensor_of, type_of
from trivium.dialects.core.errors import Invalid, Undecided
from trivium.dialects.core.mlir import ir
from trivium.dialects.core.module import Module, ops
from trivium.dialects.core.op import Op
from trivium.dialects.core.sizes.substitution import evaluate
from trivium.dialects.core.sizes.symbols import Range
from trivium.dialects.core.symbol_table import symbol_table
from trivium.dialects.core.tensor import Array, Tensor

SEED = 7


@dataclass(frozen=True)
class Case:
    """Name one op with its operands (arrays, None or lists of arrays) and attributes."""

    name: str
    cls: type[Op]
    operands: tuple[Any, ...]
    attributes: dict[str, Any] = field(default_factory=dict[str, Any])

    def __str__(self) -> str:
        return f"{self.cls.__name__}-{self.name}"

    @property
    def inputs(self) -> list[Array]:
        """List the operands that are there, variadic ones spread out."""
        flat: list[Array] = []
        for operand in self.operands:
            flat += operand if isinstance(operand, list) else [] if operand is None else [operand]
        return flat

    @property
    def complete(self) -> dict[str, Any]:
        """All attributes, defaults filled in."""
        defaults = {f.name: f.default for f in self.cls.fields.attributes if not f.required}
        return defaults | self.attributes

    def reference(self) -> list[Array]:
        made = self.cls(**self.complete).reference(*self.operands)
        return [np.asarray(y) for y in (made if isinstance(made, tuple) else (made,))]


def draw(family: Callable[[], list[Case]], random: np.random.Generator) -> list[Case]:
    """Make the cases of a family; their numbers do not depend on what was drawn before."""
    random.bit_generator.state = np.random.default_rng(SEED).bit_generator.state
    return family()


Epilogue = Callable[[Sequence[ir.Value]], list[Op]]


def build_group(
    case: Case,
    extra: Sequence[Array] = (),
    epilogue: Epilogue | None = None,
    target: str = "cpu",
) -> tri.Group:
    """Build `group { op; epilogue }`; `extra` arrays are inputs that only the epilogue reads."""
    arrays = [*case.inputs, *extra]
    module = ir.Module.create()
    with ir.InsertionPoint(module.body):
        made = tri.Group.create([[]], [], {"target": target})
    block = ir.Block.create_at_start(made.operation.regions[0], [])
    for array in arrays:
        block.add_argument(type_of(Tensor.of(array)), ir.Location.unknown())
    arguments = list(block.arguments)
    with ir.InsertionPoint(block):
        op = case.cls.build(*_grouped(case.operands, arguments), **case.attributes)
        results = list(op.results)
        if epilogue is not None:
            results = list(epilogue([*results, *arguments[len(case.inputs) :]])[-1].results)
        tri.Yield.build(results)
    _KEEP.append(module)
    return made


_KEEP: list[ir.Module] = []


def release() -> None:
    """Forget the modules of the groups that were built: their context goes."""
    _KEEP.clear()


def op_of(group: tri.Group) -> Op:
    """Return the first op of a group."""
    return ops(group.block)[0]


def _grouped(operands: tuple[Any, ...], arguments: list[ir.Value]) -> list[Any]:
    rest = iter(arguments)
    return [
        [next(rest) for _ in operand]
        if isinstance(operand, list)
        else None
        if operand is None
        else next(rest)
        for operand in operands
    ]


SYMBOL = "S"
"""The symbol that `build_symbolic_group` puts in place of a size."""


def build_symbolic_group(
    case: Case, size: int, module: Module, target: str = "cpu"
) -> tri.Group | None:
    """Build a group of the op of a case with a symbol in place of a size, wherever it is.

    Returns None if its attributes say another size.
    """
    _KEEP.append(module.ir)
    symbol = symbol_table(ir.Context.current).declare(SYMBOL, Range())
    with ir.InsertionPoint(module.ir.body):
        group = tri.Group.create([[]], [], {"target": target})
    block = ir.Block.create_at_start(group.operation.regions[0], [])
    for array in map(np.asarray, case.inputs):
        shape = tuple(symbol if n == size else n for n in array.shape)
        tensor = Tensor(shape, Tensor.of(array).dtype)
        block.add_argument(type_of(tensor), ir.Location.unknown())
    flat = iter(list(block.arguments))
    operands = [
        None if o is None else [next(flat) for _ in o] if isinstance(o, list) else next(flat)
        for o in case.operands
    ]
    try:
        with ir.InsertionPoint(block):
            op = case.cls.build(*operands, **case.attributes)
            tri.Yield.build(list(op.results))
    except (Invalid, Undecided, TypeError):  # sizes in attributes remain numbers
        return None
    made = [tensor_of(y.type).shape for y in op.results]
    bound = [tuple(evaluate(n, {SYMBOL: size}) for n in shape) for shape in made]
    return tri.Group(group.operation) if bound == [y.shape for y in case.reference()] else None
