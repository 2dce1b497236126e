"""Files with the values of a state: what is written, and that other files are refused."""

import io
import json
import random
import zipfile
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray
from trivium.runtime import RunError
from trivium.runtime.file.state_file import read_state, write_state
from trivium.runtime.slots import Slot

SLOTS = [
    Slot("h", 3, (2, 3), np.dtype(np.float32)),
    Slot("a name/with \0, \n and é", 4, (), np.dtype(np.int64)),
    Slot("file", 5, (2,), np.dtype(ml_dtypes.bfloat16)),
    Slot("allow_pickle", 6, (0, 2), np.dtype(np.complex64)),
]
VALUES: dict[str, NDArray[Any]] = {
    SLOTS[0].name: np.arange(6, dtype=np.float32).reshape(2, 3),
    SLOTS[1].name: np.array(-7),
    SLOTS[2].name: np.array([1.5, -2], ml_dtypes.bfloat16),
    SLOTS[3].name: np.zeros((0, 2), np.complex64),
}


def written(slots: list[Slot] = SLOTS, values: dict[str, NDArray[Any]] = VALUES) -> bytes:
    file = io.BytesIO()
    write_state(file, slots, values)
    return file.getvalue()


def refusal(data: bytes, slots: list[Slot] = SLOTS) -> str:
    with pytest.raises(RunError) as caught:
        read_state(io.BytesIO(data), slots)
    text = str(caught.value)
    assert "\n" not in text
    assert text.startswith("the file: ")
    return text.removeprefix("the file: ")


def test_values_of_any_name_and_type_come_back():
    values = read_state(io.BytesIO(written()), SLOTS)
    assert list(values) == list(VALUES)
    for name, value in VALUES.items():
        assert (values[name].shape, values[name].dtype) == (value.shape, value.dtype)
        assert values[name].tobytes() == value.tobytes()
        assert values[name].flags.writeable


def test_equal_values_make_equal_bytes():
    assert written() == written()


def test_numpy_reads_the_file():
    with np.load(io.BytesIO(written()), allow_pickle=False) as file:
        ports = json.loads(file["ports"].tobytes())
        np.testing.assert_array_equal(file["0"], VALUES["h"])
        np.testing.assert_array_equal(file["2"].view(ml_dtypes.bfloat16), VALUES["file"])
    assert ports[0] == {"name": "h", "dtype": "float32", "shape": [2, 3]}
    assert ports[2]["dtype"] == "bfloat16"


def test_a_file_is_replaced_as_a_whole(tmp_path: Path):
    path = tmp_path / "state.npz"
    path.write_bytes(b"old")
    write_state(path, SLOTS, VALUES)
    assert path.read_bytes() == written()
    assert [each.name for each in tmp_path.iterdir()] == ["state.npz"]
    assert read_state(str(path), SLOTS)["h"].tolist() == [[0, 1, 2], [3, 4, 5]]


def test_paths_that_do_not_work_are_named(tmp_path: Path):
    missing = tmp_path / "none" / "state.npz"
    with pytest.raises(RunError, match=f"{missing}: cannot be written: No such file or directory"):
        write_state(missing, SLOTS, VALUES)
    with pytest.raises(RunError, match=f"{missing}: cannot be read: No such file or directory"):
        read_state(missing, SLOTS)
    for path, what in ((None, "of type NoneType"), ("", "empty")):
        for use in (lambda p: write_state(p, SLOTS, VALUES), lambda p: read_state(p, SLOTS)):
            with pytest.raises(RunError, match=f"path is {what}, must be the path of a state"):
                use(path)


def test_other_files_are_refused(tmp_path: Path):
    assert refusal(b"") == "is not the state of a session: File is not a zip file"
    assert refusal(b"PK\3\4 no zip").startswith("is not the state of a session: ")
    file = io.BytesIO()
    np.savez(file, h=np.zeros(3))
    assert refusal(file.getvalue()).startswith("is not the state of a session: ")
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(written())) as old, zipfile.ZipFile(file, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name), zipfile.ZIP_DEFLATED)
    assert refusal(file.getvalue()) == ("is not the state of a session: 'ports.npy' is compressed")


