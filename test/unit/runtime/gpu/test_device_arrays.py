"""Arrays that callers have on a GPU: by DLPack and by __cuda_array_interface__, in and out."""

import gc
from typing import Any

import numpy as np
import pytest
from trivium.runtime.errors import RunError
from trivium.runtime.gpu import dlpack
from trivium.runtime.gpu.array import DeviceArray
from trivium.runtime.gpu.handles import Stream
from trivium.runtime.host.step import HostStep
from trivium.runtime.package import Package
from trivium.runtime.session import Session
from trivium.test.unit.runtime.gpu.conftest import (
    BUFFERS,
    COMPUTE,
    DOWNLOAD,
    KERNELS,
    SHAPE,
    SIZE,
    UPLOAD,
    WEIGHTS,
    X,
    package,
)
from trivium.test.unit.runtime.gpu.stand_in import StandIn

x = np.linspace(-20, 20, 32, dtype=np.float32).reshape(SHAPE)


def expected(x: np.ndarray) -> np.ndarray:
    return np.maximum(x + WEIGHTS, 0)


@pytest.fixture
def producer(stand_in: StandIn) -> Any:
    """Return a function that puts an array on the GPU, as another library would."""

    def put(values: np.ndarray, device: int = 0) -> DeviceArray:
        stream = Stream(stand_in.device(device))
        array = DeviceArray(stream, values.shape, values.dtype.name, "a test")
        array.write(values)
        return array

    return put


class OnlyInterface:
    """Show an array by __cuda_array_interface__ alone, changed as a test likes it."""

    def __init__(self, array: DeviceArray, **change: Any) -> None:
        self.array = array
        self.change = change

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return self.array.__cuda_array_interface__ | self.change


class OldDlpack:
    """Show an array by DLPack, as libraries did before version 1."""

    def __init__(self, array: DeviceArray) -> None:
        self.array = array
        self.streams: list[int | None] = []

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()

    def __dlpack__(self, stream: int | None = None) -> object:
        self.streams.append(stream)
        return self.array.__dlpack__(stream=stream)


def refusal(session: Session, *arguments: Any) -> str:
    with pytest.raises(RunError) as caught:
        session.run(*arguments)
    text = str(caught.value)
    caught.value.__traceback__ = None
    assert "\n" not in text
    return text


@pytest.mark.parametrize("wrap", [lambda array: array, OnlyInterface, OldDlpack])
def test_arrays_go_in_and_out_on_the_device(
    session: Session, stand_in: StandIn, producer: Any, wrap: Any
):
    given, result = producer(x), producer(np.zeros(SHAPE, np.float32))
    before = len(stand_in.records("cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync"))
    wanted = wrap(result)
    for _ in range(2):
        assert session.run({"x": wrap(given)}, {"y": wanted})["y"] is wanted
    assert len(stand_in.records("cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync")) == before
    np.testing.assert_array_equal(result.numpy(), expected(x))
    np.testing.assert_array_equal(given.numpy(), x)


def test_the_device_may_be_on_one_side_only(session: Session, producer: Any):
    np.testing.assert_array_equal(session(producer(x)), expected(x))
    result = producer(np.zeros(SHAPE, np.float32))
    session.run({"x": x}, {"y": result})
    np.testing.assert_array_equal(result.numpy(), expected(x))


def test_results_stay_on_the_device(session: Session, stand_in: StandIn, producer: Any):
    before = len(stand_in.records("cuMemcpyDtoHAsync"))
    first = session.run_on_device({"x": producer(x)})["y"]
    second = session.run_on_device({"x": first})["y"]
    assert len(stand_in.records("cuMemcpyDtoHAsync")) == before
    assert (first.shape, first.dtype, first.nbytes) == (SHAPE, np.float32, SIZE)
    np.testing.assert_array_equal(first.numpy(), expected(x))
    np.testing.assert_array_equal(second.numpy(), expected(expected(x)))
    assert repr(first) == "DeviceArray(float32[4, 8] on GPU 0)"


def test_results_outlive_the_session(stand_in: StandIn, layer: Package):
    with Session(layer, device=stand_in.device()) as session:
        result = session.run_on_device({"x": x})["y"]
    np.testing.assert_array_equal(result.numpy(), expected(x))
    assert stand_in.live
    del result, session
    gc.collect()
    assert stand_in.live == 0


def test_the_stream_of_a_producer_is_waited_for(session: Session, stand_in: StandIn, producer: Any):
    """The session's stream waits for an event in the stream that the interface names."""
    array = producer(x)
    for stream, waits in ((1, -1), (2, -2), (array.stream.value.value, None), (None, 0)):
        before = len(stand_in.records())
        session.run({"x": OnlyInterface(array, stream=stream)})
        calls = stand_in.records()[before:]
        recorded = [r["stream"] for r in calls if r.get("call") == "cuEventRecord"]
        awaited = [r["stream"] for r in calls if r.get("call") == "cuStreamWaitEvent"]
        assert len(recorded) == len(awaited) == (waits != 0)
        assert waits in (0, None) or recorded == [waits]
        order = [r.get("call") for r in calls]
        if recorded:
            assert order.index("cuStreamWaitEvent") < order.index("cuMemcpyDtoDAsync")


