"""Cutting dead taps changes no result, whatever the window."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_graphs import module_of, names
from trivium.dialects import tri
from trivium.dialects.core.errors import Invalid
from trivium.dialects.core.interpret import run
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.tensor import Tensor
from trivium.passes.fold.fold_dead_taps import FoldDeadTaps

small = st.integers(1, 4)


@settings(derandomize=True, deadline=None, max_examples=150)
@given(st.data())
def test_results_stay(data: st.DataObject) -> None:
    size, taps = data.draw(st.integers(1, 6)), data.draw(small)
    window = {
        "strides": (data.draw(small),),
        "pads": (data.draw(st.integers(0, 12)), data.draw(st.integers(0, 12))),
        "dilations": (data.draw(st.integers(1, 7)),),
    }
    x = np.arange(1, 2 * size + 1, dtype=np.float32).reshape(1, 2, size)
    w = np.arange(1, 6 * taps + 1, dtype=np.float32).reshape(3, 2, taps)
    types = [Tensor.of(x), Tensor.of(w)]
    try:
        tri.Conv(**window).infer(*types)
    except Invalid:
        return
    with new_context(), ir.Location.unknown():
        module = module_of(lambda x, w: tri.Conv.build(x, w, **window).y, *types)
        before = run(module, [x, w])
        FoldDeadTaps().run(module)
        module.verify()
        np.testing.assert_array_equal(run(module, [x, w])[0], before[0])
        once = names(module)
        FoldDeadTaps().run(module)
        assert names(module) == once