def test_other_ports_are_refused_with_both_sides():
    slots = SLOTS[:1]
    data = written(slots, VALUES)
    other = [Slot("h", 3, (2, 4), np.dtype(np.float32))]
    assert refusal(data, other) == "has 'h' float32[2, 3], must have 'h' float32[2, 4]"
    other = [Slot("h", 3, (2, 3), np.dtype(np.int32))]
    assert refusal(data, other) == "has 'h' float32[2, 3], must have 'h' int32[2, 3]"
    assert refusal(data, [*slots, *other]).endswith("must have 'h' float32[2, 3], 'h' int32[2, 3]")
    assert refusal(written([], {}), slots) == "has nothing, must have 'h' float32[2, 3]"


def forged(entries: dict[str, bytes], data: bytes | None = None) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data or written())) as old, zipfile.ZipFile(file, "w") as new:
        for name in old.namelist():
            new.writestr(name, entries.get(name, old.read(name)))
    return file.getvalue()


def npy(array: NDArray[Any], **named: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array, **named)
    return file.getvalue()


def test_values_that_are_not_as_listed_are_refused():
    head = "is not the state of a session: "
    assert refusal(forged({"0.npy": npy(np.zeros(6, np.float32))})) == f"{head}'h' is float32[6]"
    columns = np.zeros((2, 3), np.float32, order="F")
    assert refusal(forged({"0.npy": npy(columns)})) == f"{head}an array in it is in Fortran's order"
    objects = npy(np.full((2, 3), None), allow_pickle=True)
    assert refusal(forged({"0.npy": objects})) == f"{head}'h' is object[2, 3]"
    right = npy(VALUES["h"])
    assert refusal(forged({"0.npy": right[:-1]})) == f"{head}'h' has 23 bytes, must have 24"
    assert refusal(forged({"0.npy": right + b"1"})) == f"{head}'h' has 25 bytes, must have 24"
    huge = npy(np.broadcast_to(np.uint8(1), 1 << 25))
    assert refusal(forged({"ports.npy": huge})) == f"{head}its list of ports has 33554432 bytes"
    for text in (
        b"{}",
        b"[1]",
        b'[{"name": 1}]',
        b'[{"name": "h", "dtype": "float32", "shape": [-2, 3]}]',
        b"\xff",
        b"[" * 100000,
    ):
        data = npy(np.frombuffer(text, np.uint8))
        assert refusal(forged({"ports.npy": data})).startswith(head)


@pytest.mark.parametrize("seed", range(4))
def test_damaged_files_are_refused_in_one_line(seed: int):
    """What is read has the right form, or it is refused; the checksums find changed values."""
    chance, data = random.Random(seed), written()
    messages: list[str] = []
    for _ in range(500):
        damaged = bytearray(data)
        for _ in range(chance.randint(1, 4)):
            damaged[chance.randrange(len(data))] = chance.randrange(256)
        if chance.random() < 0.2:
            del damaged[chance.randrange(len(data)) :]
        try:
            values = read_state(io.BytesIO(damaged), SLOTS)
        except RunError as error:
            messages.append(str(error))
            continue
        for name, value in VALUES.items():
            assert values[name].tobytes() == value.tobytes()
    assert messages
    assert not any("\n" in message for message in messages)


def test_sizes_that_change_are_those_of_the_value():
    slots = [Slot("past", 3, (2, "T", 3), np.dtype(np.float32))]  # pyright: ignore
    values: dict[str, NDArray[Any]] = {"past": np.arange(24, dtype=np.float32).reshape(2, 4, 3)}
    data = written(slots, values)
    np.testing.assert_array_equal(read_state(io.BytesIO(data), slots)["past"], values["past"])
    huge = json.dumps([{"name": "past", "dtype": "float32", "shape": [2, 2**60, 3]}]).encode()
    entries = {"ports.npy": npy(np.frombuffer(huge, np.uint8))}
    message = "is not the state of a session: 'past' is float32[2, 4, 3]"
    assert refusal(forged(entries, data), slots) == message
    entries["0.npy"] = npy(values["past"]).replace(
        b"(2, 4, 3), }" + b" " * 18, b"(2, 1152921504606846976, 3), }"
    )
    assert refusal(forged(entries, data), slots).startswith("is not the state of a session: ")
    for shape in ((2, "T", 4), (2, 4, "T", 3), (2, 5, 3)):
        other = [Slot("past", 3, shape, np.dtype(np.float32))]  # pyright: ignore
        spelled = ", ".join(map(str, shape))
        message = f"has 'past' float32[2, 4, 3], must have 'past' float32[{spelled}]"
        assert refusal(data, other) == message
