import threading
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from trivium.runtime import Package, PackageError, RunError, Session, load, memory
from trivium.runtime.contents import FIRST_PORT, Memory, Port
from trivium.runtime.cpu.code import CpuRequirements
from trivium.runtime.cpu.part import CpuPart
from trivium.runtime.cpu.step import CpuStep
from trivium.runtime.file.checked_entries import CheckedEntries
from trivium.runtime.host.step import HostStep
from trivium.runtime.slots import Slot

ONES = np.ones(16, np.float32)
RESULT = np.arange(1, 17, dtype=np.float32)


@pytest.fixture
def session(scale: Package) -> Session:
    return Session(scale)


def refusal(session: Session, *arguments: Any) -> str:
    with pytest.raises(RunError) as caught:
        session.run(*arguments)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_file_runs(scale_file: Path):
    session = load(scale_file)
    assert [port.name for port in session.inputs] == ["x"]
    assert [port.name for port in session.outputs] == ["y"]
    np.testing.assert_array_equal(session(ONES), RESULT)
    np.testing.assert_array_equal(session.run({"x": 2 * ONES})["y"], 2 * RESULT - 1)


def test_results_of_earlier_runs_stay(session: Session):
    first = session(ONES)
    session(0 * ONES)
    np.testing.assert_array_equal(first, RESULT)


