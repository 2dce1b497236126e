"""How an axis is cut into runs when it is padded, against numpy's own padding."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trivium.targets.cpu.lower_pad import runs


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
