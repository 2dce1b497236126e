"""What whoever compiles hears while it lasts."""

import onnx.parser
import trivium
from trivium.targets.core import kernel_progress

MODEL = onnx.parser.parse_model(
    """<ir_version: 10, opset_import: ["" : 21]>
    g (float[2, 3] x, float[4, 4] z) => (float[2, 2] y, float[4, 4] e)
    <float[3, 2] w = {1, 0, 0, 1, -1, -1}> {
        [multiply] p = MatMul (x, w)
        [clip] y = Relu (p)
        [first] a = Softmax (z)
        [second] b = Softmax (a)
        [third] e = Transpose <perm = [1, 0]> (b)
    }"""
)


def test_kernels_are_counted_and_named_by_their_nodes() -> None:
    heard: list[str] = []
    trivium.build(MODEL, progress=heard.append)
    assert heard[:2] == ["import", "optimise"]
    kernels = heard[2:]
    assert kernels[0] == f"kernel 1 of {len(kernels)}: multiply + clip"
    assert [line.split(":")[0] for line in kernels] == [
        f"kernel {number + 1} of {len(kernels)}" for number in range(len(kernels))
    ]


def test_kernels_for_several_machines_say_for_which() -> None:
    heard: list[str] = []
    trivium.build(MODEL, machine=("x86-64-v2", "x86-64-v3"), progress=heard.append)
    for machine in ("x86-64-v2", "x86-64-v3"):
        assert any(line.endswith(f"multiply + clip for {machine}") for line in heard)


def test_of_many_nodes_the_first_are_named() -> None:
    assert kernel_progress(3, 33, "abcdef") == "kernel 3 of 33: a + b + c + d + 2 more"