def test_an_old_interface_says_no_stream_so_the_default_one_is_waited_for(
    session: Session, stand_in: StandIn, producer: Any
):
    class Old(OnlyInterface):
        @property
        def __cuda_array_interface__(self) -> dict[str, Any]:
            table = super().__cuda_array_interface__
            del table["stream"]
            return table | {"version": 2}

    session.run({"x": Old(producer(x))})
    assert [r["stream"] for r in stand_in.records("cuEventRecord")] == [-1]


def test_a_producer_is_told_the_stream_of_the_session(session: Session, producer: Any):
    shown = OldDlpack(producer(x))
    session.run({"x": shown})
    assert session._workspace is not None
    assert shown.streams == [session._workspace.stream.value.value]


def test_what_only_the_capsule_keeps_is_kept_until_the_copies_are_done(
    session: Session, stand_in: StandIn, producer: Any
):
    class Copying(OldDlpack):
        def __dlpack__(self, stream: int | None = None) -> object:
            copy = producer(self.array.numpy())
            return dlpack.give(copy, copy.address, copy.shape, "float32", (dlpack.CUDA, 0))

    shown = Copying(producer(x))
    for _ in range(2):
        np.testing.assert_array_equal(session(shown), expected(x))
        last = stand_in.records("cuMemFree", "cuStreamSynchronize")[-1]
        assert last["call"] == "cuMemFree"


def test_wrong_arrays_are_refused(session: Session, stand_in: StandIn, producer: Any):
    array = producer(x)
    message = "input 'x' has shape (32,), must be (4, 8)"
    assert refusal(session, {"x": OnlyInterface(array, shape=(32,))}) == message
    assert refusal(session, {"x": producer(x.astype(np.float64))}) == (
        "input 'x' is float64, must be float32: convert it first"
    )
    wide = OnlyInterface(producer(np.zeros(64, np.float32)), shape=SHAPE, strides=(64, 4))
    message = "input 'x' has gaps or another order: make it contiguous"
    assert refusal(session, {"x": wide}) == message
    plain = OnlyInterface(array, strides=(32, 4))
    np.testing.assert_array_equal(session(plain), expected(x))
    on_host = OnlyInterface(array, data=(x.ctypes.data, False))
    message = "input 'x' is not in the memory of a GPU, though it says so"
    assert refusal(session, {"x": on_host}) == message
    read_only = OnlyInterface(array, data=(array.address, True))
    np.testing.assert_array_equal(session(read_only), expected(x))
    assert refusal(session, {"x": x}, {"y": read_only}) == "output 'y' must be writable"
    assert refusal(session, {"x": array}, {"y": array}) == (
        "output 'y' shares memory with an input or an output"
    )
    for odd in ({"typestr": "<q9"}, {"version": None}, {"shape": None}, {"data": None}):
        message = refusal(session, {"x": OnlyInterface(array, **odd)})
        assert message.startswith("input 'x' cannot be taken from the GPU: ")


def test_a_tensor_that_does_not_want_to_be_taken_says_why(session: Session, producer: Any):
    class Stubborn(OldDlpack):
        def __dlpack__(self, **_: Any) -> object:
            raise BufferError("Can't export tensors that require gradient,\nuse tensor.detach()")

    assert refusal(session, {"x": Stubborn(producer(x))}) == (
        "input 'x' cannot be taken from the GPU: Can't export tensors that require gradient, use "
        "tensor.detach()"
    )


def test_an_array_on_another_device_is_refused(stand_in: StandIn, layer: Package, producer: Any):
    stand_in.configure("devices=2")
    array = producer(x, 1)
    with Session(layer, device=stand_in.device()) as session:
        message = "input 'x' is on GPU 1, the package runs on GPU 0: copy it"
        assert refusal(session, {"x": array}) == message


def test_a_package_for_the_host_takes_no_arrays_on_a_device(producer: Any):
    step = HostStep(op="toy.same", operands=(X,), results=(1,))
    kinds = type("Same", (), {"reference": staticmethod(lambda x: x)})
    made = package((step,), spaces=(), buffers=BUFFERS[:2])
    session = Session(made, {"toy": {"toy.same": kinds}})
    assert session.device is None
    advice = ", the package has nothing for one: copy it to the host, or compile the model again"
    assert refusal(session, {"x": producer(x)}).startswith(f"input 'x' is on a GPU{advice}")
    assert refusal(session, {"x": x}, {"y": producer(x)}).startswith(
        f"output 'y' is on a GPU{advice}"
    )
    for use in (lambda: session.run_on_device({"x": x}), session.replay):
        with pytest.raises(RunError, match="has nothing for a GPU: compile the model again"):
            use()


