"""Packages for a GPU whose branches and loops have sizes that change, and find sizes themselves."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx.parser
import onnxruntime
import pytest
import trivium
from interpreted import interpreted
from trivium.runtime.gpu.step import GpuStep
from trivium.runtime.package import Package
from trivium.runtime.session import Session
from trivium.runtime.step import all_steps
from trivium.test.unit.runtime.gpu.stand_in import Run, StandIn

Feeds = Mapping[str, np.ndarray[Any, Any]]

BRANCH = """
    <ir_version: 8, opset_import: ["" : 17]>
    branch (bool choose, float[N, 4] boxes, float[N] score) => (float[3] y, float[N] share)
    <int64[1] all = {-1}, int64[1] first = {0}, float least = {0.05},
     float[4, 3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}> {
        [share] share = Softmax <axis = 0> (score)
        y = If (choose) <
            then_branch = high () => (float[3] a) {
                over = Greater (share, least)
                [find] found = NonZero (over)
                places = Reshape (found, all)
                chosen = Gather (boxes, places)
                [product] product = MatMul (chosen, w)
                a = ReduceSum <keepdims = 0> (product, first)
            },
            else_branch = every () => (float[3] b) {
                [scale] scaled = MatMul (boxes, w)
                b = ReduceMax <axes = [0], keepdims = 0> (scaled)
            }
        >
    }
"""

LOOP = """
    <ir_version: 8, opset_import: ["" : 17]>
    loop (int64 times, float[N, 4] boxes, float[N] score) => (float[N] left, float[M, 3] sums)
    <int64[1] all = {-1}, int64[1] first = {0}, float least = {0.5}, float half = {0.75},
     float[4, 3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}> {
        left, sums = Loop (times, , score) <
            body = step (int64 i, bool go, float[N] now) => (bool on, float[N] next, float[3] sum) {
                on = Identity (go)
                over = Greater (now, least)
                [find] found = NonZero (over)
                places = Reshape (found, all)
                chosen = Gather (boxes, places)
                [product] product = MatMul (chosen, w)
                sum = ReduceSum <keepdims = 0> (product, first)
                [shrink] next = Mul (now, half)
            }
        >
    }
"""

GROW = """
    <ir_version: 8, opset_import: ["" : 17]>
    grow (int64 times, float[1, 4] x) => (float[R, 4] y, float[M, 3] sums)
    <int64[1] first = {0}, float[4, 3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}> {
        y, sums = Loop (times, , x) <
            body = step (int64 i, bool go, float[T, 4] rows)
                    => (bool on, float[T1, 4] next, float[3] sum) {
                on = Identity (go)
                [join] next = Concat <axis = 0> (rows, x)
                [product] product = MatMul (next, w)
                [sum] sum = ReduceSum <keepdims = 0> (product, first)
            }
        >
    }
"""


def build(text: str) -> Package:
    shapes = {"N": trivium.Range(1, 256, likely=64)} if "[N" in text else {}
    return trivium.build(onnx.parser.parse_model(text), target="gpu:sm_90", shapes=shapes)


@pytest.fixture(scope="module")
def branch() -> Package:
    return build(BRANCH)


@pytest.fixture(scope="module")
def loop() -> Package:
    return build(LOOP)


def feeds(count: int, first: str, value: np.ndarray[Any, Any]) -> Feeds:
    random = np.random.default_rng(count)
    return {
        first: value,
        "boxes": random.random((count, 4), np.float32),
        "score": random.random(count, np.float32),
    }


def assert_as_onnxruntime(text: str, session: Session, stand_in: StandIn, given: Feeds) -> None:
    model = onnx.parser.parse_model(text).SerializeToString()
    wanted = onnxruntime.InferenceSession(model).run(None, given)
    results = session.run(given)
    assert not stand_in.errors
    for got, want in zip(results.values(), wanted, strict=True):
        np.testing.assert_allclose(got, want, 1e-5, 1e-6, strict=True)


def nodes_on_the_gpu(package: Package) -> set[str]:
    steps = [step for step in all_steps(package.manifest.steps) if isinstance(step, GpuStep)]
    return {node.split("/")[-1] for step in steps for node in step.nodes}


def test_a_branch_that_finds_sizes(branch: Package, stand_in: StandIn) -> None:
    assert nodes_on_the_gpu(branch) > {"share", "product", "scale"}
    stand_in.execute(branch, lambda run: interpreted(branch, run))
    with Session(branch, device=stand_in.device()) as session:
        for count, chosen in ((20, True), (20, False), (9, True), (9, True), (200, True)):
            given = feeds(count, "choose", np.array(chosen))
            share = np.exp(given["score"]) / np.exp(given["score"]).sum()
            stand_in.sizes = {"N": count, "u0": int((share > 0.05).sum())}
            assert_as_onnxruntime(BRANCH, session, stand_in, given)
        live = stand_in.live
        session.trim()
        assert stand_in.live < live
        assert_as_onnxruntime(BRANCH, session, stand_in, given)


def test_a_loop_that_finds_other_sizes_in_each_iteration(loop: Package, stand_in: StandIn) -> None:
    assert nodes_on_the_gpu(loop) > {"product", "shrink"}
    compared: list[int] = []

    def execute(run: Run) -> None:
        interpreted(loop, run)
        if "greater" in run.kernel.symbol:  # what follows in this iteration is for these sizes
            stand_in.sizes["u0"] = int(run.arrays[-1].sum())
            compared.append(stand_in.sizes["u0"])

    stand_in.execute(loop, execute)
    with Session(loop, device=stand_in.device()) as session:
        for count, times in ((30, 4), (5, 1), (30, 0), (100, 3)):
            given = feeds(count, "times", np.array(times))
            stand_in.sizes = {"N": count}
            assert_as_onnxruntime(LOOP, session, stand_in, given)
    assert len({*compared}) > 4


def test_a_loop_that_adds_rows_to_what_it_reads(stand_in: StandIn) -> None:
    package = build(GROW)
    assert nodes_on_the_gpu(package) >= {"product", "sum"}
    assert package.manifest.carried_arenas

    def execute(run: Run) -> None:
        interpreted(package, run)
        if "reduce_sum" in run.kernel.symbol:  # the last kernel of an iteration
            stand_in.sizes["u0"] += 1

    stand_in.execute(package, execute)
    with Session(package, device=stand_in.device()) as session:
        for times in (3, 0, 9):
            stand_in.sizes = {"u0": 1}
            given = {"times": np.array(times), "x": np.ones((1, 4), np.float32)}
            assert_as_onnxruntime(GROW, session, stand_in, given)
            assert stand_in.sizes["u0"] == 1 + times
