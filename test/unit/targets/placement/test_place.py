"""Placement: who runs what, why not somewhere else, and that nothing is lost on the way."""

import numpy as np
import pytest
from trivium.dialects import tri
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.interpret import run
from trivium.dialects.core.location import node_names
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.module import Module, ops
from trivium.targets.placement.place import Place, placed_groups, refusals_in
from trivium.targets.registry import find_target

GROUP = """
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "tri.group"(%x) ({
  ^bb0(%a: tensor<2x3xf32>):
    %1 = "tri.relu"(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("r"("r0"))
    %2 = "tri.exp"(%1) : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("e"("e0"))
    "tri.yield"(%2) : (tensor<2x3xf32>) -> ()
  }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = "tri.reshape"(%0) {shape = array<i64: 3, 2>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %4 = "tri.reshape"(%3) {shape = array<i64: 2, 3>} : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %5 = "tri.sqrt"(%4) : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("s"("s0"))
  return %5 : tensor<2x3xf32>
}
"""


def placed(text: str, *targets: str) -> list[tuple[str, list[str]]]:
    with new_context():
        module = Module.parse(text)
        x = np.random.default_rng(0).random((2, 3)).astype(np.float32)
        before = run(module, [x])
        Place(targets).run(module)
        module.verify()
        np.testing.assert_array_equal(run(module, [x])[0], before[0])
        groups = [op for op in ops(module.operation) if isinstance(op, tri.Group)]
        return [(g.target, [o.op_name for o in ops(g.block) if not o.terminator]) for g in groups]


def test_a_group_goes_as_a_whole_where_it_is_accepted() -> None:
    assert placed(GROUP, "cpu", "host") == [
        ("cpu", ["tri.relu", "tri.exp"]),
        ("cpu", ["tri.sqrt"]),
    ]


def test_the_host_takes_one_op_at_a_time() -> None:
    assert placed(GROUP, "host") == [
        ("host", ["tri.relu"]),
        ("host", ["tri.exp"]),
        ("host", ["tri.sqrt"]),
    ]


def test_running_it_twice_changes_nothing() -> None:
    with new_context():
        module = Module.parse(GROUP)
        Place().run(module)
        once = str(module)
        Place().run(module)
        assert str(module) == once


def test_a_refused_op_is_listed_with_every_reason() -> None:
    text = """
    func.func @main(%x: tensor<4x2xi64>) -> tensor<4x2xi64> {
      %0 = "tri.no_such"(%x) : (tensor<4x2xi64>) -> tensor<4x2xi64>
      return %0 : tensor<4x2xi64>
    }"""
    with new_context(), pytest.raises(CompileError, match=r"'tri\.no_such' op is of no dialect"):
        Module.parse(text)


def test_an_unknown_target_names_those_there_are() -> None:
    with (
        new_context(),
        pytest.raises(CompileError, match=r"no target is called 'tpu'.*cpu, gpu, host"),
    ):
        Place(("tpu",)).run(Module.parse(GROUP))


def test_the_report_says_why_the_first_choice_refused() -> None:
    text = """
    func.func @main(%x: tensor<2x3xf32>, %l: tensor<2xi64>) -> tensor<2x3xf32> {
      %0 = "tri.lp_normalize"(%x) {p = 1} : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("h"("h0"))
      return %0 : tensor<2x3xf32>
    }"""
    with new_context():
        module = Module.parse(text)
        Place().run(module)
        (group,) = placed_groups(module)
        assert node_names(group.location) == ("h",)
        assert group.target == "host"
        ((_, reason),) = refusals_in(group, find_target("cpu"), module)
    assert reason == "cpu has no kernel for tri.lp_normalize"


LARGE = """
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "tri.group"(%x) ({
  ^bb0(%a: tensor<2x3xf32>):
    %c = "tri.constant"() {value = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>} : () -> tensor<3xf32>
    %1 = "tri.add"(%a, %c) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
    "tri.yield"(%1) : (tensor<2x3xf32>) -> ()
  }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
"""


@pytest.mark.parametrize("targets", [("cpu", "host"), ("host",)])
def test_a_large_constant_is_taken_out_of_its_group(targets: tuple[str, ...]) -> None:
    assert placed(LARGE, *targets) == [(targets[0], ["tri.add"])]


TWO_SHAPES = """
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "tri.group"(%x) ({
  ^bb0(%a: tensor<2x3xf32>):
    %1 = "tri.reduce_max"(%a) {axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2x1xf32>
    %2 = "tri.sub"(%a, %1) : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
    "tri.yield"(%2) : (tensor<2x3xf32>) -> ()
  }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
"""

TWO_ANCHORS = """
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "tri.group"(%x) ({
  ^bb0(%a: tensor<2x3xf32>):
    %1 = "tri.exp"(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %2 = "tri.softmax"(%1) {axis = 1} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    "tri.yield"(%2) : (tensor<2x3xf32>) -> ()
  }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
"""


KERNEL_OPS = """
func.func @main(%x: tensor<1x3xf32>, %z: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "tri.softmax"(%x) {axis = 1} : (tensor<1x3xf32>) -> tensor<1x3xf32>
  %1 = "tri.exp"(%0) : (tensor<1x3xf32>) -> tensor<1x3xf32>
  %2 = "tri.add"(%1, %z) : (tensor<1x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %2 : tensor<2x3xf32>
}
"""


@pytest.mark.parametrize("text", [TWO_SHAPES, TWO_ANCHORS])
def test_ops_that_make_no_kernel_are_taken_apart(text: str) -> None:
    targets = placed(text, "cpu", "host")
    assert [len(names) for _, names in targets] == [1, 1]
    assert {target for target, _ in targets} == {"cpu"}


@pytest.mark.parametrize("name", ["cpu", "gpu"])
@pytest.mark.parametrize(
    ("ops_of_kernel", "refusal"),
    [
        (["softmax", "exp"], None),
        (["softmax", "add"], "takes only ops of one shape behind tri.softmax in a kernel"),
        ([], "takes no kernel that only returns constants"),
    ],
)
def test_targets_refuse_the_same_kernels(
    name: str, ops_of_kernel: list[str], refusal: str | None
) -> None:
    with new_context():
        module = Module.parse(KERNEL_OPS)
        found = {op.op_name.removeprefix("tri."): op for op in ops(module.main)}
        reason = find_target(name).kernel_refusal([found[each] for each in ops_of_kernel])
    assert reason == (refusal and f"{name} {refusal}")
