"""Measure kernels on a GPU whose times are known; throw out what computes something else."""

import numpy as np
import pytest
from trivium.runtime.errors import RunError
from trivium.runtime.gpu.trial import ROUNDS, difference
from trivium.runtime.gpu.tuning import Measured, describe_device, measure_kernels, tunable_code
from trivium.runtime.package import Package
from trivium.test.unit.runtime.gpu.candidates import BASE, run_in, with_candidates
from trivium.test.unit.runtime.gpu.conftest import package
from trivium.test.unit.runtime.gpu.stand_in import StandIn

SMALL, LARGE = "BM=32 warps=4 stages=2", "BM=128 warps=8 stages=3"
TIMES = {BASE: 20.0, SMALL: 12.5, LARGE: 80.0}


def measured(stand_in: StandIn, made: Package) -> tuple[list[Measured], list[str]]:
    lines: list[str] = []
    found: list[Measured] = []
    measure_kernels(made, stand_in.device(), lines.append, found.append)
    return found, lines


def test_times_are_those_of_the_kernels(stand_in: StandIn) -> None:
    made = with_candidates({"add": (SMALL, LARGE), "relu": (LARGE,)})
    run_in(stand_in, made, TIMES)
    (add, relu), lines = measured(stand_in, made)
    assert (add.kernel, relu.kernel) == ("add", "relu")
    assert add.times == pytest.approx(TIMES)
    assert relu.times == pytest.approx({BASE: 20.0, LARGE: 80.0})
    assert not add.refused
    assert lines == ["tune 1 of 2: add", "tune 2 of 2: relu"]


def test_settings_take_turns_in_graphs(stand_in: StandIn) -> None:
    made = with_candidates({"add": (SMALL,)})
    run_in(stand_in, made, TIMES)
    measured(stand_in, made)
    assert len(stand_in.records("cuGraphLaunch")) == 2 * ROUNDS
    # 2000 us of 20 us and of 12.5 us.
    assert stand_in.runs.count("add_kernel") == 2 * 2 + ROUNDS * (100 + 160)


def test_kernels_without_candidates_are_not_measured(stand_in: StandIn) -> None:
    made = with_candidates({"relu": (SMALL, BASE)})
    run_in(stand_in, made, TIMES)
    (relu,), _ = measured(stand_in, made)
    assert set(relu.times) == {BASE, SMALL}
    assert "add_kernel" not in stand_in.runs


def test_wrong_results_are_thrown_out(stand_in: StandIn) -> None:
    """Rounding of f32 is not an error, more than that is."""
    made = with_candidates({"relu": (SMALL, LARGE)})
    run_in(stand_in, made, TIMES, wrong={SMALL: 1e-2, LARGE: 1e-6})
    (relu,), _ = measured(stand_in, made)
    assert set(relu.times) == {BASE, LARGE}
    assert relu.refused == {SMALL: "buffer 1 differs by 1.0e-02, may differ by 1.0e-04"}


def test_what_cannot_be_launched_is_thrown_out(stand_in: StandIn) -> None:
    made = with_candidates({"relu": (SMALL,)}, shared_bytes=1 << 19)
    run_in(stand_in, made, TIMES)
    (relu,), _ = measured(stand_in, made)
    assert set(relu.times) == {BASE}
    assert "needs 524288 bytes of shared memory, the GPU" in relu.refused[SMALL]


def test_packages_without_candidates_say_how_to_get_them(stand_in: StandIn) -> None:
    with pytest.raises(RunError, match="no settings to choose from: compile the model with --cand"):
        tunable_code(package().manifest, stand_in.device())


def test_packages_for_other_gpus_are_refused(stand_in: StandIn) -> None:
    stand_in.configure("architecture=80")
    made = with_candidates({"relu": (SMALL,)})
    with pytest.raises(RunError, match=r"has code for sm_90, the GPU .* is sm_80"):
        tunable_code(made.manifest, stand_in.device())


def test_too_little_memory_says_for_what(stand_in: StandIn) -> None:
    made = with_candidates({"relu": (SMALL,)})
    stand_in.configure("memory=200")
    with pytest.raises(RunError, match="tuning, for the buffers of kernel 'relu', needs 128 bytes"):
        measured(stand_in, made)


def test_a_kernel_that_fails_is_an_error(stand_in: StandIn) -> None:
    made = with_candidates({"relu": (SMALL,)})
    run_in(stand_in, made, TIMES)
    stand_in.configure("fail=cuStreamSynchronize:3:1")
    with pytest.raises(RunError, match=f"failed with {SMALL}: cuStreamSynchronize gave CUDA"):
        measured(stand_in, made)


def test_files_say_which_gpu_was_measured(stand_in: StandIn) -> None:
    described = describe_device(stand_in.device())
    assert described == {"device": stand_in.device().name, "driver": "13.0"}


F32 = np.array([0.0, 100.0, -3.0], np.float32)


@pytest.mark.parametrize(
    ("found", "wanted", "fault"),
    [
        (F32, F32, ""),
        (F32 * np.float32(1 + 5e-5), F32, ""),
        (F32 * np.float32(1 + 1e-3), F32, "buffer 0 differs by 1.0e-03, may differ by 1.0e-04"),
        (F32 + np.float32(5e-3), F32, ""),
        (F32.astype("f2") * np.float16(1.001), F32.astype("f2"), ""),
        (F32.astype("f2") * np.float16(1.01), F32.astype("f2"), "buffer 0 differs by 1.0e-02"),
        (F32.astype("i4"), F32.astype("i4"), ""),
        (F32.astype("i4") + 1, F32.astype("i4"), "buffer 0 differs by inf, may differ by 0.0e+00"),
        (np.where(F32 == 0, np.nan, F32), F32, "buffer 0 differs by inf"),
        (np.where(F32 == 0, np.nan, F32), np.where(F32 == 0, np.nan, F32), ""),
        (np.where(F32 == 0, np.nan, F32), np.where(F32 == 100, np.nan, F32), "differs by inf"),
        (np.where(F32 == 0, np.inf, F32), np.where(F32 == 0, -np.inf, F32), "differs by inf"),
        (np.zeros(0, "f4"), np.zeros(0, "f4"), ""),
        (np.full(2, np.nan, "f4"), np.full(2, np.nan, "f4"), ""),
    ],
)
def test_results_are_compared_by_the_tolerance_of_their_type(
    found: np.ndarray, wanted: np.ndarray, fault: str
) -> None:
    if not fault:
        assert difference([found], [wanted.astype(found.dtype)]) == ""
    assert fault in difference([found], [wanted])
