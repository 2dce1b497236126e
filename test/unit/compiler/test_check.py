"""Where a model would run."""

import onnx.parser
import pytest
import trivium
from trivium.dialects.core.errors import CompileError

MODEL = onnx.parser.parse_model(
    """<ir_version: 10, opset_import: ["" : 21]>
    g (float[N, 3] x) => (float[N, 3] y) {
        [first] a = Exp (x)
        [second] y = Neg (a)
    }"""
)


def test_kernels_of_the_target() -> None:
    (placement,) = trivium.check(MODEL, shapes={"N": 2})
    assert placement.target == "cpu"
    assert placement.ops == ("tri.exp", "tri.neg")
    assert placement.nodes == ("first", "second")
    assert placement.refusals == ()


def test_the_host_runs_one_op_at_a_time() -> None:
    placements = trivium.check(MODEL, target="host", shapes={"N": 2})
    assert [(p.target, p.nodes, p.ops) for p in placements] == [
        ("host", ("first",), ("tri.exp",)),
        ("host", ("second",), ("tri.neg",)),
    ]


@pytest.mark.parametrize("function", [trivium.check, trivium.can_run])
def test_a_package_is_no_model(function) -> None:
    with pytest.raises(CompileError, match=r"'m.trv' is a package, must be a model"):
        function("m.trv")


def test_an_accelerator_asks_for_a_quantised_model() -> None:
    (placement,) = trivium.check(MODEL, target="vanilla", shapes={"N": 2})
    why = "vanilla computes on integers, not on f32: quantise the model first"
    assert placement.refusals == (why,)
    for verdict in trivium.can_run(MODEL, target="vanilla", shapes={"N": 2}):
        assert verdict.refusals == (why,)


def test_the_errors_are_those_of_compile() -> None:
    with pytest.raises(CompileError, match="input has shape Nx3, must be static"):
        trivium.check(MODEL, target="vanilla")
    with pytest.raises(CompileError, match="no target is called 'tpu'"):
        trivium.check(MODEL, target="tpu", shapes={"N": 2})
