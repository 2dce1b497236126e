"""How an axis is cut into runs when it is padded, against numpy's own padding."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trivium.dialects import tri
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.sizes.dim import symbol
from trivium.dialects.core.sizes.substitution import evaluate
from trivium.dialects.core.sizes.symbols import Range
from trivium.targets.cpu import TARGET
from trivium.targets.cpu.lower.pad import has_few_boxes, most_runs, runs
from trivium.targets.lowering_table import limit_text


def padded(size: int, before: int, after: int, mode: str) -> list[int]:
    """Return the places of the elements of a padded axis, -1 for a constant."""
    x = np.arange(size)[max(-before, 0) : size + min(after, 0)]
    options = {"constant_values": -1} if mode == "constant" else {}
    return np.pad(x, (max(before, 0), max(after, 0)), mode, **options).tolist()


@pytest.mark.parametrize("mode", ["reflect", "edge", "wrap", "constant"])
@settings(derandomize=True, max_examples=100)
@given(st.integers(1, 6), st.integers(-3, 20), st.integers(-3, 20))
def test_runs_are_what_numpy_pads(mode: str, size: int, before: int, after: int) -> None:
    if size + min(before, 0) + min(after, 0) <= 0:
        return
    expected = padded(size, before, after, mode)
    made: list[int] = []
    for run in runs(size, before, after, mode):
        assert run.start == len(made)
        assert run.size > 0
        step = range(run.size)
        made += [-1 if run.source is None else run.source + run.step * i for i in step]
    assert made == expected


SIZE, BEFORE = symbol("T", Range(16, None)), symbol("S", Range(0, 8))


@pytest.mark.parametrize("mode", ["reflect", "edge", "constant"])
@pytest.mark.parametrize("less", [0, 4])
@settings(derandomize=True, max_examples=50)
@given(st.integers(16, 24), st.integers(0, 8), st.integers(-3, 8))
def test_runs_of_any_size(mode: str, less: int, size: int, before: int, after: int) -> None:
    framed = list(runs(SIZE, BEFORE - less, after, mode))
    values = {"T": size, "S": before}
    made: list[int] = []
    for run in framed:
        assert evaluate(run.start, values) == len(made)
        source = None if run.source is None else evaluate(run.source, values)
        step = range(evaluate(run.size, values))
        made += [-1 if source is None else source + run.step * i for i in step]
    assert made == padded(size, before - less, after, mode)


@pytest.mark.parametrize("mode", ["reflect", "edge", "wrap", "constant"])
@settings(derandomize=True, max_examples=100)
@given(st.integers(1, 6), st.integers(-3, 20), st.integers(-3, 20))
def test_the_bound_on_runs_holds(mode: str, size: int, before: int, after: int) -> None:
    if size + min(before, 0) + min(after, 0) > 0:
        assert len(list(runs(size, before, after, mode))) <= most_runs(size, before, after, mode)


@pytest.mark.parametrize("mode", ["reflect", "wrap"])
def test_a_border_of_very_many_repeats_is_refused(mode: str) -> None:
    with new_context(), ir.Location.unknown():
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            x = tri.Constant.build(value=np.zeros((2, 3), np.float32)).y
            few = tri.Pad.build(x, pads=(10, 10, 10, 10), mode=mode, value=0.0)
            many = tri.Pad.build(x, pads=(0, 10**9, 0, 0), mode=mode, value=0.0)
        assert TARGET.refusal(few) is None
        assert TARGET.refusal(many) == f"cpu {limit_text(has_few_boxes)}"
