"""Programs for exact sizes, in one package with that for all sizes."""

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trivium
from trivium.compiler.driver import build
from trivium.runtime import Package, RunError, Session
from trivium.runtime.cpu.part import CpuPart
from trivium.test.unit.compiler.exact.exact_models import WEIGHTS, assert_right, feeds, model

SETS = [{"T": 128, "N": 1}, {"N": 2, "T": 33}]
SIZES = [(1, 128), (2, 33), (3, 5), (1, 128), (2, 32), (2, 33), (1, 128)]


@pytest.fixture(scope="module")
def package() -> Package:
    return build(model(), exact=SETS)


@pytest.fixture
def session(package: Package) -> Session:
    return Session(package)


def opened(session: Session) -> list[tuple[int, int]]:
    return [shapes[1] for shapes, _ in session._exact.opened]  # type: ignore[misc]


def test_all_sizes_run_and_exact_ones_by_their_programs(session: Session, tmp_path: Path):
    session.save(tmp_path / "rows.trv")
    for each in (session, session.clone(), trivium.load(tmp_path / "rows.trv")):
        for n, t in SIZES:
            assert_right(each.run(feeds(n, t)), feeds(n, t))
        assert opened(each) == [(1, 128), (2, 33)]


def test_each_program_has_the_kernels_of_the_model_at_these_sizes(package: Package):
    assert [each.sizes for each in package.manifest.exact] == [dict(N=1, T=128), dict(N=2, T=33)]
    for sizes, program in zip(SETS, package.exact, strict=True):
        alone = build(model(), shapes=sizes)
        assert program.manifest.part(CpuPart).kernels == alone.manifest.part(CpuPart).kernels
        for kernel in alone.manifest.part(CpuPart).kernels:
            assert bytes(program.entries[kernel.object]) == bytes(alone.entries[kernel.object])
        assert program.manifest.inputs == alone.manifest.inputs
        assert program.manifest.memory.arena_bytes == alone.manifest.memory.arena_bytes
        given = feeds(sizes["N"], sizes["T"])
        results = Session(package).run(given)
        for name, wanted in Session(alone).run(given).items():
            np.testing.assert_array_equal(results[name], wanted)


def test_weights_and_equal_entries_are_stored_once(package: Package):
    """Programs pack the weights as they need them: equal packed forms are one."""
    forms = {build(model(), shapes=each).manifest.memory.weight_bytes for each in SETS}
    assert max(forms) <= package.manifest.memory.weight_bytes <= 3 * max(forms)
    assert package.manifest.memory.weight_bytes < 4 * 2 * WEIGHTS.nbytes
    names = [entry.name for entry in package.manifest.entries]
    assert names.count("weights.bin") == 1
    assert not any(name.endswith(("weights.bin", "threads.o")) for name in names if "exact" in name)
    for each in package.exact:
        assert each.weights is package.weights


def test_a_package_without_exact_sizes_has_no_trace_of_them():
    text = build(model(), shapes={"N": 1, "T": 4}).manifest.to_json()
    assert "exact" not in text + build(model()).manifest.to_json()


def test_shapes_and_symbols_are_those_of_all_sizes(session: Session):
    assert session.inputs[0].shape == ("N", "T", 12)
    assert list(session.symbols) == ["N", "T"]
    assert session.shapes(N=1, T=128) == {"y": (1, 128, 20), "z": (1, 128)}
    assert session.shapes(N=7, T=9)["z"] == (7, 9)


def test_inputs_are_converted_and_given_outputs_written(session: Session):
    x = np.asfortranarray(feeds(2, 33)["x"])
    bias = feeds(2, 33)["bias"]
    z = np.empty((2, 33), np.float32)
    results = session.run({"x": x, "bias": bias.tolist()}, {"z": z})
    assert results["z"] is z
    assert_right(results, {"x": x, "bias": bias})
    (y, total) = session(x, bias)
    np.testing.assert_array_equal(total, z)
    assert y.shape == (2, 33, 20)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"x": np.zeros((1, 128, 12), np.float32)}, "input 'bias' is missing"),
        (feeds(1, 128) | {"y": 1}, "no input is named 'y'"),
        (feeds(1, 128) | {"bias": np.zeros((1, 33), np.float32)}, "input 'bias' has 33 for T"),
        (feeds(1, 128) | {"bias": np.zeros((1, 128))}, "input 'bias' is float64, must be float32"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(session: Session, given: Any, message: str):
    for _ in range(2):
        with pytest.raises(RunError, match=message):
            session.run(given)
        assert_right(session.run(feeds(1, 128)), feeds(1, 128))
    with pytest.raises(RunError, match=r"output 'z' has shape \(3, 3\), must be \(1, 128\)"):
        session.run(feeds(1, 128), {"z": np.empty((3, 3), np.float32)})


def test_memory_is_given_back(session: Session):
    session.run(feeds(1, 128))
    session.trim()
    assert opened(session) == []
    assert_right(session.run(feeds(1, 128)), feeds(1, 128))
    session.close()
    for size in ((1, 128), (3, 5)):
        with pytest.raises(RunError, match="the session is closed"):
            session.run(feeds(*size))


def test_arrays_of_a_run_are_not_kept(session: Session):
    for n, t in SIZES:
        session.run(feeds(n, t), {"z": np.empty((n, t), np.float32)})
    for _, each in session._exact.opened:
        assert all(array.size == 0 for array in each._bases.arrays[3:])


def test_one_lock_guards_all_programs(session: Session):
    for n, t in SIZES:
        session.run(feeds(n, t))
    with session._busy:
        for n, t in SIZES:
            with pytest.raises(RunError, match="is running in another thread"):
                session.run(feeds(n, t))


def test_clones_run_in_threads(session: Session):
    faults: list[BaseException] = []

    def work(twin: Session) -> None:
        try:
            for n, t in SIZES * 5:
                result = twin.run(feeds(n, t))["z"]
                np.testing.assert_allclose(
                    result, feeds(n, t)["x"].sum(-1) + feeds(n, t)["bias"], atol=1e-4
                )
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=work, args=(session.clone(),)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
