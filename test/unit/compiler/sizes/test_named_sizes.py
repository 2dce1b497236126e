"""Long sizes of a manifest get names for their parts, and keep their values."""

from dataclasses import replace

import numpy as np
import onnx.parser
import onnxruntime
import pytest
import trivium
from trivium.compiler.sizes import named as named_sizes
from trivium.compiler.sizes.named import LONG, name_sizes
from trivium.runtime.contents import ARENA, Region, SizeCheck
from trivium.runtime.manifest import Manifest
from trivium.runtime.sizes.size_expressions import LONGEST
from trivium.test.unit.runtime.symbolic import symbolic_manifest

ATTENTION_OVER_PIXELS = """
    <ir_version: 8, opset_import: ["" : 17]>
    pixels (float[N, 15, height_of_image, width_of_image] image) => (float[N, P, 15] y)
    <int64[3] flat = {0, 15, -1}> {
        pooled = AveragePool <kernel_shape = [3, 4], pads = [1, 3, 1, 3], strides = [3, 8]> (image)
        columns = Reshape (pooled, flat)
        rows = Transpose <perm = [0, 2, 1]> (columns)
        products = MatMul (rows, columns)
        shares = Softmax <axis = -1> (products)
        y = MatMul (shares, rows)
    }
"""


def test_a_kernel_whose_work_is_long_to_write_runs_at_any_size():
    model = onnx.parser.parse_model(ATTENTION_OVER_PIXELS)
    session = trivium.compile(model)
    assert session.manifest.named_sizes
    reference = onnxruntime.InferenceSession(model.SerializeToString())
    for n, height, width in ((1, 3, 5), (2, 31, 77), (3, 20, 301)):
        image = np.random.default_rng(n).standard_normal((n, 15, height, width))
        feeds = {"image": image.astype(np.float32)}
        (wanted,) = reference.run(None, feeds)
        np.testing.assert_allclose(session.run(feeds)["y"], wanted, rtol=1e-4, atol=1e-5)


def nested(size: str, levels: int) -> str:
    """Return a sum of maxima and quotients of a size, of those of these, and so on."""
    for _ in range(levels):
        size = f"max(-(({size} + 3)//2), 4) + ({size})//3"
    return size


def with_region(size: str) -> Manifest:
    manifest = symbolic_manifest()
    return replace(manifest, regions=(*manifest.regions, Region(ARENA, size, ())))


@pytest.mark.parametrize("levels", [9, 11])
def test_long_texts_keep_their_values(levels: int):
    text = nested("N*T_16", levels)
    assert len(text) > LONG
    named = name_sizes(with_region(text))
    *_, region = named.regions
    texts = [region.size, *(each.expression for each in named.named_sizes)]
    assert all(isinstance(each, str) and len(each) < 200 for each in texts)
    assert len(text) > LONGEST > 4 * sum(map(len, map(str, texts)))
    for n, t in ((1, 16), (3, 48), (77, 0)):
        wanted = eval(text, {"max": max}, {"N": n, "T_16": t // 16})
        values = Manifest.from_json(named.to_json()).evaluation.unchecked({"N": n, "T": t})
        assert values(str(region.size)) == wanted


def test_what_is_short_or_shown_stays():
    manifest = symbolic_manifest()
    assert name_sizes(manifest) is manifest
    check = SizeCheck(nested("N", 7), ">=", "node", "message")
    named = name_sizes(replace(with_region(nested("N", 7)), checks=(check,)))
    assert named.checks == (check,)
    assert named.inputs == manifest.inputs
    assert named.named_sizes


def test_names_are_new_and_places_have_none():
    manifest = with_region(nested("N", 7))
    symbols = tuple(replace(s, name="size_0") if s.name == "T" else s for s in manifest.symbols)
    names = [each.name for each in name_sizes(replace(manifest, symbols=symbols)).named_sizes]
    assert names == [f"size_{i}" for i in range(1, len(names) + 1)]
    assert name_sizes(with_region(nested("at_0", 7))).named_sizes == ()


FOUND = """
    <ir_version: 8, opset_import: ["" : 17]>
    halves (float[N] x) => (float[1, 1, P] y, float[1, 1, Q] z)
    <int64[3] row = {1, 1, -1}, int64[1] flat = {-1}> {
        before = Reshape (x, row)
        z = MaxPool <kernel_shape = [3], strides = [2], pads = [1, 1]> (before)
        high = NonZero (x)
        places = Reshape (high, flat)
        heights = Gather (x, places)
        after = Reshape (heights, row)
        pooled = MaxPool <kernel_shape = [3], strides = [2], pads = [1, 1]> (after)
        y = MaxPool <kernel_shape = [3], strides = [3], pads = [1, 1]> (pooled)
    }
"""


def test_parts_that_are_found_in_a_run_have_names(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(named_sizes, "LONG", 0)
    monkeypatch.setattr(named_sizes, "WORTH_A_NAME", 4)
    model = onnx.parser.parse_model(FOUND)
    session = trivium.compile(model)
    texts = [str(each.expression) for each in session.manifest.named_sizes]
    assert any("u0" in text for text in texts)
    assert any("N" in text for text in texts)
    reference = onnxruntime.InferenceSession(model.SerializeToString())
    for x in ([1, 0, 2, 5], [0, 1], [3, 0, 0, 4, 5, 6, 7, 0, 9]):
        feeds = {"x": np.array(x, np.float32)}
        for name, wanted in zip(("y", "z"), reference.run(None, feeds), strict=True):
            np.testing.assert_array_equal(session.run(feeds)[name], wanted)
