"""Sizes that data decide, in sessions: one compile, the sizes of each run are found on the way."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trivium
from trivium.runtime import PackageError, RunError, Session
from trivium.runtime.checks import check
from trivium.test.unit.runtime.clones import use_clones

ROWS = """
func.func @main(%x: tensor<?x3xf32, ["N", ""]>, %chosen: tensor<?xi1, ["N"]>)
    -> (tensor<?xf32, ["3*u0"]>, tensor<?xf32, ["2*u1"]>, tensor<?x3xf32, ["N", ""]>) attributes {
    trivium.inputs = ["x", "chosen"], trivium.outputs = ["kept", "twice", "exp"],
    trivium.checks = [
        {expression = "7 - u1", message = "has too many", node = "n", relation = ">="}],
    trivium.symbols = {N = "0..", u0 = "0..", u1 = "0.."}} {
  %e = "tri.exp"(%x) : (tensor<?x3xf32, ["N", ""]>) -> tensor<?x3xf32, ["N", ""]>
  %0 = "tri.compress"(%x, %chosen) {axis = 0, count = "u0"}
      : (tensor<?x3xf32, ["N", ""]>, tensor<?xi1, ["N"]>) -> tensor<?x3xf32, ["u0", ""]>
  %1 = "tri.reshape"(%0) {shape = ["3*u0"]}
      : (tensor<?x3xf32, ["u0", ""]>) -> tensor<?xf32, ["3*u0"]>
  %2:4 = "tri.unique"(%1) {axis = 0, count = "u1"}
      : (tensor<?xf32, ["3*u0"]>) -> (tensor<?xf32, ["u1"]>, tensor<?xi64, ["u1"]>,
                                      tensor<?xi64, ["3*u0"]>, tensor<?xi64, ["u1"]>)
  %3 = "tri.tile"(%2#0) {repeats = array<i64: 2>}
      : (tensor<?xf32, ["u1"]>) -> tensor<?xf32, ["2*u1"]>
  return %1, %3, %e : tensor<?xf32, ["3*u0"]>, tensor<?xf32, ["2*u1"]>, tensor<?x3xf32, ["N", ""]>
}
"""


def feeds(*chosen: int, seed: int = 0) -> dict[str, Any]:
    random = np.random.default_rng(seed)
    x = random.integers(0, 7, (len(chosen), 3)).astype(np.float32)
    return {"x": x, "chosen": np.array(chosen, bool)}


def assert_right(session: Session, given: Mapping[str, Any]) -> None:
    results = session.run(given)
    x, chosen = given["x"], given["chosen"]
    assert list(results) == ["kept", "twice", "exp"]
    np.testing.assert_array_equal(results["kept"], x[chosen].reshape(-1))
    np.testing.assert_array_equal(results["twice"], np.tile(np.unique(x[chosen]), 2))
    np.testing.assert_allclose(results["exp"], np.exp(x), 1e-6)


@pytest.fixture(scope="module", params=["host", "cpu"])
def session(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Session:
    path = tmp_path_factory.mktemp("ir") / "rows.mlir"
    path.write_text(ROWS)
    return trivium.compile(path, target=request.param, threads=2)


CHOICES = [(), (0,), (1,), (0, 0, 0), (0, 1, 0), (1, 1, 1, 1, 1, 1), (1,) * 300, (0, 1) * 40]


def test_nothing_one_and_all_are_found(session: Session):
    for seed in range(3):
        for chosen in CHOICES:
            assert_right(session, feeds(*chosen, seed=seed))


def test_a_saved_package_finds_sizes(session: Session, tmp_path: Path):
    session.save(tmp_path / "p.trv")
    with trivium.load(tmp_path / "p.trv") as again:
        for chosen in CHOICES:
            assert_right(again, feeds(*chosen))


def test_clones_find_different_sizes_in_several_threads(session: Session):
    def use(twin: Session, start: int, i: int) -> None:
        assert_right(twin, feeds(*CHOICES[(start + i) % len(CHOICES)], seed=i))

    use_clones(session, 40, use)


def test_an_error_in_the_middle_of_a_run_leaves_the_session_usable(session: Session):
    many = {"x": np.arange(30, dtype=np.float32).reshape(10, 3), "chosen": np.ones(10, bool)}
    for _ in range(2):
        with pytest.raises(RunError) as caught:
            session.run(many)
        assert str(caught.value) == "n: error: has too many (N is 10, u0 is 10, u1 is 30)"
        assert_right(session, feeds(1, 0, 1))


def test_results_stay_as_they_are_when_the_session_runs_again(session: Session):
    first = session.run(feeds(1, 1, 0, seed=1))
    kept = {name: array.copy() for name, array in first.items()}
    session.run(feeds(1, 1, 1, seed=2))
    for name, array in first.items():
        np.testing.assert_array_equal(array, kept[name])


def test_outputs_of_sizes_that_are_found_cannot_be_given(session: Session):
    given = feeds(1, 0, 1)
    with pytest.raises(RunError) as caught:
        session.run(given, {"kept": np.empty(6, np.float32)})
    assert str(caught.value) == (
        "output 'kept' has shape 3*u0, which is found when the package runs: it can neither be "
        "given nor be state"
    )
    exp = np.empty((3, 3), np.float32)
    results = session.run(given, {"exp": exp})
    assert results["exp"] is exp
    np.testing.assert_allclose(exp, np.exp(given["x"]), 1e-6)


STATE = """
func.func @main(%x: tensor<3xf32>, %s: tensor<3xf32>)
    -> (tensor<3xf32>, tensor<1x?xi64, ["", "u0"]>) attributes {
    trivium.inputs = ["x", "s"], trivium.outputs = ["t", "y"],
    trivium.symbols = {u0 = "0..3"}} {
  %0 = "tri.non_zero"(%s) {count = "u0"} : (tensor<3xf32>) -> tensor<1x?xi64, ["", "u0"]>
  %1 = "tri.add"(%x, %s) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %1, %0 : tensor<3xf32>, tensor<1x?xi64, ["", "u0"]>
}
"""


@pytest.mark.parametrize("target", ["host", "cpu"])
def test_state_lives_beside_sizes_that_are_found(target: str, tmp_path: Path):
    (tmp_path / "state.mlir").write_text(STATE)
    session = trivium.compile(tmp_path / "state.mlir", target=target)
    session.bind_state({"t": "s"})
    total = np.zeros(3, np.float32)
    for x in ([0, 1, 0], [0, 0, 2], [0, 0, 0], [3, 0, -2], [0, 0, 0]):
        results = session.run({"x": np.array(x, np.float32)})
        assert list(results) == ["y"]
        assert results["y"].tolist() == [np.flatnonzero(total).tolist()]
        total += np.array(x, np.float32)
        np.testing.assert_array_equal(session.state["s"], total)


def test_a_session_says_what_is_found(session: Session):
    assert [port.shape for port in session.outputs] == [("3*u0",), ("2*u1",), ("N", 3)]
    assert session.shapes(N=4) == {"kept": ("3*u0",), "twice": ("2*u1",), "exp": (4, 3)}
    assert [symbol.stage for symbol in session.symbols.values()] == [0, 1, 2]


def test_memory_is_given_back(session: Session):
    with session.clone() as twin:
        assert_right(twin, feeds(*(1,) * 300))
        twin.trim()
        assert_right(twin, feeds(*(1,) * 300))


RANGE = """
func.func @main(%n: tensor<i64>) -> tensor<?xi64, ["few"]> attributes {
    trivium.inputs = ["n"], trivium.outputs = ["y"], trivium.symbols = {few = "0..5"}} {
  %0 = "tri.define_sizes"(%n) {sizes = ["few"]} : (tensor<i64>) -> tensor<i64>
  %1 = "tri.iota"() {size = "few"} : () -> tensor<?xi64, ["few"]>
  return %1 : tensor<?xi64, ["few"]>
}
"""


def test_sizes_that_are_computed_are_in_their_range(tmp_path: Path):
    (tmp_path / "range.mlir").write_text(RANGE)
    session = trivium.compile(tmp_path / "range.mlir", target="host")
    for bad in (6, -1, -(1 << 63), (1 << 63) - 1):
        with pytest.raises(RunError, match=f"finds {bad} for size few, must be from 0 to 5"):
            session.run({"n": np.array(bad)})
        assert session.run({"n": np.array(3)})["y"].tolist() == [0, 1, 2]


def test_sizes_that_are_computed_are_within_their_limits(tmp_path: Path):
    text = RANGE.replace('{sizes = ["few"]}', '{sizes = ["few"], limits = array<i64: 4>}')
    (tmp_path / "limit.mlir").write_text(text)
    session = trivium.compile(tmp_path / "limit.mlir")
    with pytest.raises(RunError, match="error: finds size 5, must be at most 4"):
        session.run({"n": np.array(5)})
    assert session.run({"n": np.array(4)})["y"].tolist() == [0, 1, 2, 3]


def test_sizes_are_found_where_only_the_runtime_is_installed(tmp_path: Path):
    (tmp_path / "range.mlir").write_text(RANGE)
    package = trivium.build(tmp_path / "range.mlir")
    with Session(package, {"tri": {}}) as session:
        assert session.run({"n": np.array(2)})["y"].tolist() == [0, 1]


def test_a_step_that_finds_sizes_has_one_operand_and_one_result(tmp_path: Path):
    (tmp_path / "range.mlir").write_text(RANGE)
    session = trivium.compile(tmp_path / "range.mlir")
    first, *others = session.manifest.steps
    bad = (replace(first, operands=first.operands * 2), *others)
    assert "must have an operand, a result, and sizes to find" in refusal(session, steps=bad)


def test_memory_that_no_system_has_is_refused(tmp_path: Path):
    text = RANGE.replace("0..5", "0..")
    (tmp_path / "range.mlir").write_text(text)
    session = trivium.compile(tmp_path / "range.mlir", target="host")
    for huge in (1 << 31, 1 << 44, 1 << 62):
        with pytest.raises(RunError):
            session.run({"n": np.array(huge << 10 if huge == 1 << 31 else huge)})
        assert session.run({"n": np.array(2)})["y"].tolist() == [0, 1]


def refusal(session: Session, **changes: Any) -> str:
    manifest = replace(session.manifest, **changes)
    with pytest.raises(PackageError) as caught:
        check(manifest)
    return str(caught.value)


def test_manifests_whose_stages_do_not_fit_are_refused(tmp_path: Path):
    (tmp_path / "rows.mlir").write_text(ROWS)
    session = trivium.compile(tmp_path / "rows.mlir", target="host")
    manifest = session.manifest
    symbols, steps = manifest.symbols, manifest.steps
    late = tuple(replace(each, stage=each.stage and 3 - each.stage) for each in symbols)
    fault = "'symbols' has 'u0' that is found in stage 1, must be in stage 2"
    assert fault in refusal(session, symbols=late)
    missing = (*symbols, replace(symbols[1], name="u2", stage=1))
    fault = "'u2' that is found by no step, must be in stage 1"
    assert fault in refusal(session, symbols=missing)
    given = (symbols[0], replace(symbols[1], stage=0), symbols[2])
    fault = "'u0' that is found in stage 1, must be in no other stage"
    assert fault in refusal(session, symbols=given)
    early = (steps[0], steps[-1], *steps[1:-1])
    assert "'steps[1].operands[0]' is " in refusal(session, steps=early)
    first = manifest.first_stage
    low = tuple(replace(r, base=first) if r.base > first else r for r in manifest.regions)
    assert "which is not known yet" in refusal(session, regions=low)
    lacking = tuple(r for r in manifest.regions if r.base == first)
    assert "an arena of no regions" in refusal(session, regions=lacking)
    compress = next(step for step in steps if step.finds)
    for change in ({"result": 3}, {"index": 9}, {"of": "sum"}, {"index": -1}, {"of": "elements"}):
        finds = tuple(replace(each, **change) for each in compress.finds)
        bad = tuple(replace(s, finds=finds) if s is compress else s for s in steps)
        assert "which is not 'u0'" in refusal(session, steps=bad)
    twice = tuple(replace(s, finds=s.finds * 2) for s in steps)
    assert "'steps' find a symbol twice" in refusal(session, steps=twice)
