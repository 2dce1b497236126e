"""Groups of ops whose shapes and attributes are texts: of symbols, or for sizes that these have."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from trivium.dialects import tri
from trivium.dialects.core.attributes import type_of
from trivium.dialects.core.mlir import ir
from trivium.dialects.core.module import Module
from trivium.dialects.core.op import Op
from trivium.dialects.core.sizes.substitution import evaluate
from trivium.dialects.core.sizes.symbols import Range
from trivium.dialects.core.symbol_table import symbol_table
from trivium.dialects.core.tensor import Array, Tensor, is_float, numpy_dtype

Sizes: TypeAlias = Mapping[str, int]


@dataclass(frozen=True)
class Dynamic:
    """Name an op on operands whose shapes are texts, such as "N 4*T 16"; a dtype may follow.

    Texts in attributes are sizes. `following` builds elementwise ops behind it, from its results
    and the operands `extra`. `ranges` are those of symbols that are not plain. Results need not be
    `exact` where they depend on sums of products in loops that LLVM unrolls if it knows the trips:
    it may then contract the first sum, of two products, either way.
    """

    cls: type[Op]
    operands: Sequence[str | Sequence[str] | None]
    attributes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    extra: Sequence[str] = ()
    following: Callable[..., Op] | None = None
    ranges: Mapping[str, str] = field(default_factory=dict[str, str])
    exact: bool = True

    def __str__(self) -> str:
        return f"{self.cls.__name__}-{'-'.join(self.listed).replace(' ', '_')}"

    @property
    def listed(self) -> list[str]:
        """Return the texts of all operands, those of the epilogue last."""
        flat: list[str] = []
        for each in self.operands:
            flat += [] if each is None else [each] if isinstance(each, str) else each
        return [*flat, *self.extra]


class _Texts:
    """Read texts as sizes: of symbols, or ints where these have sizes."""

    def __init__(self, case: Dynamic, sizes: Sizes | None) -> None:
        self.table = symbol_table(ir.Context.current)
        names = {name for text in [*case.listed, *_texts(case.attributes)] for name in _names(text)}
        for name in sorted(names):
            self.table.declare(name, Range.parse(case.ranges.get(name, "1..")))
        self.sizes = sizes

    def size(self, text: str) -> int:
        size = self.table.parse(text)
        return size if self.sizes is None else evaluate(size, self.sizes)

    def tensor(self, text: str) -> Tensor:
        words = text.split()
        dtype = words.pop() if words and words[-1] in _DTYPES else "f32"
        return Tensor(tuple(map(self.size, words)), dtype)

    def value(self, value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(self.value, value))
        return self.size(value[1:]) if isinstance(value, str) and value.startswith("=") else value


_DTYPES = ("f32", "f16", "bf16", "f64", "i64", "i32", "i1", "ui8", "i8")


def _texts(attributes: Mapping[str, Any]) -> list[str]:
    flat: list[str] = []
    for value in attributes.values():
        each = value if isinstance(value, tuple) else (value,)
        flat += [text[1:] for text in each if isinstance(text, str) and text.startswith("=")]
    return flat


def _names(text: str) -> set[str]:
    names = "".join(letter if letter.isalnum() or letter == "_" else " " for letter in text)
    return {n for n in names.split() if n[0].isalpha() and n not in (*_DTYPES, "max", "min")}


def build(case: Dynamic, sizes: Sizes | None, target: str) -> tri.Group:
    """Build the group of a case in the current context: of symbols, or for given sizes."""
    read = _Texts(case, sizes)
    module = Module(ir.Module.create())
    _KEEP.append(module)
    with ir.InsertionPoint(module.ir.body):
        made = tri.Group.create([[]], [], {"target": target})
    block = ir.Block.create_at_start(made.operation.regions[0], [])
    for text in case.listed:
        block.add_argument(type_of(read.tensor(text)), ir.Location.unknown())
    arguments = iter(list(block.arguments))

    def taken(operand: str | Sequence[str] | None) -> Any:
        if operand is None:
            return None
        return next(arguments) if isinstance(operand, str) else [next(arguments) for _ in operand]

    with ir.InsertionPoint(block):
        operands = [taken(operand) for operand in case.operands]
        op = case.cls.build(*operands, **{k: read.value(v) for k, v in case.attributes.items()})
        results = list(op.results)
        if case.following is not None:
            results = list(case.following(*results, *arguments).results)
        tri.Yield.build(results)
    return made


_KEEP: list[Module] = []


def forget_groups() -> None:
    """Let the modules of the groups that were built go, and their context."""
    _KEEP.clear()


def draw_operand(tensor: Tensor, seed: int) -> Array:
    """Draw elements of a tensor of known sizes."""
    generator = np.random.default_rng(seed)
    dtype = numpy_dtype(tensor.dtype)
    if is_float(tensor.dtype):
        return generator.standard_normal(tensor.shape, np.float32).astype(dtype)
    return generator.integers(0, 2 if tensor.dtype == "i1" else 5, tensor.shape).astype(dtype)
