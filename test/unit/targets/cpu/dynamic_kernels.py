"""Kernels of symbolic sizes, beside the kernels that are made for sizes: results must be equal."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from cpu_kernels import Compiled, LoweredKernel, object_of
from groups import release
from trivium.dialects import tri
from trivium.dialects.core.attributes import tensor_of, type_of
from trivium.dialects.core.machine import Machine, host_machine
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.module import Module
from trivium.dialects.core.op import Op
from trivium.dialects.core.sizes.substitution import evaluate
from trivium.dialects.core.sizes.symbols import Range
from trivium.dialects.core.symbol_table import symbol_table
from trivium.dialects.core.tensor import Array, Tensor, is_float, numpy_dtype
from trivium.dialects.core.verification import Verify
from trivium.passes.pipeline import Pipeline
from trivium.runtime.cpu.elf import load_objects
from trivium.targets.cpu.emit.kernel_pipeline import module_of
from trivium.targets.cpu.emit.name_kernels import NameKernels
from trivium.targets.cpu.kernels.kernel_module import Phase, kernel_modules, record_of
from trivium.targets.cpu.lower.to_kernels import LowerToKernels

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

    @property
    def listed(self) -> list[str]:
        """Return the texts of all operands, those of the epilogue last."""
        flat: list[str] = []
        for each in self.operands:
            flat += [] if each is None else [each] if isinstance(each, str) else each
        return [*flat, *self.extra]


class _Sizes:
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


def build(case: Dynamic, sizes: Sizes | None) -> tri.Group:
    """Build the group of a case in the current context: of symbols, or for given sizes."""
    read = _Sizes(case, sizes)
    module = Module(ir.Module.create())
    _KEEP.append(module)
    with ir.InsertionPoint(module.ir.body):
        made = tri.Group.create([[]], [], {"target": "cpu"})
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


@dataclass(frozen=True)
class _Lowered:
    """A kernel that is not split into phases, its results, and what its record holds."""

    kernel: LoweredKernel
    inputs: tuple[Tensor, ...]
    results: tuple[Tensor, ...]
    record: Callable[[Sizes], list[int]]


def _lower(case: Dynamic, machine: Machine, sizes: Sizes | None) -> _Lowered:
    with new_context(), ir.Location.unknown():
        group = build(case, sizes)
        inputs = tuple(tensor_of(v.type) for v in group.block.arguments)
        results = tuple(tensor_of(v.type) for v in group.end.operands)
        module = module_of(group)
        Pipeline((LowerToKernels(machine.name), NameKernels())).run(module, verify=Verify.NONE)
        (made,) = kernel_modules(module)
        (copy,) = [op for op in module.main_block.operations if op.operation.name == "tri.group"]
        record = record_of(copy.operation)
        text = str(made.alone())
        kernel = LoweredKernel(made.symbol, made.scratch, (Phase(),), made.words, text)
        release()
        _KEEP.clear()
    return _Lowered(kernel, inputs, results, lambda s: [evaluate(word, s) for word in record])


def assert_equal_to_static(
    cases: Sequence[Dynamic], sizes: Sequence[Sizes], machine: Machine | None = None
) -> None:
    """Run each case at some sizes: by one kernel for all, and by one made for these sizes.

    Raises AssertionError unless all bytes of the results are equal.
    """
    machine = machine or host_machine()
    dynamic = [_lower(case, machine, None) for case in cases]
    static = [_lower(case, machine, at) for case in cases for at in sizes]
    lowered = [*dynamic, *static]
    distinct = {each.kernel.symbol: each.kernel for each in lowered}
    library = load_objects({"kernels": memoryview(object_of(list(distinct.values()), machine))})
    compiled = Compiled(library, [each.kernel for each in lowered])
    for number, case in enumerate(cases):
        for place, at in enumerate(sizes):
            index = len(cases) + number * len(sizes) + place
            made = lowered[index]
            arrays = [_random(tensor, seed) for seed, tensor in enumerate(made.inputs)]
            want = compiled.run(index, arrays, made.results)
            got = compiled.run(number, arrays, made.results, dynamic[number].record(at))
            for one, other in zip(got, want, strict=True):
                if not case.exact:
                    np.testing.assert_allclose(one, other, 1e-5, 1e-5, err_msg=f"{case} at {at}")
                elif one.tobytes() != other.tobytes():
                    np.testing.assert_array_equal(one, other, f"{case} at {at}")
                    raise AssertionError(f"{case} at {at}: bits differ")


def _random(tensor: Tensor, seed: int) -> Array:
    generator = np.random.default_rng(seed)
    dtype = numpy_dtype(tensor.dtype)
    if is_float(tensor.dtype):
        return generator.standard_normal(tensor.shape, np.float32).astype(dtype)
    return generator.integers(0, 2 if tensor.dtype == "i1" else 5, tensor.shape).astype(dtype)
