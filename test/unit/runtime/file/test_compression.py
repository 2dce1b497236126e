"""Packages with compressed constants: smaller files, equal results, bounded frames."""

import gc
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import onnx.numpy_helper
import onnx.parser
import pytest
import trivium
from trivium.dialects.core.errors import CompileError
from trivium.runtime.contents import MemorySpace
from trivium.runtime.errors import PackageError, RunError
from trivium.runtime.file.compression import decompressed
from trivium.runtime.memory import address_of
from trivium.runtime.package import Package
from trivium.tools.main import main

zstandard = pytest.importorskip("zstandard")

NET = onnx.parser.parse_model("""
    <ir_version: 10, opset_import: ["" : 21]>
    net (float[N, 64] x) => (float[N, 64] y) { y = MatMul (x, w) }
""")
W = np.random.default_rng(0).integers(-4, 5, (64, 64)).astype(np.float32)
NET.graph.initializer.append(onnx.numpy_helper.from_array(W, "w"))
X = np.random.default_rng(1).standard_normal((3, 64), dtype=np.float32)
NAME = "weights.bin.zst"


@pytest.fixture(params=[(), ({"N": 3},)], ids=["one program", "exact sizes"])
def plain(request: pytest.FixtureRequest) -> Package:
    return trivium.build(NET, exact=request.param)


def _with_frame(package: Package, frame: bytes) -> Package:
    return Package.create(package.manifest, {**package.entries, NAME: frame})


def test_a_compressed_file_is_smaller_and_computes_the_same(plain: Package, tmp_path: Path) -> None:
    path, small = tmp_path / "net.trv", tmp_path / "small.trv"
    plain.save(path)
    plain.compressed().save(small)
    stored = {entry.name: entry.size for entry in Package.open(small).manifest.entries}
    assert "weights.bin" not in stored
    assert stored[NAME] < len(plain.weights) / 2
    assert small.stat().st_size < path.stat().st_size
    for options in ({}, {"mmap": False}, {"check": True}):
        session = trivium.load(small, **options)
        for rows in (3, 1):
            got = session.run({"x": X[:rows]})["y"]
            assert np.array_equal(got, trivium.load(path).run({"x": X[:rows]})["y"])
    assert bytes(Package.open(small).weights) == bytes(plain.weights)


def test_programs_for_exact_sizes_share_what_is_decompressed() -> None:
    package = trivium.build(NET, exact=[{"N": 3}, {"N": 1}]).compressed()
    places = {
        address_of(np.frombuffer(each.weights, np.uint8)) for each in (package, *package.exact)
    }
    assert len(places) == 1


def test_compile_compresses_when_it_is_told_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    onnx.save(NET, tmp_path / "net.onnx")
    out = tmp_path / "net.trv"
    assert main(["compile", str(tmp_path / "net.onnx"), "-o", str(out), "--compress"]) == 0
    assert NAME in Package.open(out).entries
    assert np.allclose(trivium.load(out)(X), X @ W, atol=1e-4)
    assert main(["compile", str(out), "-o", str(tmp_path / "again.trv")]) == 0
    again = Package.open(tmp_path / "again.trv")
    assert "weights.bin" in again.entries
    assert np.array_equal(trivium.load(tmp_path / "again.trv")(X), trivium.load(out)(X))
    capsys.readouterr()
    assert main(["info", str(out)]) == 0
    assert "weights" in capsys.readouterr().out
    session = trivium.compile(NET, compress=True)
    assert np.array_equal(session(X), trivium.load(out)(X))


def test_nothing_is_compressed_unless_one_asks_for_it(plain: Package) -> None:
    assert "weights.bin" in plain.entries
    assert NAME not in plain.entries


def test_a_signed_package_may_be_compressed_first(plain: Package, tmp_path: Path) -> None:
    from trivium.runtime.file.signature import new_key

    key = tmp_path / "a.key"
    new_key(key)
    plain.compressed().sign(key).save(tmp_path / "net.trv")
    session = trivium.load(tmp_path / "net.trv", key=f"{key}.pub")
    assert np.allclose(session(X), X @ W, atol=1e-4)


def test_a_frame_of_another_size_is_refused() -> None:
    package = trivium.build(NET).compressed()
    size = package.manifest.memory.weight_bytes
    frames = {
        "records 1073741824 bytes, must have": zstandard.compress(bytes(1 << 30)),
        "records 12 bytes": zstandard.compress(bytes(12)),
        "is no frame of zstandard": b"weights",
    }
    body = zstandard.ZstdCompressor(write_content_size=False).compress(bytes(size))
    frames["must have"] = body
    cut = zstandard.compress(W.tobytes())
    frames["bytes or more, must have"] = cut[: len(cut) // 2]
    for message, frame in frames.items():
        with pytest.raises(PackageError, match=rf"^is corrupt: 'weights.bin.zst' .*{message}"):
            trivium.Session(_with_frame(package, frame))


def test_a_frame_that_says_less_than_it_has_is_refused_without_making_it() -> None:
    size = 4096
    frame = bytearray(zstandard.compress(bytes(1 << 20)))
    # The size of the content is behind the mark and the descriptor of the frame.
    descriptor = frame[4]
    width = {0: 1, 1: 2, 2: 4, 3: 8}[descriptor >> 6]
    start = 5 + (not descriptor & 0x20)
    frame[start : start + width] = size.to_bytes(width, "little")
    with pytest.raises(PackageError, match=r"^is corrupt: 'w.zst' "):
        decompressed({"w.zst": memoryview(frame)}, "w", size)


def test_without_the_library_there_is_one_line(
    plain: Package, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "net.trv"
    plain.compressed().save(path)
    gc.collect()
    monkeypatch.setitem(sys.modules, "zstandard", None)
    monkeypatch.delitem(sys.modules, "trivium.runtime.file.zstandard_frames", raising=False)
    said = r"zstandard: pip install 'trivium\[compress\]'$"
    with pytest.raises(RunError, match=said):
        trivium.load(path)
    with pytest.raises(RunError, match=said):
        plain.compressed()


def test_compile_asks_for_the_library_before_any_work(monkeypatch: pytest.MonkeyPatch) -> None:
    from trivium.dialects.core import extras

    monkeypatch.setattr(extras, "is_installed", lambda module: module != "zstandard")
    with pytest.raises(CompileError, match=r"compressing constants needs zstandard, which is not"):
        trivium.compile("nothing.onnx", compress=True)


def test_weights_in_other_memory_are_compressed_too() -> None:
    package = trivium.build(NET)
    space = MemorySpace("gpu", 0, 0, 4096)
    manifest = replace(package.manifest, spaces=(space,))
    made = Package.create(
        manifest, {**package.entries, "gpu/weights.bin": bytes(4096)}
    ).compressed()
    assert {"weights.bin.zst", "gpu/weights.bin.zst"} < set(made.entries)
    assert bytes(decompressed(made.entries, "gpu/weights.bin", 4096)) == bytes(4096)
