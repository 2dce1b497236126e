"""Attention of decoders over caches that keep the rows of a window, against ONNX Runtime."""

from typing import Any

import numpy as np
import pytest
import trivium
from trivium.test.unit.compiler.frontends.onnx.rules.microsoft.microsoft_nodes import (
    Array,
    by_onnxruntime,
    by_reference,
    feeds_of,
    floats,
    node_model,
    refused,
)

H, G, D = 4, 2, 16
OP = "GroupQueryAttention"
OUTPUTS = ["o0", "o1", "o2"]
ANGLES = [floats(64, 8), floats(64, 8)]
Step = tuple[int, list[int]]
"""How many queries there are, and how many of them count in each entry of a batch."""


def attributes(window: int, **more: Any) -> dict[str, Any]:
    given = {"num_heads": H, "kv_num_heads": G, "do_rotary": 1, "sliding_window_cache": 1}
    return given | {"local_window_size": window} | more


def kept(count: int, capacity: int, window: int) -> int:
    """Return how many rows a cache has of so many, as the operator's description says."""
    apart = capacity - window + 1
    return count if count <= capacity else count - apart * -(-(count - capacity) // apart)


def inputs_of(
    length: int, new: Array, total: Array, past: list[Array], counted: bool
) -> list[Array | None]:
    batch = len(new)
    inputs: list[Array | None] = [floats(batch, length, heads * D) for heads in (H, G, G)]
    inputs += [*past, (total - 1).astype(np.int32), np.array(total.max(), np.int32), *ANGLES]
    return inputs + [None] * 7 + [new.astype(np.int32)] if counted else inputs


@pytest.mark.parametrize(
    ("steps", "capacity", "window"),
    [
        ([(3, [3]), (1, [1]), (1, [1]), (4, [4]), (1, [1]), (9, [9]), (1, [1])], 6, 4),
        ([(12, [12]), (1, [1])], 5, 5),
        ([(2, [2, 2]), (1, [1, 1]), (1, [1, 1]), (1, [1, 1])], 3, 2),
        ([(5, [5, 3]), (1, [1, 1]), (1, [1, 0]), (1, [1, 1]), (1, [1, 1])], 6, 6),
        ([(5, [5, 3]), (4, [2, 4]), (4, [0, 3]), (1, [1, 1]), (9, [9, 2])], 8, 3),
    ],
)
@pytest.mark.parametrize("more", [{}, {"softcap": 2.0, "smooth_softmax": 1}])
def test_steps_over_a_window(
    steps: list[Step], capacity: int, window: int, more: dict[str, Any]
) -> None:
    """A step takes the cache of Trivium's step before it, so that the layout is compared, too."""
    given, batch = attributes(window, **more), len(steps[0][1])
    counted = any([length] * batch != new for length, new in steps)
    past = [np.zeros((batch, G, capacity, D), np.float32) for _ in range(2)]
    total = np.zeros(batch, int)
    for length, counts in steps:
        new = np.array(counts)
        total = total + new
        inputs = inputs_of(length, new, total, past, counted)
        wanted = by_onnxruntime(node_model(OP, inputs, OUTPUTS, **given), feeds_of(inputs))
        got = by_reference(OP, inputs, 3, **given)
        assert [x.shape for x in got] == [x.shape for x in wanted]
        for entry in range(batch):
            rows = kept(total[entry], capacity, window)
            parts = [np.s_[entry, : new[entry]], *[np.s_[entry, :, :rows]] * 2]
            for one, other, part in zip(got, wanted, parts, strict=True):
                np.testing.assert_allclose(one[part], other[part], rtol=1e-5, atol=4e-6)
        past = got[1:]


def test_a_package_decodes_over_a_window() -> None:
    new, past = np.array([1]), [np.zeros((1, G, 6, D), np.float32) for _ in range(2)]
    names = {n: (None, "length", None) for n in range(3)}
    model = node_model(
        OP, inputs_of(1, new, new, past, False), OUTPUTS, names=names, **attributes(4)
    )
    session = trivium.compile(model)
    session.bind_state({"o1": "i3", "o2": "i4"})
    for total in range(1, 12):
        inputs = inputs_of(1, new, np.array([total]), past, False)
        wanted, *past = by_onnxruntime(model, feeds_of(inputs))
        given = {name: x for name, x in feeds_of(inputs).items() if name not in ("i3", "i4")}
        np.testing.assert_allclose(session.run(given)["o0"], wanted, rtol=1e-5, atol=4e-6)


def test_names_what_does_not_fit() -> None:
    new, past = np.array([1]), [floats(1, G, 6, D) for _ in range(2)]
    inputs = inputs_of(1, new, new, past, False)
    needs = "node has sliding_window_cache 1, which needs a past and local_window_size"
    refused(needs, OP, inputs, 3, **attributes(-1))
    refused(needs, OP, [*inputs[:3], None, None, *inputs[5:]], 3, **attributes(4))
    refused("node has 6 rows for a window of 7", OP, inputs, 3, **attributes(7))
    biased = [*inputs, None, floats(1, H, 1, 1)]
    refused("node has sliding_window_cache 1 and attention_bias", OP, biased, 3, **attributes(4))
