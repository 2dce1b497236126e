"""Kernels of attention with a state: shared heads, decay, the delta rule, and keys of any size."""

from typing import Any

import numpy as np
import pytest
from closeness import assert_close
from compiling import assemblies
from gpu_kernels import run_group
from groups import Case
from ordered import build_ordered, drawn
from printed import run_printed
from sources import AMPERE, HOPPER, needs_triton
from trivium.dialects import tri
from trivium.dialects.core.mlir import ir, new_context
from trivium.targets.gpu import TARGET
from trivium.targets.gpu.emit.compile_kernels import kernel_passes
from trivium.targets.gpu.schedule.architecture import Architecture

SIZES = (2, 5, 2, 9, 20)
"""Of the batch, the sequence, the heads of keys, a key and a value."""


def walk(
    sizes: tuple[int, ...] = SIZES,
    times: int = 1,
    dtype: str = "float32",
    decay: tuple[int, ...] | None = None,
    beta: tuple[int, ...] | None = None,
    state: bool = False,
) -> Case:
    """Return a case of `times` heads of queries for each one of keys."""
    batch, length, shared, keys, values = sizes
    steps = (batch, length, shared)
    operands: tuple[Any, ...] = (
        drawn((batch, length, shared * times, keys), dtype),
        drawn((*steps, keys), dtype),
        drawn((*steps, values), dtype),
        None if decay is None else -np.abs(drawn(decay, dtype)),
        None if beta is None else np.abs(drawn(beta, dtype)),
        drawn((batch, shared, keys, values), dtype) if state else None,
    )
    return Case("walk", tri.LinearAttention, operands, {"scale": 0.25})


def agree(case: Case, printed: bool = False) -> None:
    execute = {"execute": run_printed} if printed else {}
    passes = kernel_passes(HOPPER)
    made = run_group(lambda: build_ordered(case, [], ()), case.inputs, passes, **execute)
    for got, want in zip(made, case.reference(), strict=True):
        assert_close(case, got, want, case.inputs)


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64"])
def test_types(dtype: str) -> None:
    agree(walk(dtype=dtype))
    agree(walk(times=3, dtype=dtype, decay=(2, 5, 2, 9), beta=(2, 5, 2, 1), state=True))


@pytest.mark.parametrize("beta", [None, (2, 5, 2, 1), (5, 1, 1), (1, 1, 1, 1)], ids=str)
@pytest.mark.parametrize("decay", [None, (2, 5, 2, 9), (2, 5, 2, 1), (9,), ()], ids=str)
def test_decay_and_rates_broadcast(
    decay: tuple[int, ...] | None, beta: tuple[int, ...] | None
) -> None:
    agree(walk(times=2, decay=decay, beta=beta, state=beta is None))


@pytest.mark.parametrize("keys", [1, 2, 33, 64, 256])
@pytest.mark.parametrize("values", [1, 17, 130])
def test_states_of_any_size(keys: int, values: int) -> None:
    agree(walk((1, 3, 1, keys, values), beta=(1, 3, 1, 1), state=True))


def test_states_that_overflow_do_so_where_there_are_keys() -> None:
    case = walk((1, 2, 1, 9, 5), state=True)
    q, k, v, _, _, state = case.operands
    operands = (np.abs(q), np.abs(k), np.abs(v), np.float32([100]), None, np.abs(state) + 1)
    case = Case("overflow", tri.LinearAttention, operands, case.attributes)
    y, last = run_group(lambda: build_ordered(case, []), case.inputs, kernel_passes(HOPPER))
    assert np.isposinf(y).all()
    assert np.isposinf(last).all()


@needs_triton
def test_printed_kernels_walk_along_time() -> None:
    agree(walk(), printed=True)
    agree(walk(times=3, decay=(2, 5, 2, 1), beta=(2, 5, 2, 1), state=True), printed=True)


@needs_triton
@pytest.mark.parametrize("architecture", [AMPERE, HOPPER], ids=lambda a: a.name)
def test_kernels_compile(architecture: Architecture) -> None:
    assert assemblies(walk((2, 50, 4, 128, 128), dtype="float16"), architecture)
    full = walk((2, 50, 4, 256, 100), 2, decay=(50, 1, 256), beta=(2, 50, 4, 1), state=True)
    assert assemblies(full, architecture)


@pytest.mark.parametrize("keys", [256, 257])
def test_what_is_refused(keys: int) -> None:
    with new_context(), ir.Location.unknown():
        (op,) = build_ordered(walk((1, 1, 1, keys, 1)), []).members
        refusal = "gpu takes keys of at most 256 elements" if keys > 256 else None
        assert TARGET.refusal(op) == refusal
