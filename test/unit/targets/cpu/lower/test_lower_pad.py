"""How an axis is cut into runs when it is padded, against numpy's own padding."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trivium.dialects import tri
from trivium.dialects.core.mlir import ir, new_context
from trivium.targets.cpu import TARGET
from trivium.targets.cpu.lower.pad import has_few_boxes, most_runs, runs
from trivium.targets.lowering_table import limit_text


@pytest.mark.parametrize("mode", ["reflect", "edge", "wrap", "constant"])
@settings(derandomize=True, max_examples=100)
@given(st.integers(1, 6), st.integers(-3, 20), st.integers(-3, 20))
def test_runs_are_what_numpy_pads(mode: str, size: int, before: int, after: int) -> None:
    x = np.arange(size)[max(-before, 0) : max(size + min(after, 0), 0)]
    if not x.size:
        return
    options = {"constant_values": -1} if mode == "constant" else {}
    expected = np.pad(x, (max(before, 0), max(after, 0)), mode, **options)
    made: list[int] = []
    for run in runs(size, before, after, mode):
        assert run.start == len(made)
        assert run.size > 0
        step = range(run.size)
        made += [-1 if run.source is None else run.source + run.step * i for i in step]
    assert made == expected.tolist()


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