def test_the_host_gets_a_copy_of_what_it_works_on(stand_in: StandIn, producer: Any):
    """The host halves the input before, and doubles the output after, the GPU works."""
    steps = (
        HostStep(op="toy.look", operands=(X,), results=(1,)),
        UPLOAD,
        COMPUTE,
        DOWNLOAD,
        HostStep(op="toy.double", operands=(1,), results=(1,)),
    )
    made = package(steps)
    stand_in.execute(made, KERNELS)
    seen: list[np.ndarray] = []

    def look(x: np.ndarray) -> np.ndarray:
        seen.append(x.copy())
        return x

    ops = {
        "toy.look": type("Look", (), {"reference": staticmethod(look)}),
        "toy.double": type("Double", (), {"reference": staticmethod(lambda y: 2 * y)}),
    }
    with Session(made, {"toy": ops}, device=stand_in.device()) as session:
        results = session.run_on_device({"x": producer(x)})
        np.testing.assert_array_equal(results["y"].numpy(), 2 * expected(x))
        np.testing.assert_array_equal(seen[0], x)
        np.testing.assert_array_equal(session(x), 2 * expected(x))


# -- DLPack ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint16", "int64", "float16", "float64", "complex64"]
)
def test_what_numpy_gives_is_read(dtype: str):
    array = np.zeros((3, 4, 5), dtype)[:, ::2]
    taken = dlpack.take(array.__dlpack__())
    assert (taken.address, taken.shape, taken.dtype) == (array.ctypes.data, (3, 2, 5), dtype)
    assert taken.strides == tuple(step // array.itemsize for step in array.strides)
    assert taken.device == (dlpack.CPU, 0)
    assert taken.writable
    array.flags.writeable = False
    assert not dlpack.take(array.__dlpack__(max_version=(1, 0))).writable


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "int32", "float32"])
def test_what_torch_gives_and_takes_is_the_same(dtype: str):
    torch = pytest.importorskip("torch")
    tensor = torch.zeros(4, 6, dtype=getattr(torch, dtype))
    taken = dlpack.take(tensor.__dlpack__())
    assert (taken.address, taken.shape, taken.dtype) == (tensor.data_ptr(), (4, 6), dtype)
    capsule = dlpack.give(tensor, taken.address, taken.shape, dtype, (dlpack.CPU, 0))
    again = torch.utils.dlpack.from_dlpack(capsule)
    assert (again.data_ptr(), again.shape, again.dtype) == (tensor.data_ptr(), (4, 6), tensor.dtype)


def test_what_is_given_is_kept_until_it_is_dropped():
    class Owner:
        pass

    import weakref

    values = np.arange(6.0)
    for drop in ("capsule", "taken"):
        owner = Owner()
        seen = weakref.ref(owner)
        capsule: Any = dlpack.give(owner, values.ctypes.data, (6,), "float64", (dlpack.CPU, 0))
        del owner
        taken = dlpack.take(capsule) if drop == "taken" else None
        gc.collect()
        assert seen() is not None
        if taken is not None:
            assert taken.shape == (6,)
        del capsule
        if drop == "taken":
            assert seen() is not None
        del taken
        gc.collect()
        assert seen() is None


def test_what_is_no_capsule_is_refused():
    for odd in (None, object(), 3):
        with pytest.raises(RunError, match="is not a capsule of DLPack"):
            dlpack.take(odd)
    capsule = np.zeros(3).__dlpack__()
    dlpack.take(capsule)
    with pytest.raises(RunError, match="is not a capsule of DLPack"):
        dlpack.take(capsule)


def test_a_device_array_refuses_what_it_cannot_give(producer: Any):
    array = producer(x)
    for odd in ({"stream": 0}, {"copy": True}, {"dl_device": (1, 0)}):
        with pytest.raises(BufferError):
            array.__dlpack__(**odd)
    array.__dlpack__(stream=None, max_version=(1, 1), dl_device=(2, 0), copy=False)
    with pytest.raises(RunError, match=r"got float64\[4, 8\], must get float32\[4, 8\]"):
        array.write(x.astype(np.float64))


def test_the_consumer_of_a_device_array_waits_for_it(stand_in: StandIn, producer: Any):
    array = producer(x)
    for stream, waits in ((None, [-1]), (1, [-1]), (2, [-2]), (-1, [])):
        before = len(stand_in.records("cuStreamWaitEvent"))
        array.__dlpack__(stream=stream)
        assert [r["stream"] for r in stand_in.records("cuStreamWaitEvent")[before:]] == waits
