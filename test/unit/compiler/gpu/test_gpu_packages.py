"""Models from end to end on a GPU, as far as can be seen without one."""

import numpy as np
import onnx.parser
import pytest
from gpu_packages import opened
from trivium.compiler.check import check
from trivium.compiler.driver import build
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.module import Module
from trivium.passes.pipeline import Instrumentation, Stage
from trivium.runtime.contents import FIRST_PORT
from trivium.runtime.gpu.part import GpuPart
from trivium.runtime.package import Package
from trivium.test.unit.runtime.gpu.stand_in import StandIn

pytest.importorskip("triton")

WEIGHTS = ", ".join(str(0.25 * i - 4) for i in range(40))
MODEL = onnx.parser.parse_model(
    f"""<ir_version: 10, opset_import: ["" : 21]>
    net (float[3, 40] x) => (float[3, 40] y, float[U, 40] z, float[40] w)
        <float[40] w = {{{WEIGHTS}}}> {{
        [scale] a = Mul (x, w)
        [clip] b = Relu (a)
        [back] y = Add (b, x)
        [different] z = Unique <axis = 0> (y)
    }}"""
)
X = np.random.default_rng(0).standard_normal((3, 40)).astype(np.float32)


def expected(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    w = 0.25 * np.arange(40) - 4
    y = np.maximum(x * w, 0) + x
    return y, np.unique(y, axis=0), w


def package(model: onnx.ModelProto = MODEL, target: str = "gpu:sm_90") -> Package:
    return build(model, target=target)


class Passes(Instrumentation):
    def __init__(self) -> None:
        self.names: list[str] = []

    def after(self, stage: Stage, module: Module) -> None:
        self.names.append(stage.name)


@pytest.mark.parametrize(
    ("target", "fitting"),
    [
        ("gpu:sm_80", ["widen-float8", "simplify-indices", "drop-bounds"]),
        ("gpu:sm_90", ["simplify-indices", "use-descriptors", "drop-bounds"]),
    ],
)
def test_instrumentation_sees_the_passes_that_make_kernels(target: str, fitting: list[str]) -> None:
    passes = Passes()
    made = build(MODEL, target=target, hooks=[passes])
    (code,) = made.manifest.part(GpuPart).codes
    start = passes.names.index("lower-to-tile")
    assert passes.names[start + 1 :] == fitting * len(code.kernels)


def test_an_elementwise_network_with_an_op_on_the_host(stand_in: StandIn) -> None:
    session = opened(package(), stand_in)
    for x in (X, -X):
        got = session.run({"x": x})
        for array, want in zip(got.values(), expected(x), strict=True):
            np.testing.assert_allclose(array, want, rtol=1e-6, atol=1e-6 * abs(want).max())


def test_steps_are_launches_with_copies_between_them_and_the_host() -> None:
    manifest = package().manifest
    kinds = [step.kind for step in manifest.steps]
    assert kinds == ["copy", "gpu", "copy", "host"]
    arena, weights = manifest.bases_in("gpu")
    upload, launches, download, host = manifest.steps
    assert manifest.buffers[upload.operands[0]].base == FIRST_PORT
    assert manifest.buffers[upload.results[0]].base == arena
    assert manifest.buffers[download.results[0]].base == FIRST_PORT + 1  # it is an output
    (launch,) = launches.launches
    assert {manifest.buffers[b].base for b in launch.buffers} == {arena, weights}
    assert launch.nodes == ("scale", "clip", "back")
    assert host.reason == "gpu has no kernel for tri.unique"


def test_weights_are_where_they_are_read() -> None:
    made = package()
    (space,) = made.manifest.spaces
    # The output that is a constant is read on the host.
    assert (made.manifest.memory.weight_bytes, space.weight_bytes) == (192, 192)
    assert bytes(made.entries["weights.bin"]) == bytes(made.entries["gpu/weights.bin"])
    assert space.arena_bytes >= space.arena_lower_bound > 0


def test_code_for_several_architectures_makes_the_same_launches() -> None:
    made = package(target="gpu:sm_80+sm_90")
    first, second = made.manifest.part(GpuPart).codes
    assert (first.architecture, second.architecture) == ("sm_80", "sm_90")
    assert [k.symbol for k in first.kernels] == [k.symbol for k in second.kernels]
    for kernel in (*first.kernels, *second.kernels):
        assert bytes(made.entries[kernel.entry])[:4] == b"\x7fELF"
        assert f"def {kernel.symbol}(" in bytes(made.entries[kernel.source]).decode()
    assert first.kernels[0].entry.startswith("gpu/sm_80/")


def test_a_package_is_made_again_from_what_is_in_it(tmp_path, stand_in: StandIn) -> None:
    first = package()
    first.save(tmp_path / "first.trv")
    again = build(tmp_path / "first.trv")
    assert again.manifest == first.manifest
    got = opened(again, stand_in).run({"x": X})
    np.testing.assert_allclose(got["y"], expected(X)[0], rtol=1e-6, atol=1e-6)


def test_the_same_model_makes_the_same_package() -> None:
    assert package().manifest.to_json() == package().manifest.to_json()


def test_check_says_what_runs_on_the_host_and_why() -> None:
    found = check(MODEL, target="gpu:sm_90")
    assert [(p.target, p.refusals) for p in found] == [
        ("gpu", ()),
        ("host", ("gpu has no kernel for tri.unique", "cpu has no kernel for tri.unique")),
    ]


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("gpu:sm_91", "no GPU architecture is called 'sm_91', did you mean 'sm_90'"),
        ("gpu:", "target 'gpu:' lacks the name of a GPU architecture"),
        ("gpu:sm_90+sm_90", r"target 'gpu:sm_90\+sm_90' names 'sm_90' twice"),
        ("gpu:gfx942", "target is 'gpu:gfx942', must be an architecture of NVIDIA"),
        ("cpu:sm_90", "target 'cpu:sm_90' names architectures, 'cpu' has none: .*--machine"),
        ("host:x", "target 'host:x' names architectures, 'host' has none"),
    ],
)
def test_targets_that_there_are_not(target: str, message: str) -> None:
    with pytest.raises(CompileError, match=message):
        package(target=target)


