"""What a target leaves to others: who is asked, and what is made fit for them."""

import numpy as np
import onnx.parser
import pytest
import trivium
from trivium.compiler.stages import pipeline_for
from trivium.runtime.cpu.part import CpuPart
from trivium.targets.registry import choose_targets, find_target

MODEL = onnx.parser.parse_model(
    """<ir_version: 10, opset_import: ["" : 21]>
    g (float[2, 3] x) => (float[2, 3] y) {
        [first] a = Exp (x)
        [second] b = Softplus (a)
        [third] y = Exp (b)
    }"""
)


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("cpu", ("cpu", "host")),
        ("gpu:sm_80+sm_90", ("gpu", "cpu", "host")),
        ("host", ("host",)),
        ("npu", ("npu", "cpu", "host")),
    ],
)
def test_fallbacks_are_asked_in_order(npu: str, target: str, expected: tuple[str, ...]) -> None:
    assert tuple(each.name for each in choose_targets(target)) == expected


def test_the_passes_of_a_fallback_run_on_its_parts(npu: str) -> None:
    stages = pipeline_for("npu", 2).stages()
    own = {part: [s.name for s in stages if s.part == part] for part in ("npu", "cpu", "host")}
    assert "choose-layouts" not in own["npu"]
    assert "choose-layouts" in own["cpu"]
    assert own["host"][-1] == own["cpu"][-1] == "place"
    assert [s.name for s in stages if not s.part][-4:] == [
        "partition", "inline-parts", "append-in-place", "scatter-in-place",
    ]  # fmt: skip


def test_a_model_runs_on_the_target_and_its_fallback(npu: str) -> None:
    package = trivium.build(MODEL, target="npu")
    assert [step.kind for step in package.manifest.steps] == ["host", "cpu", "host"]
    x = np.linspace(-2, 2, 6, dtype=np.float32).reshape(2, 3)
    expected = np.exp(np.log1p(np.exp(np.exp(x.astype(np.float64)))))
    np.testing.assert_allclose(trivium.Session(package).run({"x": x})["y"], expected, rtol=1e-6)


def test_what_a_target_leaves_of_a_kernel_is_one_kernel_again(npu: str) -> None:
    model = onnx.parser.parse_model(
        """<ir_version: 10, opset_import: ["" : 21]>
        g (float[2, 3] x) => (float[2, 3] y) {
            a = Abs (x)
            b = Neg (a)
            c = Exp (b)
            d = Sqrt (c)
            y = Neg (d)
        }"""
    )
    package = trivium.build(model, target=npu)
    kernels = [kernel.ops for kernel in package.manifest.part(CpuPart).kernels]
    assert kernels == [("tri.abs", "tri.neg"), ("tri.sqrt", "tri.neg")]
    x = np.linspace(-2, 2, 6, dtype=np.float32).reshape(2, 3)
    y = trivium.Session(package).run({"x": x})["y"]
    np.testing.assert_allclose(y, -np.sqrt(np.exp(-np.abs(x))), rtol=1e-6)


@pytest.mark.parametrize(
    ("targets", "selections"),
    [("vanilla", 1), ("vanilla,npu,cpu", 2), ("npu,vanilla,cpu", 2), ("cpu,vanilla,npu", 0)],
)
def test_targets_before_all_others_select_ops(
    npu: str, monkeypatch: pytest.MonkeyPatch, targets: str, selections: int
) -> None:
    vanilla = find_target("vanilla").early_passes()
    monkeypatch.setattr(find_target(npu), "early_passes", lambda _: vanilla)
    names = [stage.name for stage in pipeline_for(targets, 1).stages()]
    assert names.count("select-dla") == selections
