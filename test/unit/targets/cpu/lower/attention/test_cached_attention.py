"""Attention to a cache, of sizes that fill chunks of rows and vectors: against numpy in f64."""

import itertools
from typing import Any

import numpy as np
import pytest
from trivium.compiler.build import build_module
from trivium.compiler.stages import pipeline_for
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.module import Module
from trivium.runtime import Session
from trivium.targets.options import CompileOptions

CAPACITY = 400


def model(shared: int, size: int, width: int, window: int, cache: str) -> str:
    """Return a model of any number of entries, queries and rows in use, with two key heads."""
    q = f'tensor<?x{2 * shared}x?x{size}xf32, ["N", "", "S", ""]>'
    k = f'tensor<?x2x{CAPACITY}x{size}x{cache}, ["N", "", "", ""]>'
    v = f'tensor<?x2x{CAPACITY}x{width}x{cache}, ["N", "", "", ""]>'
    scales = f'tensor<?x2x{CAPACITY}xf32, ["N", "", ""]>'
    given, named, types, counts = "", "", "", "1, 1, 1, 1, 0, 0"
    if cache == "i8":
        given, named = f", %ks: {scales}, %vs: {scales}", ", %ks, %vs"
        types, counts = f", {scales}, {scales}", "1, 1, 1, 1, 1, 1"
    y = f'tensor<?x{2 * shared}x?x{width}xf32, ["N", "", "S", ""]>'
    at, used = 'tensor<?xi64, ["N"]>', 'tensor<?xi64, ["T"]>'
    return f"""
    func.func @main(%q: {q}, %k: {k}, %v: {v}, %at: {at}, %used: {used}{given}) -> {y}
        attributes {{trivium.symbols = {{N = "1..", S = "1..", T = "1..{CAPACITY}"}}}} {{
      %y = "tri.cached_attention"(%q, %k, %v, %at{named})
          {{rows = "T", scale = 0.3, window = {window}, operandSegmentSizes = array<i32: {counts}>}}
          : ({q}, {k}, {v}, {at}{types}) -> {y}
      return %y : {y}
    }}"""


def drawn(rng: np.random.Generator, shape: tuple[int, ...], rows: int, cache: str) -> Any:
    """Return rows as they are stored, their scales if any, and the numbers they stand for.

    Nobody may read what is not in use: there is NaN, or the scale is.
    """
    if cache != "i8":
        stored = rng.standard_normal(shape).astype(np.float16 if cache == "f16" else np.float32)
        stored[:, :, rows:] = np.nan
        return stored, (), stored
    stored = rng.integers(-127, 128, shape).astype(np.int8)
    scales = rng.uniform(0.001, 0.02, shape[:-1]).astype(np.float32)
    scales[:, :, rows:] = np.nan
    return stored, (scales,), stored * scales[..., None]


def expected(q: Any, k: Any, v: Any, starts: Any, rows: int, window: int) -> Any:
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    y = np.zeros((*q.shape[:3], v.shape[-1]))
    shared = q.shape[1] // k.shape[1]
    for entry, head, query in np.ndindex(*q.shape[:3]):
        place = int(starts[entry]) + query
        first = max(place - window + 1, 0) if window else 0
        seen = slice(first, min(place + 1, rows))
        if first < seen.stop:
            scores = 0.3 * k[entry, head // shared, seen] @ q[entry, head, query]
            powers = np.exp(scores - scores.max())
            y[entry, head, query] = powers @ v[entry, head // shared, seen] / powers.sum()
    return y


@pytest.mark.parametrize(
    ("shared", "size", "width", "window", "cache", "machine"),
    [
        (4, 64, 64, 0, "f32", "native"),
        (3, 40, 24, 70, "f32", "x86-64-v3"),
        (1, 16, 80, 0, "f16", "native"),
        (1, 8, 8, 9, "f16", "x86-64"),
        (4, 64, 64, 0, "i8", "native"),
        (2, 24, 40, 70, "i8", "x86-64-v3"),
        (1, 8, 8, 9, "i8", "x86-64"),
    ],
)
def test_rows_in_use_are_attended_to(
    shared: int, size: int, width: int, window: int, cache: str, machine: str
) -> None:
    with new_context():
        options = CompileOptions(machine=machine)
        module = Module.parse(model(shared, size, width, window, cache))
        package = build_module(module, pipeline_for("cpu", 2, options), options)
    sessions = [Session(package, threads=threads) for threads in (1, 2)]
    rng = np.random.default_rng(0)
    cases = (([0], 1), ([130, 0, 383], 2), ([127], 4), ([100, 250], 7), ([3, 240], 150))
    for starts, queries in cases:
        rows = min(max(starts) + queries, CAPACITY)
        q = rng.standard_normal((len(starts), 2 * shared, queries, size)).astype(np.float32)
        made_of = (drawn(rng, (len(starts), 2, CAPACITY, n), rows, cache) for n in (size, width))
        (k, k_scales, wide_k), (v, v_scales, wide_v) = made_of
        scales = (*k_scales, *v_scales)
        at = np.array(starts)
        wanted = expected(q, wide_k, wide_v, at, rows, window)
        made = [each(q, k, v, at, np.zeros(rows, np.int64), *scales) for each in sessions]
        np.testing.assert_allclose(made[0], wanted, rtol=1e-4, atol=1e-5)
        np.testing.assert_array_equal(made[0], made[1])
        for entry, first in itertools.product(range(len(starts)), range(0, queries, 5)):
            for last in {first + 1, min(first + 5, queries)}:
                one, some, place = slice(entry, entry + 1), slice(first, last), starts[entry]
                parts = q[one, :, some], k[one], v[one], np.array([place + first])
                used = np.zeros(min(place + last, rows), np.int64)
                alone = sessions[0](*parts, used, *(each[one] for each in scales))
                np.testing.assert_array_equal(made[0][one, :, some], alone)