def test_arrays_go_in_and_out_without_a_copy(scale: Package):
    seen: list[int] = []

    def look(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        seen.extend([x.ctypes.data, y.ctypes.data])
        return y

    step = HostStep(op="toy.look", operands=(0, 1), results=(1,))
    package = replace(scale, manifest=replace(scale.manifest, steps=(*scale.manifest.steps, step)))
    session = Session(package, {"toy": {"toy.look": lambda: SimpleNamespace(reference=look)}})
    x, y = ONES.copy(), np.zeros(16, np.float32)
    results = session.run({"x": x}, {"y": y})
    assert results["y"] is y
    assert seen == [x.ctypes.data, y.ctypes.data]
    np.testing.assert_array_equal(y, RESULT)


def test_inputs_in_odd_layouts_are_copied(session: Session):
    strided = np.ones(32, np.float32)[::2]
    unaligned = np.frombuffer(b"\0" + ONES.tobytes(), np.uint8)[1:].view(np.float32)
    assert not unaligned.flags.aligned
    for x in (strided, unaligned, ONES[::-1], np.broadcast_to(np.float32(1), 16)):
        np.testing.assert_array_equal(session(x), RESULT)


def test_an_array_may_be_given_by_dlpack_alone(session: Session):
    class Given:
        def __dlpack_device__(self) -> tuple[int, int]:
            return ONES.__dlpack_device__()

        def __dlpack__(self, **named: Any) -> Any:
            return ONES.__dlpack__(**named)

    np.testing.assert_array_equal(session(Given()), RESULT)


def test_python_numbers_are_converted(session: Session):
    for x in ([1.0] * 16, [1] * 16, (1,) * 16, [True] * 16):
        np.testing.assert_array_equal(session(x), RESULT)


def test_wrong_names_are_listed_with_the_right_ones(session: Session):
    assert refusal(session, {"z": ONES}) == (
        "no input is named 'z' and input 'x' is missing; the inputs are 'x'"
    )
    assert refusal(session, {}) == "input 'x' is missing; the inputs are 'x'"
    assert (
        refusal(session, ONES)
        == "feeds is of type ndarray, must be a dictionary of arrays by name: 'x'"
    )
    message = "no input is named 'q'; the inputs are 'x'"
    assert refusal(session, {"x": ONES, "q": ONES}) == message
    assert refusal(session, {"x": ONES}, {"t": ONES}) == "no output is named 't', there are 'y'"


def test_wrong_arrays_are_refused_with_both_sides(session: Session):
    message = "input 'x' has shape (4, 4), must be (16,)"
    assert refusal(session, {"x": ONES.reshape(4, 4)}) == message
    message = "input 'x' is float64, must be float32: convert it first"
    assert refusal(session, {"x": np.ones(16)}) == message
    assert refusal(session, {"x": ONES.astype(">f4")}).startswith("input 'x' is >f4, must be")
    message = (
        "input 'x' is of type NoneType, must convert to a numpy array: it holds Python objects"
    )
    assert refusal(session, {"x": None}) == message
    assert refusal(session, {"x": {}}).startswith("input 'x' is of type dict, must convert")
    assert refusal(session, {"x": ["a"] * 16}).startswith("input 'x' cannot be converted")
    assert refusal(session, {"x": [[1], [2, 3]]}).startswith("input 'x' cannot be converted")
    assert "has values that float32 does not hold" in refusal(session, {"x": [1e300] * 16})


@pytest.mark.parametrize("given", [None, [ONES], "x", 3])
def test_arrays_are_given_by_name(session: Session, given: Any):
    kind = type(given).__name__
    message = f"feeds is of type {kind}, must be a dictionary of arrays by name: 'x'"
    assert refusal(session, given) == message
    if given is not None:
        message = f"outputs is of type {kind}, must be a dictionary of arrays by name: 'y'"
        assert refusal(session, {"x": ONES}, given) == message


def test_tensors_that_numpy_cannot_read_are_refused(session: Session):
    torch = pytest.importorskip("torch")
    assert refusal(session, {"x": torch.ones(16, requires_grad=True)}).startswith(
        "input 'x' is of type Tensor, must convert to a numpy array: Can't call numpy() on Tensor "
    )
    for tensor in (torch.ones(16, dtype=torch.bfloat16), torch.ones(16, device="meta")):
        message = "input 'x' is of type Tensor, must convert to a numpy array: "
        assert refusal(session, {"x": tensor}).startswith(message)
    np.testing.assert_array_equal(session(torch.ones(16)), RESULT)


def test_what_no_memory_holds_is_refused_without_trying(session: Session):
    message = "input 'x' has 1000000000000 rows, must have shape (16,)"
    assert refusal(session, {"x": range(10**12)}) == message
    assert "is of type range" in refusal(session, {"x": range(10**30)})
    huge = np.broadcast_to(np.float32(1), (10**6, 10**6))
    assert refusal(session, {"x": huge}).startswith("input 'x' has shape (1000000, 1000000), must")


def test_memory_that_is_missing_is_an_error_with_its_size():
    slot = Slot("x", FIRST_PORT, (1 << 48,), np.dtype(np.float32))
    with pytest.raises(RunError, match="output 'x' takes 1125899906842624 bytes, the system has"):
        slot.create()
    with pytest.raises(RunError, match="a copy of input 'x' takes 1125899906842624 bytes, the"):
        slot.take(np.broadcast_to(np.float32(1), slot.shape))


@pytest.mark.parametrize("path", [None, 3, object(), ""])
def test_a_package_is_opened_and_saved_by_its_path(scale: Package, path: Any):
    what = "empty" if path == "" else f"of type {type(path).__name__}"
    for call in (load, scale.save):
        with pytest.raises(RunError) as caught:
            call(path)
        assert str(caught.value) == f"path is {what}, must be the path of a package"


def test_a_call_needs_every_input(session: Session):
    with pytest.raises(RunError, match="got 2 inputs, must get 1: 'x'"):
        session(ONES, ONES)


@pytest.mark.parametrize(
    ("value", "dtype", "fits"),
    [
        (3, "int8", True),
        (300, "int8", False),
        (-1, "uint64", False),
        (2**64 - 1, "int64", False),
        (2**64 - 1, "uint64", True),
        (2**70, "int64", False),
        (1.5, "int64", False),
        (2.0, "int64", False),
        (True, "int32", True),
        (2, "bool", False),
        (1, "bool", True),
        (0.1, "float16", True),
        (1e5, "float16", False),
        (float("inf"), "float16", True),
        (float("nan"), "float32", True),
        (2**70, "float32", False),
        (1j, "float32", False),
        (1j, "complex64", True),
        ("1", "float32", False),
        (0.1, "bfloat16", True),
        (1e39, "bfloat16", False),
        (7, "int4", True),
        (8, "int4", False),
    ],
)
def test_a_number_is_converted_unless_that_changes_it(value: Any, dtype: str, fits: bool):
    slot = Slot.of(Port("x", (1,), dtype, 0), 2)
    if fits:
        assert slot.take([value]).dtype == slot.dtype
    else:
        with pytest.raises(RunError, match="input 'x'"):
            slot.take([value])


def test_numpy_scalars_have_a_type_of_their_own():
    slot = Slot.of(Port("x", (), "float32", 0), 2)
    assert slot.take(np.float32(1)) == 1
    with pytest.raises(RunError, match="is float64, must be float32"):
        slot.take(np.float64(1))


def test_bfloat16_is_not_taken_for_float32(session: Session):
    message = "input 'x' is bfloat16, must be float32: convert it first"
    assert refusal(session, {"x": np.ones(16, ml_dtypes.bfloat16)}) == message


def test_outputs_that_cannot_be_written_in_place_are_refused(session: Session):
    feeds = {"x": ONES}
    frozen = np.zeros(16, np.float32)
    frozen.flags.writeable = False
    for y in (frozen, np.zeros(32, np.float32)[::2]):
        message = "output 'y' must be contiguous, aligned and writable"
        assert refusal(session, feeds, {"y": y}) == message
    assert refusal(session, feeds, {"y": np.zeros(16)}).startswith("output 'y' is float64, must")
    message = "output 'y' has shape (15,), must be (16,)"
    assert refusal(session, feeds, {"y": np.zeros(15, np.float32)}) == message
    message = "output 'y' is of type list, must be a numpy array"
    assert refusal(session, feeds, {"y": [0.0] * 16}) == message


def test_an_output_must_not_overlap_an_input(session: Session):
    block = np.zeros(24, np.float32)
    message = "output 'y' shares memory with an input or an output"
    assert refusal(session, {"x": block[:16]}, {"y": block[8:]}) == message


@pytest.fixture
def slow(scale: Package) -> tuple[Session, threading.Event, threading.Event]:
    """Return a session whose runs say that they began, then wait to be let go."""
    began, go = threading.Event(), threading.Event()

    def wait(y: np.ndarray) -> np.ndarray:
        began.set()
        assert go.wait(10)
        return y

    step = HostStep(op="toy.wait", operands=(1,), results=(1,))
    package = replace(scale, manifest=replace(scale.manifest, steps=(*scale.manifest.steps, step)))
    session = Session(package, {"toy": {"toy.wait": lambda: SimpleNamespace(reference=wait)}})
    return session, began, go


def test_two_runs_at_once_are_refused(
    slow: tuple[Session, threading.Event, threading.Event],
):
    session, began, go = slow
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(session(ONES)))
    thread.start()
    assert began.wait(10)
    assert "is running in another thread: give each thread a clone()" in refusal(
        session, {"x": ONES}
    )
    go.set()
    thread.join()
    np.testing.assert_array_equal(results[0], RESULT)
    np.testing.assert_array_equal(session(ONES), RESULT)