def test_without_a_gpu_one_must_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from trivium.runtime.errors import RunError
    from trivium.runtime.gpu.device import Device

    def nothing(*_: object) -> None:
        raise RunError("there is no driver for a GPU")

    monkeypatch.setattr(Device, "open", nothing)
    with pytest.raises(CompileError, match=r"there is no driver .* as in 'gpu:sm_90'"):
        package(target="gpu")


def test_transpositions_and_reshapes_between_kernels_are_views(stand_in: StandIn) -> None:
    model = onnx.parser.parse_model(
        """<ir_version: 10, opset_import: ["" : 21]>
        net (float[2, 3, 4, 5] x) => (float[20, 2, 3] y)
            <int64[3] rows = {2, 3, 20}> {
            a = Softmax <axis = 3> (x)
            b = Transpose <perm = [0, 2, 3, 1]> (a)
            c = Exp (b)
            d = Transpose <perm = [0, 3, 1, 2]> (c)
            e = Reshape (d, rows)
            f = Transpose <perm = [2, 0, 1]> (e)
            y = Neg (f)
        }"""
    )
    x = np.random.default_rng(1).standard_normal((2, 3, 4, 5)).astype(np.float32)
    powers = np.exp(x.astype(np.float64))
    soft = powers / powers.sum(3, keepdims=True)
    want = -np.exp(soft).reshape(2, 3, 20).transpose(2, 0, 1)
    np.testing.assert_allclose(opened(package(model), stand_in)(x), want, rtol=1e-5)


@pytest.mark.parametrize(("precision", "epsilon"), [("fp16", 2.0**-11), ("bf16", 2.0**-8)])
def test_half_precision(precision: str, epsilon: float, stand_in: StandIn) -> None:
    model = onnx.ModelProto.FromString(MODEL.SerializeToString())
    del model.graph.node[-1], model.graph.output[1]  # what the host does
    made = build(model, target="gpu:sm_90", precision=precision)
    assert made.manifest.spaces[0].weight_bytes == 128  # 40 halves
    got = opened(made, stand_in).run({"x": X})
    y, _, _ = expected(X)
    # Each factor and each result is rounded once.
    size = abs(X * (0.25 * np.arange(40) - 4)) + abs(X)
    assert (abs(got["y"] - y) <= 4 * epsilon * size).all()
    assert not np.allclose(got["y"], y, rtol=1e-6, atol=1e-6)


BRANCHES = onnx.parser.parse_model(
    """<ir_version: 10, opset_import: ["" : 21]>
    net (int64 n) => (float[K] y)
        <int64 zero = {0}, int64 one = {1}, int64 three = {3}, float half = {0.5}> {
        r = Range (zero, n, one)
        less = Less (n, three)
        f = Cast <to = 1> (n)
        d = Sub (f, half)
        y = If (less) <
            then_branch = small () => (float[K] a) { c = Cast <to = 1> (r)  a = Mul (c, half) },
            else_branch = large () => (float[K] b) {
                e = Cast <to = 1> (r)
                q = Div (half, d)
                b = Mul (e, q)
            }
        >
    }"""
)


@pytest.mark.parametrize("n", [2, 5])
def test_a_branch_copies_what_was_known_before_to_memory_of_sizes_that_were_found(
    n: int, stand_in: StandIn
) -> None:
    made = package(BRANCHES)
    stand_in.sizes = {symbol.name: n for symbol in made.manifest.symbols}
    with opened(made, stand_in) as session:
        (y,) = session.run({"n": np.int64(n)}).values()
    factor = 0.5 if n < 3 else 0.5 / (n - 0.5)
    np.testing.assert_allclose(y, np.arange(n, dtype=np.float32) * np.float32(factor), rtol=1e-6)
    assert stand_in.errors == []
