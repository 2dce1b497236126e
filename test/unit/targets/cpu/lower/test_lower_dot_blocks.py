"""Products of rounded activations with matrices of few bits, with every machine's instructions."""

from dataclasses import replace

import numpy as np
import pytest
from cpu_kernels import compile_cases, on_every_machine
from groups import Case
from trivium.dialects import cpu
from trivium.dialects.core.machine import LEVELS, Machine
from trivium.dialects.core.tensor import Array, Tensor, numpy_dtype
from trivium.dialects.cpu.block_quantized import BlockLayout
from word_machines import MACHINES, runs_here, spell

RANDOM = np.random.default_rng(23)

FUSING = [replace(m, features=(*m.features, "fma")) for m in MACHINES if m.vector_bytes > 16]
"""Machines that round the sum of a product and a number once, as the CPU at hand does."""


def activations(*shape: int) -> Array:
    """Draw numbers of very different sizes; some are halves of the largest one of a block."""
    drawn = RANDOM.standard_normal(shape) * 10.0 ** RANDOM.integers(-3, 4, (*shape[:-1], 1))
    return drawn.astype(np.float32)


def rounded(x: Array, block: int) -> tuple[Array, Array, Array]:
    """Round blocks one by one."""
    depth = x.shape[-1]
    rows = x.reshape(-1, depth).astype(np.float32)
    blocks = -(-depth // block)
    numbers = np.zeros((blocks, len(rows), block), np.int8)
    scales = np.zeros((blocks, len(rows)), np.float32)
    for b in range(blocks):
        for r, row in enumerate(rows):
            part = row[b * block : (b + 1) * block]
            largest = np.abs(part).max()
            scales[b, r] = largest / np.float32(127)
            if largest:
                numbers[b, r, : len(part)] = np.rint(part * (np.float32(127) / largest))
    sums = numbers.sum(-1, np.int32)
    outer = (blocks, *x.shape[:-1])
    return numbers.reshape(*outer, block), scales.reshape(outer), sums.reshape(outer)


def blocks_of(x: Array, block: int) -> Case:
    return Case("blocks", cpu.QuantizeBlocks, (x,), {"block": block})


def roundings() -> list[Case]:
    """Blocks that are full and not, shorter and longer than a vector, of zeros; several axes."""
    made = [
        blocks_of(activations(*shape), block)
        for shape, block in (
            *(((1, 64), 32), ((3, 77), 16), ((2, 3, 300), 128), ((5, 1000), 512), ((1, 7), 32)),
            *(((40, 96), 32), ((4, 40), 64)),
        )
    ]
    x = activations(3, 96)
    x[1, 32:64] = 0
    x[2, :32] = np.tile([127.0, 0.5, 1.5, 2.5], 8)
    return [*made, blocks_of(x, 32), blocks_of(activations(2, 50).astype(np.float16), 32)]


@on_every_machine
def test_blocks_are_rounded_to_the_nearest_bytes(machine: Machine) -> None:
    cases = roundings()
    compiled = compile_cases(cases, machine)
    for index, case in enumerate(cases):
        (x,) = case.inputs
        wanted = rounded(x, case.attributes["block"])
        results = compiled.run(index, case.inputs, [Tensor.of(array) for array in wanted])
        for got, reference, want in zip(results, case.reference(), wanted, strict=True):
            np.testing.assert_array_equal(got, want)
            np.testing.assert_array_equal(reference, want)


def product(
    rows: tuple[int, ...],
    depth: int,
    columns: int,
    kind: tuple[int, int, str, str],
    width: int = 32,
) -> Case:
    bits, block, scales, zeros = kind
    layout, shape = BlockLayout(bits, block, scales, zeros), (columns, -(-depth // block))
    w = RANDOM.integers(0, 256, (*shape, block * bits // 8)).astype(np.uint8)
    factors = RANDOM.uniform(0.01, 0.05, shape).astype(numpy_dtype(scales))
    given = RANDOM.integers(0, 1 << bits, shape).astype(numpy_dtype(zeros or "f32"))
    packed = layout.pack(w, factors, given if zeros else None, width)
    sizes = {"bits": bits, "block": block, "columns": columns}
    kinds = {"scales": scales, "zero_points": zeros}
    operands = (*rounded(activations(*rows, depth), block), packed)
    return Case("product", cpu.DotBlockMatMul, operands, sizes | kinds)


KINDS = (
    *((4, 32, "f32", ""), (4, 16, "f16", "ui8"), (4, 128, "f32", "f32"), (2, 32, "f32", "ui8")),
    *((2, 64, "bf16", ""), (8, 32, "f32", "ui8"), (8, 64, "f32", ""), (8, 16, "f16", "f32")),
)


SIZES: tuple[tuple[tuple[int, ...], int, int], ...] = (
    *(((1,), 128, 32), ((2, 3), 77, 32), ((40,), 150, 32), ((9,), 33, 16)),
)
"""Rows, depth and width of a panel: one row, a tile of rows and several, blocks full and not."""


def products() -> list[Case]:
    """Return products of all kinds, and of all sizes."""
    kinds = enumerate(KINDS)
    made = [(kind, SIZES[number % len(SIZES)]) for number, kind in kinds]
    made += [(KINDS[0], size) for size in SIZES[1:]]
    return [product(rows, depth, 70, kind, width) for kind, (rows, depth, width) in made]


def few_products() -> list[Case]:
    return [product((rows,), 77, 40, KINDS[n]) for n, rows in ((0, 9), (1, 2), (2, 1), (5, 3))]


def exactly(case: Case) -> tuple[Array, Array]:
    """Multiply in f64; return the product, and that of magnitudes."""
    numbers, scales, _, packed = case.inputs
    given = case.attributes
    layout = BlockLayout(*(given[n] for n in ("bits", "block", "scales", "zero_points")))
    matrix = layout.unpack(packed, given["columns"]).astype(np.float64)
    rows = np.moveaxis(numbers * scales[..., None].astype(np.float64), 0, -2)
    rows = rows.reshape(*rows.shape[:-2], -1)
    return rows @ matrix, np.abs(rows) @ np.abs(matrix)


def test_products_are_as_exact_as_sums_of_f32() -> None:
    cases = products()
    compiled = compile_cases(cases)
    for index, case in enumerate(cases):
        want, size = exactly(case)
        (got,) = compiled.run(index, case.inputs, [Tensor(want.shape, "f32")])
        (reference,) = case.reference()
        assert (np.abs(got - want) <= 1e-6 * size).all()
        assert (np.abs(reference - want) <= 1e-6 * size).all()


@pytest.mark.parametrize("machine", FUSING, ids=spell)
def test_machines_compute_the_same_bits(machine: Machine) -> None:
    if not runs_here(machine):
        pytest.skip("this machine lacks the instructions")
    cases = few_products()
    here, there = compile_cases(cases), compile_cases(cases, machine)
    for index, case in enumerate(cases):
        like = [Tensor(case.reference()[0].shape, "f32")]
        for one, other in zip(
            here.run(index, case.inputs, like), there.run(index, case.inputs, like), strict=True
        ):
            np.testing.assert_array_equal(one, other)


def test_a_machine_without_fused_operations_differs_by_rounding() -> None:
    cases = few_products()
    compiled = compile_cases(cases, LEVELS[0])
    for index, case in enumerate(cases):
        want, size = exactly(case)
        (got,) = compiled.run(index, case.inputs, [Tensor(want.shape, "f32")])
        assert (np.abs(got - want) <= 1e-6 * size).all()


def test_a_row_has_the_same_bits_among_any_others() -> None:
    many = product((40,), 150, 70, KINDS[1])
    *left, packed = many.inputs
    counts = (1, 7, 8, 29)
    parts = [
        replace(many, operands=(*(np.ascontiguousarray(x[:, :n]) for x in left), packed))
        for n in counts
    ]
    compiled = compile_cases([many, *parts])
    (whole,) = compiled.run(0, many.inputs, [Tensor((40, 70), "f32")])
    for index, (count, part) in enumerate(zip(counts, parts, strict=True), 1):
        (got,) = compiled.run(index, part.inputs, [Tensor((count, 70), "f32")])
        np.testing.assert_array_equal(got, whole[:count])


INDICES = ((1,), (2, 2, 2, 2), (0, 1, 1, 2, 2, 2, -1, 3), (1,) * 20 + (0,) * 20, (2, 0) * 9)
"""Rows that are alone, in tiles with one matrix and with several, and without a matrix."""


@pytest.mark.parametrize("machine", [None, LEVELS[0]], ids=["here", "oldest"])
def test_rows_multiply_the_matrices_of_their_indices(machine: Machine | None) -> None:
    """Bits are those of the product with one matrix; the others are zeros."""
    cases: list[Case] = []
    for number, index in enumerate(INDICES):
        rows, kind = (len(index),), KINDS[number % len(KINDS)]
        matrices = [product(rows, 77, 70, kind) for _ in range(3)]
        packed = np.stack([each.operands[-1] for each in matrices])
        left = matrices[0].operands[:-1]
        operands = (*left, packed, np.array(index, ("i4", "i8")[number % 2]))
        named = Case("indexed", cpu.DotIndexedBlockMatMul, operands, matrices[0].attributes)
        cases += [named, *(replace(each, operands=(*left, each.operands[-1])) for each in matrices)]
    compiled = compile_cases(cases) if machine is None else compile_cases(cases, machine)
    for number, index in enumerate(INDICES):
        like = [Tensor((len(index), 70), "f32")]
        places = range(4 * number, 4 * number + 4)
        got, *each = (compiled.run(n, cases[n].inputs, like)[0] for n in places)
        for row, group in enumerate(index):
            wanted = each[group][row] if 0 <= group < 3 else np.zeros(70, np.float32)
            np.testing.assert_array_equal(got[row], wanted)


def test_the_largest_sums_are_exact() -> None:
    """Bytes that are all at the ends of their range, with zero points at the other end."""
    layout, depth = BlockLayout(8, 1 << 15, "f32", "ui8"), 1 << 15
    w = np.full((16, 1, depth), 255, np.uint8)
    packed = layout.pack(w, np.ones((16, 1), np.float32), np.zeros((16, 1), np.uint8), 16)
    operands = (*rounded(np.full((1, depth), -127, np.float32), depth), packed)
    sizes = {"bits": 8, "block": depth, "columns": 16, "zero_points": "ui8"}
    case = Case("largest", cpu.DotBlockMatMul, operands, sizes)
    (got,) = compile_cases([case]).run(0, case.inputs, [Tensor((1, 16), "f32")])
    np.testing.assert_array_equal(got, np.full((1, 16), -127 * 255 * depth, np.float32))