def test_a_session_is_free_again_after_an_error(session: Session):
    refusal(session, {})
    np.testing.assert_array_equal(session(ONES), RESULT)


def test_clones_run_side_by_side(session: Session):
    wrong: list[int] = []

    def work(twin: Session, k: int) -> None:
        for _ in range(300):
            if not np.array_equal(twin(k * ONES), k * (RESULT - 1) + 1):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(session.clone(), k)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def pointers(session: Session) -> list[int | None]:
    return list(session._bases.pointers)[:2]


def test_clones_share_weights_and_code_but_not_the_arena(scale_file: Path):
    session = load(scale_file)
    twin = session.clone()
    (arena, weights), (other_arena, other_weights) = pointers(session), pointers(twin)
    assert weights == other_weights
    assert arena != other_arena
    assert twin._program is session._program


def test_a_clone_outlives_its_origin(scale_file: Path):
    session = load(scale_file)
    twin = session.clone()
    del session
    np.testing.assert_array_equal(twin(ONES), RESULT)


def test_weights_of_a_file_are_used_in_place(scale_file: Path):
    package = Package.open(scale_file)
    mapped = np.frombuffer(package.weights, np.uint8).ctypes.data
    assert pointers(Session(package))[1] == mapped


def test_a_run_keeps_no_arrays(session: Session):
    session(ONES)
    assert all(array.size == 0 for array in session._bases.arrays[FIRST_PORT:])


@pytest.mark.parametrize("size", [1, 100, 4096, (2 << 20) - 1, 2 << 20, (4 << 20) + 12345])
def test_the_arena_is_aligned_and_zero(size: int):
    arena = memory.allocate(size)
    assert arena.size == size
    assert arena.ctypes.data % (4096 if size < 2 << 20 else 2 << 20) == 0
    assert not arena.any()
    arena[:] = 255


def test_an_arena_larger_than_memory_is_one_line(scale: Package):
    size = (1 << 47) - 4096
    package = replace(scale, manifest=replace(scale.manifest, memory=Memory(size, 0, 64)))
    with pytest.raises(RunError, match=f"needs {size} bytes for its arena, the system has less"):
        Session(package)


def test_a_missing_segment_is_named(scale: Package):
    steps = (CpuStep(symbol="segment_1"),)
    with pytest.raises(PackageError, match="no object defines 'segment_1'"):
        Session(replace(scale, manifest=replace(scale.manifest, steps=steps)))


def test_a_package_for_another_cpu_is_refused(scale: Package):
    parts = (CpuPart(machines=(CpuRequirements(features=("time_travel",)),)),)
    with pytest.raises(RunError, match="needs time_travel, which this CPU lacks"):
        Session(replace(scale, manifest=replace(scale.manifest, parts=parts)))


def test_a_session_saves_its_package(session: Session, scale_file: Path, tmp_path: Path):
    session.save(tmp_path / "again.trv")
    assert (tmp_path / "again.trv").read_bytes() == scale_file.read_bytes()


def test_weights_off_a_cache_line_are_moved_to_one(scale: Package):
    off = bytearray(64 + 64 + 1)
    start = -np.frombuffer(off, np.uint8).ctypes.data % 64 + 1
    off[start : start + 64] = scale.weights
    entries = {**scale.entries, "weights.bin": memoryview(off)[start:][:64]}
    package = replace(scale, entries=CheckedEntries(entries))
    session = Session(package)
    assert pointers(session)[1] % 64 == 0
    np.testing.assert_array_equal(session(ONES), RESULT)
