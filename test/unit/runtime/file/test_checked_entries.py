"""Entries of mapped files: each is compared with its checksum when it is first used."""

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import onnx.numpy_helper
import onnx.parser
import pytest
import trivium
from trivium.runtime import loader
from trivium.runtime.errors import PackageError
from trivium.runtime.package import Package
from trivium.tools.main import main

NET = onnx.parser.parse_model("""
    <ir_version: 10, opset_import: ["" : 21]>
    net (float[N, 64] x) => (float[N, 64] y) { y = MatMul (x, w) }
""")
NET.graph.initializer.append(onnx.numpy_helper.from_array(np.eye(64, dtype=np.float32), "w"))
X = np.ones((1, 64), np.float32)

Summed = list[int]


@pytest.fixture(params=[(), ({"N": 1},)], ids=["one program", "exact sizes"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    trivium.build(NET, exact=request.param).save(tmp_path / "net.trv")
    return tmp_path / "net.trv"


def _damage(path: Path, name: str) -> None:
    """Flip a bit in the middle of an entry, in a new file of the same name."""
    view = Package.open(path, mmap=False).entries[name]
    data = bytearray(path.read_bytes())
    data[data.index(bytes(view)) + len(view) // 2] ^= 4
    path.unlink()
    path.write_bytes(data)


def _corrupt(path: Path, name: str) -> str:
    return f"^{path}: is corrupt: the checksum of '{name}' differs$"


def test_opening_reads_no_entry(path: Path, summed: Summed) -> None:
    opened = Package.open(path)
    assert summed == []
    assert not opened.has_checked_weights
    assert opened.unchecked_weights.obj is not None
    for name, view in opened.entries.items():
        assert summed.pop() == len(view), name
    assert [*opened.entries.values()]
    assert summed == []


def test_loading_reads_code_and_no_weights(path: Path, summed: Summed) -> None:
    session = trivium.load(path)
    weights = 64 * 64 * 4
    assert summed
    assert weights not in summed
    assert np.array_equal(session.run({"x": X})["y"], X)
    assert summed.count(weights) == 1
    session.run({"x": X})
    twin, other = session.clone(), trivium.load(path)
    assert np.array_equal(twin(X), other(X))
    assert summed.count(weights) == 1


def _bound(session: trivium.Session) -> None:
    run = session.address_run((X.shape,))
    assert run is None or run.run([])  # no package with exact sizes has one
    session.run({"x": X})


USES: dict[str, Callable[[trivium.Session], object]] = {
    "run": lambda session: session.run({"x": X}),
    "call": lambda session: session(X),
    "given": lambda session: session.run({"x": X}, outputs={"y": np.empty((1, 64), np.float32)}),
    "clone": lambda session: session.clone().run({"x": X}),
    "addresses": _bound,
    "profile": lambda session: session.profile({"x": X}),
    "save": lambda session: session.save(Path("never.trv")),
}


@pytest.mark.parametrize("use", USES)
def test_a_damaged_weight_is_found_by_the_first_use_and_each_later_one(
    path: Path, use: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(path.parent)
    _damage(path, "weights.bin")
    session = trivium.load(path)
    for _ in range(2):
        with pytest.raises(PackageError, match=_corrupt(path, "weights.bin")):
            USES[use](session)
    assert not Path("never.trv").exists()
    session.close()


@pytest.mark.parametrize("name", ["cpu/threads.o", "cpu/native"])
def test_damaged_code_is_found_when_it_is_loaded(path: Path, name: str) -> None:
    entry = next(each for each in Package.open(path).entries if each.startswith(name))
    _damage(path, entry)
    with pytest.raises(PackageError, match="is corrupt: the checksum of 'cpu/"):
        trivium.load(path)


def test_all_is_checked_at_once_where_one_asks_for_it(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["load", str(path), "--check"]) == 0
    _damage(path, "weights.bin")
    for options in ({"check": True}, {"mmap": False}):
        with pytest.raises(PackageError, match=_corrupt(path, "weights.bin")):
            trivium.load(path, **options)
    with pytest.raises(PackageError, match=r"^is corrupt: the checksum of 'weights.bin' differs$"):
        trivium.load(path.read_bytes())
    assert main(["load", str(path)]) == 0
    capsys.readouterr()
    assert main(["load", str(path), "--check"]) == 1
    assert "the checksum of 'weights.bin' differs" in capsys.readouterr().err


def test_what_load_steps_read_is_checked_before(tmp_path: Path) -> None:
    model = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        net (float[40, 256] x) => (float[40, 64] y)
        { w = DequantizeLinear (q, s) y = MatMul (x, w) }
    """)
    codes = np.random.default_rng(0).integers(-128, 128, (256, 64), np.int8)
    for name, array in (("q", codes), ("s", np.float32(0.25))):
        model.graph.initializer.append(onnx.numpy_helper.from_array(np.asarray(array), name))
    built = trivium.build(model)
    assert built.manifest.load_steps
    built.save(tmp_path / "net.trv")
    _damage(tmp_path / "net.trv", "weights.bin")
    with pytest.raises(PackageError, match=r"the checksum of 'weights.bin' differs"):
        trivium.load(tmp_path / "net.trv")


def test_a_file_changed_in_place_before_the_first_run_is_refused(path: Path) -> None:
    session = trivium.load(path)
    data = bytearray(path.read_bytes())
    data[data.index(bytes(Package.open(path, mmap=False).weights)) + 2] ^= 4
    with open(path, "r+b") as file:
        file.write(data)
    with pytest.raises(PackageError, match="was changed in place after it was opened"):
        session(X)


def test_threads_that_come_first_together_check_once(path: Path, summed: Summed) -> None:
    sessions = [trivium.load(path, threads=1) for _ in range(8)]
    start = threading.Barrier(len(sessions))
    results: list[bool] = []

    def run(session: trivium.Session) -> None:
        start.wait()
        results.append(np.array_equal(session(X), X))

    threads = [threading.Thread(target=run, args=(session,)) for session in sessions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 8
    assert summed.count(64 * 64 * 4) == 1


def test_entries_behave_as_a_mapping(path: Path) -> None:
    opened = Package.open(path)
    assert opened == replace(opened, entries=dict(opened.entries))
    assert "weights.bin" in opened.entries
    assert "nothing" not in opened.entries
    assert opened.entries.get("nothing") is None
    assert len(opened.entries) == len(opened.manifest.entries)
    assert loader.Loader(opened.manifest, opened.entries, {}).entries is opened.entries
    for program in opened.exact:
        assert not program.has_checked_weights or opened.has_checked_weights
        assert program.entries == {**program.entries}
